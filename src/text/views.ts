/**
 * The readings of a text. `plain` is always first and covers every character; the others are added only where a cheap
 * sign says that they could differ, so that an ordinary prompt has one.
 *
 * The readings build on each other, since disguises are stacked: what stands in odd characters is put right, what is
 * encoded is decoded, up to three times over; what then is rotated, reversed, taken apart or written in digits is undone.
 * Each step that changed something is a view, named by the steps that led to it (`base64+url`).
 */
import { decodeOnce } from './decode.js'
import { hiddenEdits } from './hidden.js'
import { leetEdits, oneReadings } from './leet.js'
import { Reading } from './reading.js'
import { reversedEdits } from './reversed.js'
import { type Edits, rewrite } from './rewrite.js'
import { rotatedEdits } from './rotated.js'
import { ESCAPE, REVERSED, ROTATED, UNUSUAL } from './signs.js'
import { drawnOutEdits, joinedEdits, runReadings } from './spaced.js'
import { unicodeEdits } from './unicode.js'
import type { View } from './view.js'

/** Encodings within encodings are followed this far. */
const depth = 3
const mostViews = 64

export interface Readings {
  readonly views: View[]
  /** False where the bounds on views or their size left one out: the text must then not count as fully read. */
  readonly complete: boolean
}

/** Every view of a text: see `readingsOf`, which also says whether all of them fitted. */
export function viewsOf(text: string): View[] {
  return readingsOf(text).views
}

/** Views other than `plain` hold at most four times the text plus 64 Ki units in all, and there are at most 64 views. */
export function readingsOf(text: string): Readings {
  const shelf = new Shelf(text)
  let current = shelf.plain
  if (current.signs.bits & UNUSUAL) shelf.add(current, 'hidden', hiddenEdits(text))
  for (let round = 0; round < depth; round++) {
    const before = current
    current = inLetters(shelf, current)
    const { bits, places } = current.signs
    const mayDecode = bits & ESCAPE || places.tokens.length > 0 || places.codes.length > 0
    const decoding = mayDecode ? decodeOnce(current.text, places) : undefined
    if (decoding !== undefined) current = shelf.add(current, decoding.layer, decoding.edits)
    if (current.signs.bits & ROTATED) current = shelf.add(current, 'rot13', rotatedEdits(current.text))
    current = turnedRound(shelf, current)
    if (current === before) break
  }
  readTogether(shelf, inLetters(shelf, current))
  return { views: shelf.views, complete: shelf.complete }
}

function inLetters(shelf: Shelf, current: Reading): Reading {
  if ((current.signs.bits & UNUSUAL) === 0) return current
  const closed = unicodeEdits(current.text, false)
  if (closed.edits.size === 0) return current
  if (closed.hides) shelf.add(current, 'unicode', unicodeEdits(current.text, true).edits)
  return shelf.add(current, 'unicode', closed.edits)
}

function turnedRound(shelf: Shelf, current: Reading): Reading {
  if ((current.signs.bits & REVERSED) === 0) return current
  const whole = reversedEdits(current.text, true)
  if (whole.size === 0) return current
  shelf.add(current, 'reversed', reversedEdits(current.text, false))
  return shelf.add(current, 'reversed', whole)
}

/** Letters taken apart or drawn out, and letters in digits, alone and together. */
function readTogether(shelf: Shelf, current: Reading): void {
  let first = current
  const { singles, drawnOut } = current.signs.places
  if (singles.length > 0 || drawnOut.length > 0) {
    const joined = joinedEdits(current.text, singles)
    for (const run of drawnOut.length > 0 ? runReadings : runReadings.slice(0, 1)) {
      const edits = joined.merged(drawnOutEdits(current.text, drawnOut, run))
      const reading = shelf.add(current, 'spaced', edits)
      if (first === current) first = reading
    }
  }
  const { mixed } = first.signs.places
  if (mixed.length === 0) return
  for (const one of oneReadings) {
    // The readings change the same words, each in its way.
    if (shelf.add(first, 'leet', leetEdits(first.text, mixed, one)) === first) break
  }
}

/** The views so far, within their bounds. */
class Shelf {
  readonly plain: Reading
  readonly views: Reading[]
  complete = true
  readonly #texts: Set<string>
  #room: number

  constructor(text: string) {
    this.plain = new Reading('plain', text)
    this.views = [this.plain]
    this.#texts = new Set()
    this.#room = text.length * 4 + 65_536
  }

  /** @returns the new reading, or `from` where nothing changed or where it does not fit. One that is known is built on, but not kept again. */
  add(from: Reading, layer: string, edits: Edits): Reading {
    if (edits.size === 0) return from
    const reading = from.next(layer, rewrite(from.text, edits))
    if (this.#texts.has(reading.text)) return reading.text === from.text ? from : reading
    if (reading.text.length > this.#room || this.views.length >= mostViews) {
      this.complete = false
      return from
    }
    this.#room -= reading.text.length
    this.#texts.add(reading.text)
    this.views.push(reading)
    return reading
  }
}
