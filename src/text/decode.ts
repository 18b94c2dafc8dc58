/** Encoded stretches of a text, replaced by what they decode to. */
import { base64Edits } from './base64.js'
import { entityEdits, escapeEdits, percentEdits } from './escapes.js'
import { hexEdits } from './hex.js'
import type { Places } from './places.js'
import { Edits } from './rewrite.js'

export interface Decoding {
  /** `url`, `base64`, or both joined by `+` where both occur side by side. */
  layer: string
  edits: Edits
}

/** One round: every encoding at once, since they stand in different places. Undefined where nothing is encoded. */
export function decodeOnce(text: string, places: Places): Decoding | undefined {
  const layers: string[] = []
  let edits = new Edits()
  const add = (layer: string, found: Edits) => {
    if (found.size === 0) return
    layers.push(layer)
    edits = edits.merged(found)
  }
  if (text.includes('&')) add('html', entityEdits(text))
  if (text.includes('%')) add('url', percentEdits(text))
  const escapes = text.includes('\\') ? escapeEdits(text) : new Edits()
  add('hex', escapes.merged(hexEdits(text, places.encoded())))
  add('base64', base64Edits(text, places.tokens))
  return layers.length === 0 ? undefined : { layer: layers.join('+'), edits }
}
