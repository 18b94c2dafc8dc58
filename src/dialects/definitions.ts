/** Reads definitions of tools and schemas of answers, whose texts a model reads in order. */
import type { Json } from '../base/chat.js'
import { withoutCredentials } from './credentials.js'
import { type Collector, lastSegment } from './walk.js'

/** Fields of prose in a schema. Other fields between two of them would only separate them. */
const prose = new Set(['description', 'title', '$comment'])

/** Every leaf and key of a definition, or of a list of them, and which of them a model reads as one. */
export function readDefinitions(out: Collector, value: Json | undefined, pointer: string): void {
  const before = out.parts.length
  out.walk('definition', withoutCredentials(value), pointer)
  if (out.parts.length - before < 2) return
  // The words of an `enum` among them, and the description of a tool before those of its parameters.
  out.join(out.since(before))
  out.join(out.since(before, (part) => prose.has(lastSegment(part.pointer))))
  out.join(out.keysSince(before))
}
