/**
 * The readings of a text. `plain` is always first and covers every character; the others are added only where a cheap
 * sign says that they could differ, so that an ordinary prompt has one.
 *
 * The readings build on each other, since disguises are stacked: what stands in odd characters is put right, what is
 * encoded is decoded, up to eight times over; what then is rotated, reversed, taken apart or written in digits is undone.
 * Each step that changed something is a view, named by the steps that led to it (`base64+url`).
 */
import { bidiEdits } from './bidi.js'
import { pigLatinEdits } from './ciphers/pig-latin.js'
import { rot47Edits } from './ciphers/rot47.js'
import { substitutedEdits } from './ciphers/substituted.js'
import { upsideDownEdits } from './ciphers/upside-down.js'
import { decodeOnce } from './decode.js'
import { punycodePrefix } from './encodings/punycode.js'
import { hiddenEdits } from './hidden.js'
import { KnownWords } from './known-words.js'
import { isLeetThroughout, leetEdits, oneReadings } from './leet.js'
import { outsideOf } from './places.js'
import { Reading } from './reading.js'
import { revealing } from './revealed.js'
import { reversedEdits, reversedRunEdits } from './reversed.js'
import { type Edits, rewrite } from './rewrite.js'
import { rotatedEdits } from './rotated.js'
import { ACCENTED, REVERSED, ROTATED, UNUSUAL } from './signs.js'
import { drawnOutEdits, hyphenEdits, joinedEdits, lineHyphen, runReadings } from './spaced.js'
import { splitEdits } from './split.js'
import { unicodeEdits } from './unicode.js'
import type { View } from './view.js'

/** How often the steps below are gone through. */
const depth = 3
/** Encodings within encodings are followed this far, and further while each makes the text shorter by an eighth or more. */
const mostDecoded = 4
const mostShortened = 8
const mostViews = 64

/** UTF-16 units that are left. */
export interface Room {
  units: number
}

export interface Readings {
  readonly views: View[]
  /** False where the bounds on views or their size left one out: the text must then not count as fully read. */
  readonly complete: boolean
}

/** Every view of a text: see `readingsOf`, which also says whether all of them fitted. */
export function viewsOf(text: string, words?: KnownWords): View[] {
  return readingsOf(text, words).views
}

/**
 * Views other than `plain` hold at most eight times the text plus 64 Ki units in all, and there are at most 64 views.
 * @param words tell language from letters in disorder: those of the policy, where one is at hand
 * @param room what the views of several texts together may hold
 */
export function readingsOf(text: string, words: KnownWords = KnownWords.english, room?: Room): Readings {
  const plain = new Reading('plain', text)
  if (!maySay(plain) && plain.layout.size === 0) return { views: [plain], complete: true }
  const shelf = new Shelf(plain, room)
  follow(shelf, shelf.plain, words, true)
  return { views: shelf.views, complete: shelf.complete }
}

/** Whether anything shows that a text may say more than it says: ordinary prose is let go here. */
function maySay({ text, signs: { bits, places } }: Reading): boolean {
  return bits !== 0 || !places.isEmpty || text.includes(lineHyphen) || text.includes(punycodePrefix)
}

/**
 * The readings that build on one.
 * @param branches whether those are built on too that show the text in another order, or what it hides
 */
function follow(shelf: Shelf, start: Reading, words: KnownWords, branches: boolean): void {
  const decoded: Reading[] = []
  let current = start
  let isShorter = false
  for (let round = 0; round < depth; round++) {
    const before = current
    current = inLetters(shelf, current)
    if (current.signs.places.mixed.length > 2) {
      current = shelf.add(
        current,
        'rot47',
        rot47Edits(current.text, outsideOf(current.signs.places.mixed, current.noise), words)
      )
    }
    // One encoding within another is decoded before anything else: its letters are in disorder, which other steps may take for theirs.
    while (decoded.length < mostDecoded || (decoded.length < mostShortened && isShorter)) {
      const next = decodedOnce(shelf, current)
      if (next === current) break
      decoded.push(next)
      isShorter = next.text.length * 8 <= current.text.length * 7
      current = inLetters(shelf, next)
    }
    current = current.withoutNoise()
    current = replaced(shelf, current, words)
    current = turnedRound(shelf, current, words)
    current = joined(shelf, current, words)
    // After what is encoded is decoded: its letters hold signs that mark nothing.
    current = shelf.add(current, 'layout', current.layout)
    if (current === before) break
  }
  readTogether(shelf, inLetters(shelf, current), words)
  if (!branches) return
  branch(shelf, start, words)
  for (const reading of decoded) branch(shelf, reading, words)
}

function decodedOnce(shelf: Shelf, from: Reading): Reading {
  const decoding = decodeOnce(from.text, from.signs)
  if (decoding === undefined) return from
  const { layer, edits } = decoding
  if (edits.units * 2 > from.text.length) from.isEncoded = true
  // What stands around the payload may hold some of the encoded units; the rest of them is the payload's.
  const { payload } = from
  if (payload !== undefined) {
    const within = edits.units - (from.text.length - payload.text.length)
    if (within * 2 > payload.text.length) payload.isEncoded = true
  }
  return shelf.addPayload(from, layer, edits)
}

function branch(shelf: Shelf, from: Reading, words: KnownWords): void {
  const { text, signs } = from
  if ((signs.bits & UNUSUAL) === 0) return
  const steps: [layer: string, edits: Edits][] = [
    ['hidden', hiddenEdits(text, true)],
    ['hidden', hiddenEdits(text, false)],
    ['bidi', bidiEdits(text)],
    ['upside-down', upsideDownEdits(text, true)],
    ['upside-down', upsideDownEdits(text, false)]
  ]
  for (const [layer, edits] of steps) {
    const reading = layer === 'hidden' ? shelf.addPayload(from, layer, edits) : shelf.add(from, layer, edits)
    if (reading !== from) follow(shelf, reading, words, false)
  }
}

function inLetters(shelf: Shelf, current: Reading): Reading {
  if ((current.signs.bits & UNUSUAL) === 0) return current
  const closed = unicodeEdits(current.text, false)
  if (closed.edits.size === 0) return current
  if (closed.edits.units * 2 > current.text.length) current.isEncoded = true
  if (closed.hides) shelf.add(current, 'unicode', unicodeEdits(current.text, true).edits)
  return shelf.add(current, 'unicode', closed.edits)
}

/** Letters that stand for other letters. */
function replaced(shelf: Shelf, from: Reading, words: KnownWords): Reading {
  let current = from
  const runs = current.unknownRuns(words)
  if (runs.length > 0) {
    const substituted = substitutedEdits(current.text, runs, words)
    if (substituted !== undefined) current = shelf.addPayload(current, substituted.layer, substituted.edits)
    else current = shelf.add(current, 'pig-latin', pigLatinEdits(current.text, runs, words))
  }
  return current.signs.bits & ROTATED ? shelf.addPayload(current, 'rot13', rotatedEdits(current.text, words)) : current
}

function turnedRound(shelf: Shelf, current: Reading, words: KnownWords): Reading {
  const { text, signs } = current
  const { strange } = signs.places
  // Where only words are strange, a line that is turned round holds some of them.
  const isAnywhere = (signs.bits & (REVERSED | ACCENTED)) !== 0
  if (isAnywhere || strange.length > 0) {
    const { lines, words: inPlace } = reversedEdits(text, isAnywhere ? undefined : strange)
    const reading = shelf.add(current, 'reversed', inPlace)
    if (lines.size > 0) return shelf.add(current, 'reversed', lines)
    if (reading !== current) return reading
  }
  const runs = current.unknownRuns(words)
  if (runs.length === 0) return current
  const whole = reversedRunEdits(text, runs, words, true)
  if (whole.size > 0) shelf.add(current, 'reversed', reversedRunEdits(text, runs, words, false))
  return shelf.add(current, 'reversed', whole)
}

/** A text of which so many units, or fewer, stand between two gaps that are none is no text as written. */
const shortestPart = 8

/** Letters set apart, and words broken at the end of a line. */
function joined(shelf: Shelf, current: Reading, words: KnownWords): Reading {
  const { singles } = current.signs.places
  const broken = hyphenEdits(current.text)
  if (singles.length === 0 && broken.size === 0) return current
  const edits = singles.length === 0 ? broken : joinedEdits(current.text, singles, words).merged(broken)
  if (edits.size * shortestPart > current.text.length) current.isEncoded = true
  return shelf.add(current, 'spaced', edits)
}

/** Letters drawn out, letters in digits and words run together, alone and together. */
function readTogether(shelf: Shelf, current: Reading, words: KnownWords): void {
  let first = current
  const { drawnOut } = current.signs.places
  if (drawnOut.length > 0) {
    for (const run of runReadings) {
      const reading = shelf.add(current, 'spaced', drawnOutEdits(current.text, drawnOut, run, words), words)
      if (first === current) first = reading
    }
  }
  apart(shelf, current, words)
  if (first !== current) apart(shelf, first, words)
  const { mixed } = first.signs.places
  if (mixed.length === 0) return
  const throughout = isLeetThroughout(first.text)
  const tried: Edits[] = []
  for (const one of oneReadings) {
    // The readings change the same words, each in its way, and most words in one way.
    const edits = leetEdits(first.text, mixed, throughout, one, words)
    if (tried.some((each) => each.equals(edits))) continue
    tried.push(edits)
    const reading = shelf.add(first, 'leet', edits, throughout ? undefined : words)
    if (reading === first) continue
    apart(shelf, reading, words)
  }
}

/** Words run together. */
function apart(shelf: Shelf, current: Reading, words: KnownWords): void {
  const { chunks } = current.signs.places
  if (chunks.length > 0) shelf.add(current, 'split', splitEdits(current.text, chunks, words))
}

/** Less than this many units say little by themselves, and change little around what they stand beside. */
const leastPayload = 20
const leastAround = 8
/** UTF-16 units around a word that is shown: what is disguised like it belongs to it, whether or not it is known. */
const besideWord = 256

/** The views so far, within their bounds. */
class Shelf {
  readonly plain: Reading
  readonly views: Reading[]
  complete = true
  readonly #texts: Set<string>
  #room: number
  readonly #shared: Room | undefined

  constructor(plain: Reading, shared: Room | undefined) {
    this.plain = plain
    this.views = [plain]
    this.#texts = new Set()
    this.#room = plain.text.length * 8 + 65_536
    this.#shared = shared
  }

  /** As `add`, and what was hidden by itself too: said alone it may mean more than between other words. */
  addPayload(from: Reading, layer: string, edits: Edits): Reading {
    const reading = this.add(from, layer, edits)
    if (reading === from) return from
    const payload = edits.text.reduce((sum, { length }) => sum + length, 0)
    if (payload >= leastPayload && from.text.length - edits.units >= leastAround) {
      const alone = this.add(from, layer, edits.alone(from.text.length))
      if (alone !== from) reading.payload = alone
    }
    return reading
  }

  /**
   * @param words where changes count only if one of these is shown close to them
   * @returns the new reading, or `from` where nothing changed or where it does not fit. One that is known is built on, but not kept again.
   */
  add(from: Reading, layer: string, edits: Edits, words?: KnownWords): Reading {
    if (edits.size === 0) return from
    let rewritten = rewrite(from.text, edits)
    if (words !== undefined) {
      const shown = edits.beside(revealing(rewritten.text, rewritten.changed, words), besideWord)
      if (shown.size === 0) return from
      if (shown.size < edits.size) rewritten = rewrite(from.text, shown)
    }
    const reading = from.next(layer, rewritten)
    if (this.#texts.has(reading.text)) return reading.text === from.text ? from : reading
    const { length } = reading.text
    const most = Math.min(this.#room, this.#shared?.units ?? this.#room)
    if (length > most || this.views.length >= mostViews) {
      this.complete = false
      return from
    }
    this.#room -= length
    if (this.#shared !== undefined) this.#shared.units -= length
    this.#texts.add(reading.text)
    this.views.push(reading)
    return reading
  }
}
