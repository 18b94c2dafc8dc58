/** Rewrites places of a text, and maps every place of the result back to the source. */
import type { Span } from './fold.js'

/** Mapping of a rewritten place's characters: one to one, one to one from the end, or only as a whole. */
export type Fit = 'same' | 'reversed' | 'block'

/** Where a stretch of text came from: a function from offsets of the result to offsets of the source. */
export type Trace = (from: number, to: number) => Span

/** Changes to one text, added from left to right, without overlaps. */
export class Edits {
  readonly from: number[] = []
  readonly to: number[] = []
  readonly text: string[] = []
  readonly fit: Fit[] = []

  get size(): number {
    return this.from.length
  }

  add(from: number, to: number, text: string, fit: Fit = 'block'): void {
    this.from.push(from)
    this.to.push(to)
    this.text.push(text)
    this.fit.push(fit)
  }

  /** UTF-16 units of the text that are changed. */
  get units(): number {
    let units = 0
    for (let i = 0; i < this.size; i++) units += this.to[i]! - this.from[i]!
    return units
  }

  equals({ size, from, to, text }: Edits): boolean {
    if (size !== this.size) return false
    for (let i = 0; i < size; i++)
      if (from[i] !== this.from[i] || to[i] !== this.to[i] || text[i] !== this.text[i]) return false
    return true
  }

  /** The changes with nothing around them: each on a line of its own. @param length of the text */
  alone(length: number): Edits {
    const out = new Edits()
    let done = 0
    for (let i = 0; i < this.size; i++) {
      if (this.from[i]! > done) out.add(done, this.from[i]!, i === 0 ? '' : '\n')
      out.add(this.from[i]!, this.to[i]!, this.text[i]!, this.fit[i]!)
      done = this.to[i]!
    }
    if (done < length) out.add(done, length, '')
    return out
  }

  /** The changes for whose numbers `keeps` holds. */
  where(keeps: (i: number) => boolean): Edits {
    const out = new Edits()
    for (let i = 0; i < this.size; i++) {
      if (keeps(i)) out.add(this.from[i]!, this.to[i]!, this.text[i]!, this.fit[i]!)
    }
    return out
  }

  /** The changes with these numbers, in their order, and those no further from one of them than `distance`. */
  beside(numbers: readonly number[], distance: number): Edits {
    let k = 0
    return this.where((i) => {
      while (k < numbers.length && this.to[numbers[k]!]! + distance < this.from[i]!) k++
      return k < numbers.length && this.from[numbers[k]!]! - distance <= this.to[i]!
    })
  }

  /** Puts the changes of `other` in between, except where they overlap one that is here. */
  merged(other: Edits): Edits {
    if (other.size === 0) return this
    if (this.size === 0) return other
    const out = new Edits()
    let mine = 0
    let theirs = 0
    let end = 0
    while (mine < this.size || theirs < other.size) {
      const own = theirs >= other.size || (mine < this.size && this.from[mine]! <= other.to[theirs]! - 1)
      const edits = own ? this : other
      const i = own ? mine++ : theirs++
      if (edits.from[i]! < end) continue
      if (!own && mine < this.size && edits.to[i]! > this.from[mine]!) continue
      out.add(edits.from[i]!, edits.to[i]!, edits.text[i]!, edits.fit[i]!)
      end = edits.to[i]!
    }
    return out
  }
}

/** Units kept on either side of a change: more than any pattern of a rule may reach (500), or 50 words of prose take. */
const mostContext = 512

/** Stands where unchanged text was left out. */
const gap = '\n--\n'

export interface Rewritten {
  text: string
  trace: Trace
  /** Where in the result each change stands: `from` and `to` by turns. */
  changed: readonly number[]
}

/**
 * The text with its changes applied. Unchanged text further than `context` from any change is left out: the reading it
 * was taken from covers it already, and a long document with one escape in it need not be read twice.
 * @param context in units
 */
export function rewrite(text: string, edits: Edits, context = mostContext): Rewritten {
  const pieces: string[] = []
  const starts: number[] = []
  const froms: number[] = []
  const tos: number[] = []
  const fits: Fit[] = []
  const changed: number[] = []
  let length = 0
  const put = (piece: string, from: number, to: number, fit: Fit) => {
    if (piece === '') return
    pieces.push(piece)
    starts.push(length)
    froms.push(from)
    tos.push(to)
    fits.push(fit)
    length += piece.length
  }
  const keep = (from: number, to: number) => put(text.slice(from, to), from, to, 'same')
  let done = 0
  for (let i = 0; i < edits.size; i++) {
    const from = edits.from[i]!
    const near = i === 0 ? 0 : done + context
    if (from - context > near + gap.length) {
      if (i > 0) keep(done, wordEdge(text, near))
      put(gap, near, from - context, 'block')
      done = wordEdge(text, from - context)
    }
    keep(done, from)
    changed.push(length)
    put(edits.text[i]!, from, edits.to[i]!, edits.fit[i]!)
    changed.push(length)
    done = edits.to[i]!
  }
  const last = done + context
  keep(done, last < text.length ? wordEdge(text, last) : text.length)
  return { text: pieces.join(''), trace: traceOf(starts, froms, tos, fits, length), changed }
}

/** The nearest end of a word before `at`, so that no half word appears; `at` itself where words are very long. */
function wordEdge(text: string, at: number): number {
  for (let i = at; i > at - 64; i--) if (text.charCodeAt(i) === 32) return i
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at
}

function traceOf(starts: number[], froms: number[], tos: number[], fits: Fit[], length: number): Trace {
  const pieceAt = (offset: number): number => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
  const one = (offset: number): Span => {
    const piece = pieceAt(offset)
    const from = froms[piece]!
    const to = tos[piece]!
    const inside = offset - starts[piece]!
    if (fits[piece] === 'same') return { start: from + inside, end: from + inside + 1 }
    if (fits[piece] === 'reversed') return { start: to - inside - 1, end: to - inside }
    return { start: from, end: to }
  }
  return (from, to) => {
    if (length === 0) return { start: 0, end: 0 }
    const first = Math.min(Math.max(from, 0), length)
    const after = Math.min(Math.max(to, first), length)
    if (after === first) {
      const { start, end } = one(Math.min(first, length - 1))
      return first === length ? { start: end, end } : { start, end: start }
    }
    const head = one(first)
    const tail = one(after - 1)
    let start = Math.min(head.start, tail.start)
    let end = Math.max(head.end, tail.end)
    const firstPiece = pieceAt(first)
    const lastPiece = pieceAt(after - 1)
    if (firstPiece === lastPiece) return { start, end }
    // What was reversed lies the other way round: a stretch that leaves it reaches to its other end.
    if (fits[firstPiece] === 'reversed') start = Math.min(start, froms[firstPiece]!)
    if (fits[lastPiece] === 'reversed') end = Math.max(end, tos[lastPiece]!)
    return { start, end }
  }
}
