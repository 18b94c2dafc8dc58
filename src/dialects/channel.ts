/** One text that a stream spells out over several events: its held pieces, and the end of what has left already. */
import type { Json, JsonObject } from '../chat.js'
import type { HeldText } from './reply-stream.js'
import { type Replacement, rewriteLeaf, setOwn } from './rewrite.js'

/** The object or list in an event that has the piece as its own. */
export type Holder = JsonObject | Json[]

interface Piece {
  holder: Holder
  key: string
  text: string
  /** Where it ends in the text that was judged last. */
  end: number
}

export class Channel {
  /** UTF-16 units of released text that are judged again with what follows: longer than any phrase or identifier. */
  static readonly tailLength = 1024
  readonly pointer: string
  readonly kind: 'text' | 'arguments'
  isClosed = false
  /** How many of its pieces may leave, from the first of the stream on. */
  settledPieces = 0
  readonly #keepsWhole: boolean
  #tail = ''
  #pieces: Piece[] = []
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
    if (this.#keepsWhole) this.#whole += text
    return this.count
  }

  /** How many pieces it has had: what must be settled before a repetition of all of it may leave. */
  get count(): number {
    return this.#gone + this.#pieces.length
  }

  close(): void {
    this.isClosed = true
  }

  /** What is held after the end of what has left; undefined where nothing is. */
  judged(): string | undefined {
    let text = this.#tail
    for (const piece of this.#pieces) {
      text += piece.text
      piece.end = text.length
    }
    return text.length === this.#tail.length ? undefined : text
  }

  /** What is held of it, as of now; undefined where nothing is. */
  holding(): HeldText | undefined {
    if (this.#pieces.length === 0) return undefined
    const text = this.#pieces.map((piece) => piece.text).join('')
    const { pointer, isClosed } = this
    return { pointer, text, before: this.#tail, isClosed, isReadable: this.kind === 'text' }
  }

  /** How many of its pieces, from the first of the stream on, lie before an offset of the text as it would be judged now. */
  countUpTo(offset: number): number {
    let count = this.#gone
    let end = this.#tail.length
    for (const { text } of this.#pieces) {
      end += text.length
      if (text !== '' && end > offset) break
      count++
    }
    return Math.max(count, this.settledPieces)
  }

  /**
   * Lets pieces go up to an offset of the judged text, and rewrites the spans that lie before it.
   * @returns how many spans were replaced
   */
  settle(upTo: number, replacements: readonly Replacement[]): number {
    const count = this.#pieces.length === 0 ? 0 : this.#rewrite(upTo, replacements)
    for (let i = this.settledPieces - this.#gone; i < this.#pieces.length; i++) {
      const { text, end } = this.#pieces[i]!
      if (text !== '' && end > upTo) break
      this.settledPieces++
    }
    return count
  }

  #rewrite(upTo: number, replacements: readonly Replacement[]): number {
    if (replacements.length === 0) return 0
    const own = replacements
      .filter(
        (each) => each.pointer === this.pointer && !each.isKey && each.end > this.#tail.length && each.end <= upTo
      )
      .sort((a, b) => a.start - b.start)
    const isWhole = this.#tail === '' && this.#pieces.at(-1)!.end <= upTo
    const inner = isWhole
      ? replacements
          .filter(({ pointer }) => pointer.startsWith(`${this.pointer}/`))
          .map((each) => ({ ...each, pointer: each.pointer.slice(this.pointer.length) }))
      : []
    if (own.length + inner.length === 0) return 0
    this.#isRewritten = true
    if (inner.length > 0) this.#replaceAll(rewriteLeaf(this.#pieces.map(({ text }) => text).join(''), own, inner))
    else this.#replaceSpans(own)
    for (const { holder, key, text } of this.#pieces) setLeaf(holder, key, text)
    return Math.max(own.length, inner.length)
  }

  /** Spans of decoded JSON have no place in single pieces: the first carries all of it. */
  #replaceAll(text: string): void {
    for (const [i, piece] of this.#pieces.entries()) piece.text = i === 0 ? text : ''
  }

  /** Each replacement stands in the first piece of its span; no piece keeps a part of the span. */
  #replaceSpans(ordered: readonly Replacement[]): void {
    const first = this.#tail.length
    let start = first
    let next = 0
    let covered = first
    for (const piece of this.#pieces) {
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
    const gone = this.#pieces.splice(0, count - this.#gone)
    if (gone.length === 0) return
    this.#gone += gone.length
    const text = gone.map((piece) => piece.text).join('')
    this.#tail = (this.#tail + text).slice(-Channel.tailLength)
    if (this.#keepsWhole) this.#written += text
  }

  /** Writes into a repetition of the whole text what of it has left, where that is not what came. */
  fill(holder: Holder, key: string): void {
    if (this.#isRewritten) setLeaf(holder, key, this.#written)
  }
}

function setLeaf(holder: Holder, key: string, text: string): void {
  if (Array.isArray(holder)) holder[Number(key)] = text
  else setOwn(holder, key, text)
}
