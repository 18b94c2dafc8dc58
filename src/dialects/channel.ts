/** One text that a stream spells out over several events: its held pieces, and the end of what has left already. */
import type { Json, JsonObject } from '../base/chat.js'
import { type Replacement, rewriteLeaf, setOwn } from './rewrite.js'

/** The object or list in an event that has the piece as its own. */
export type Holder = JsonObject | Json[]

/** The held text of one channel. */
export interface HeldText {
  pointer: string
  text: string
  /** The text before it in the channel's text from `content`. */
  before: string
  /** True where no more text will be added. */
  isClosed: boolean
  /** False for JSON, which can only be read as a whole. */
  isReadable: boolean
}

interface Piece {
  holder: Holder
  key: string
  text: string
  /** Its end in the text that was judged last. */
  end: number
}

export class Channel {
  /** UTF-16 units of released text that are judged again with what follows, at least: longer than any phrase or identifier. */
  static readonly tailLength = 1024
  readonly pointer: string
  readonly kind: 'text' | 'arguments'
  isClosed = false
  /** UTF-16 units that are held. */
  units = 0
  /** Number of its pieces that may leave, counted from the start of the stream. */
  settledPieces = 0
  readonly #keepsWhole: boolean
  #tail = ''
  /** Held pieces begin at `#first`; released ones before it are removed from time to time, not at once. */
  #pieces: Piece[] = []
  #first = 0
  #holding: HeldText | undefined
  /** How many pieces have left. */
  #gone = 0
  #whole = ''
  /** The text of the pieces that have left, as they left. */
  #written = ''
  #isRewritten = false

  /**
   * @param keepsWhole for a stream that says its texts again as a whole
   * @param before the end of the text that this one goes on from: judged again with it, as if it had left here
   */
  constructor(pointer: string, kind: 'text' | 'arguments', keepsWhole: boolean, before = '') {
    this.pointer = pointer
    this.kind = kind
    this.#keepsWhole = keepsWhole
    this.#tail = before
  }

  /** The end of its text so far, left or held. */
  get end(): string {
    let end = ''
    for (let i = this.#pieces.length - 1; i >= this.#first && end.length < Channel.tailLength; i--) {
      end = this.#pieces[i]!.text + end
    }
    return (this.#tail + end).slice(-Channel.tailLength)
  }

  /** All of its text as it came. Empty where it is not kept. */
  get whole(): string {
    return this.#whole
  }

  /** @returns how many pieces the channel has now */
  add(holder: Holder, key: string): number {
    const text = (holder as JsonObject)[key] as string
    this.#pieces.push({ holder, key, text, end: 0 })
    this.#holding = undefined
    this.units += text.length
    if (this.#keepsWhole) this.#whole += text
    return this.count
  }

  /** How many pieces it has had: what must be settled before a repetition of all of it may leave. */
  get count(): number {
    return this.#gone + this.#pieces.length - this.#first
  }

  get isEmpty(): boolean {
    return this.#pieces.length === this.#first
  }

  close(): void {
    this.isClosed = true
    this.#holding = undefined
  }

  #held(): Piece[] {
    return this.#first === 0 ? this.#pieces : this.#pieces.slice(this.#first)
  }

  /** The held text, with the end of the released text before it; undefined where nothing is held. */
  judged(): string | undefined {
    let text = this.#tail
    for (const piece of this.#held()) {
      text += piece.text
      piece.end = text.length
    }
    return text.length === this.#tail.length ? undefined : text
  }

  /** Its present held text; undefined without any. The same object until it changes. */
  holding(): HeldText | undefined {
    if (this.isEmpty) return undefined
    if (this.#holding === undefined) {
      const text = this.#held()
        .map((piece) => piece.text)
        .join('')
      const { pointer, isClosed } = this
      this.#holding = { pointer, text, before: this.#tail, isClosed, isReadable: this.kind === 'text' }
    }
    return this.#holding
  }

  /** Number of its pieces, from the start of the stream, that lie before an offset of the text to be judged. */
  countUpTo(offset: number): number {
    let count = this.#gone
    let end = this.#tail.length
    for (const { text } of this.#held()) {
      end += text.length
      if (text !== '' && end > offset) break
      count++
    }
    return Math.max(count, this.settledPieces)
  }

  /**
   * Releases pieces up to an offset of the judged text, and rewrites the spans before it.
   * @param most the offset; a span that it cuts does not leave, since it would be replaced only in part
   * @param own spans of its text
   * @param inner spans in its text's JSON, with pointers into that
   * @returns how many spans were replaced
   */
  settle(most: number, own: readonly Replacement[], inner: readonly Replacement[]): number {
    const upTo = beforeSpans(most, own)
    const count = this.isEmpty || own.length + inner.length === 0 ? 0 : this.#rewrite(upTo, own, inner)
    for (let i = this.#first + this.settledPieces - this.#gone; i < this.#pieces.length; i++) {
      const { text, end } = this.#pieces[i]!
      if (text !== '' && end > upTo) break
      this.settledPieces++
    }
    return count
  }

  #rewrite(upTo: number, all: readonly Replacement[], decoded: readonly Replacement[]): number {
    const own = all
      .filter(({ isKey, end }) => !isKey && end > this.#tail.length && end <= upTo)
      .sort((a, b) => a.start - b.start)
    const isWhole = this.#tail === '' && this.#pieces.at(-1)!.end <= upTo
    const inner = isWhole ? decoded : []
    if (own.length + inner.length === 0) return 0
    this.#isRewritten = true
    this.#holding = undefined
    const pieces = this.#held()
    if (inner.length > 0) replaceAll(pieces, rewriteLeaf(pieces.map(({ text }) => text).join(''), own, inner))
    else this.#replaceSpans(pieces, own)
    this.units = 0
    for (const { holder, key, text } of pieces) {
      setLeaf(holder, key, text)
      this.units += text.length
    }
    return Math.max(own.length, inner.length)
  }

  /** Each replacement stands in the first piece of its span; no piece keeps a part of the span. */
  #replaceSpans(pieces: readonly Piece[], ordered: readonly Replacement[]): void {
    const first = this.#tail.length
    let start = first
    let next = 0
    let covered = first
    for (const piece of pieces) {
      const { text, end } = piece
      let out = ''
      let at = start
      for (;;) {
        if (covered > at) at = Math.min(covered, end)
        const span = ordered[next]
        const from = Math.max(span?.start ?? 0, first)
        if (span === undefined || from >= end) break
        next++
        // An overlapping span was replaced together with the one before.
        if (from >= covered) out += text.slice(at - start, from - start) + span.text
        covered = Math.max(covered, span.end)
      }
      piece.text = out + text.slice(at - start)
      start = end
    }
  }

  /** Notes that its pieces have left up to and including number `count`. */
  leave(count: number): void {
    const end = Math.min(this.#pieces.length, this.#first + count - this.#gone)
    if (end <= this.#first) return
    let text = ''
    for (let i = this.#first; i < end; i++) text += this.#pieces[i]!.text
    this.units -= text.length
    this.#gone += end - this.#first
    this.#first = end
    if (end * 2 > this.#pieces.length) {
      this.#pieces.splice(0, end)
      this.#first = 0
    }
    this.#holding = undefined
    this.#tail += text
    // Not cut each time: a text with an unchanged beginning is found in caches, above all the encoder's.
    if (this.#tail.length > 2 * Channel.tailLength) this.#tail = this.#tail.slice(-Channel.tailLength)
    if (this.#keepsWhole) this.#written += text
  }

  /** Replaces a repetition of the whole text by the text that has left, where the two differ. */
  fill(holder: Holder, key: string): void {
    if (this.#isRewritten) setLeaf(holder, key, this.#written)
  }
}

/** An offset, or where the span that it lies in begins. */
function beforeSpans(offset: number, spans: readonly Replacement[]): number {
  let upTo = offset
  // From the last on: where it moves before one, it may come to lie in another.
  for (const { isKey, start, end } of [...spans].sort((a, b) => b.start - a.start))
    if (isKey !== true && start < upTo && end > upTo) upTo = start
  return upTo
}

/** Spans of decoded JSON have no place in single pieces: the first carries all of it. */
function replaceAll(pieces: readonly Piece[], text: string): void {
  for (const [i, piece] of pieces.entries()) piece.text = i === 0 ? text : ''
}

function setLeaf(holder: Holder, key: string, text: string): void {
  if (Array.isArray(holder)) holder[Number(key)] = text
  else setOwn(holder, key, text)
}
