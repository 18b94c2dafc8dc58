/** One text that a stream spells out over several events: its held pieces, and the end of what has left already. */
import type { Json, JsonObject } from '../base/chat.js'
import { type Replacement, rewriteLeaf, setOwn } from './rewrite.js'

/** The object or list in an event that has the piece as its own. */
export type Holder = JsonObject | Json[]

/** What is held of one channel. */
export interface HeldText {
  pointer: string
  text: string
  /** What stands before it in what `content` gives for the channel. */
  before: string
  /** Nothing will be added to it. */
  isClosed: boolean
  /** False for JSON, which can only be read as a whole. */
  isReadable: boolean
}

interface Piece {
  holder: Holder
  key: string
  text: string
  /** Where it ends in the text that was judged last. */
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
  /** How many of its pieces may leave, from the first of the stream on. */
  settledPieces = 0
  readonly #keepsWhole: boolean
  #tail = ''
  /** What is held begins at `#first`: whatever has left before it is taken out now and then, not each time. */
  #pieces: Piece[] = []
  #first = 0
  #holding: HeldText | undefined
  /** How many pieces have left. */
  #gone = 0
  #whole = ''
  /** The text of the pieces that have left, as they left. */
  #written = ''
  #isRewritten = false

  /** @param keepsWhole for a stream that says its texts again as a whole */
  constructor(pointer: string, kind: 'text' | 'arguments', keepsWhole: boolean) {
    this.pointer = pointer
    this.kind = kind
    this.#keepsWhole = keepsWhole
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

  /** What is held after the end of what has left; undefined where nothing is. */
  judged(): string | undefined {
    let text = this.#tail
    for (const piece of this.#held()) {
      text += piece.text
      piece.end = text.length
    }
    return text.length === this.#tail.length ? undefined : text
  }

  /** What is held of it, as of now; undefined where nothing is. The same object until it changes. */
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

  /** How many of its pieces, from the first of the stream on, lie before an offset of the text as it would be judged now. */
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
   * Lets pieces go up to an offset of the judged text, and rewrites the spans that lie before it.
   * @param most the offset; nothing leaves of a span that it lies in, which would be replaced in part
   * @param own spans of its text
   * @param inner spans in the JSON that its text is, with pointers into that
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
        // What overlaps the span before it has been replaced with it.
        if (from >= covered) out += text.slice(at - start, from - start) + span.text
        covered = Math.max(covered, span.end)
      }
      piece.text = out + text.slice(at - start)
      start = end
    }
  }

  /** Told that its first pieces have left, up to and with piece number `count`. */
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
    // Not each time: what begins where it began is known to whoever has read its beginning, the encoder above all.
    if (this.#tail.length > 2 * Channel.tailLength) this.#tail = this.#tail.slice(-Channel.tailLength)
    if (this.#keepsWhole) this.#written += text
  }

  /** Writes into a repetition of the whole text what of it has left, where that is not what came. */
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
