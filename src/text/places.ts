/** The places of a text with signs of hidden content: see `signs.ts`. */

/** Stretches [from, to) in order, without overlaps: `from` and `to` by turns. */
export type Stretches = readonly number[]

/** Fewer single letters in a row are ordinary: initials, options. */
const fewestSingles = 3
/** So many words with digits in them are ordinary, and too few for a row of pieces of base64. */
const mostMixed = 2
export const longestSeparator = 3

/** Units that count as the surroundings of a word. */
const strangeContext = 32

export class SignPlaces {
  /** Words that mix letters with digits or signs. */
  readonly mixed: number[] = []
  /** Runs that may be base64 or hexadecimal. */
  readonly tokens: number[] = []
  /** Rows of words that may be character codes: numbers, bytes in hexadecimal. */
  readonly codes: number[] = []
  /** Stretches without white space, longer than words are. */
  readonly chunks: number[] = []
  /** Where rows of signs alone begin: no letter, no digit. */
  readonly symbols: number[] = []
  /** Rows of words of which few are common in English, with their surroundings; the last may reach beyond the text. */
  readonly strange: number[] = []
  /** The first of each three single letters in a row, or of two of a script that may be without spaces. */
  readonly singles: number[] = []
  /** The first of each three equal letters. */
  readonly drawnOut: number[] = []
  #firstSingle = -1
  #lastSingle = 0
  #letters = 0
  #foreign = 0

  get isEmpty(): boolean {
    return !this.mayDecode && this.mixed.length === 0 && this.singles.length === 0 && this.drawnOut.length === 0
  }

  /** Whether there is a place where something encoded may stand. */
  get mayDecode(): boolean {
    return (
      this.tokens.length > 0 ||
      this.codes.length > 0 ||
      this.chunks.length > 0 ||
      this.symbols.length > 0 ||
      this.strange.length > 0 ||
      this.mixed.length > 2 * mostMixed
    )
  }

  /** Whether the last words were single letters. */
  get hasSingles(): boolean {
    return this.#firstSingle >= 0
  }

  /** Notes that the words up to [from, to), and those around them, are strange to English. */
  addStrange(from: number, to: number): void {
    const { strange } = this
    const last = strange.length - 1
    if (last > 0 && strange[last]! >= from - strangeContext) strange[last] = to + strangeContext
    else strange.push(Math.max(0, from - strangeContext), to + strangeContext)
  }

  addSingle(at: number, code: number): void {
    if (at - this.#lastSingle - 1 > longestSeparator) this.endSingles()
    if (this.#firstSingle < 0) this.#firstSingle = at
    this.#lastSingle = at
    if (code > 127 || (code | 32) >= 97) this.#letters++
    if (code > 0x2ff) this.#foreign++
  }

  endSingles(): void {
    if (this.#firstSingle < 0) return
    if (this.#letters >= fewestSingles || this.#foreign > 1) this.singles.push(this.#firstSingle)
    this.#firstSingle = -1
    this.#letters = 0
    this.#foreign = 0
  }

  /** Tokens and rows of codes together. */
  encoded(): Stretches {
    return together(this.tokens, this.codes)
  }

  /** Where pieces of base64 may stand: those too short for tokens mix letters with digits, or are strange words. */
  pieces(): Stretches {
    return together(together(this.tokens, this.strange), this.mixed)
  }
}

function together(some: Stretches, others: Stretches): Stretches {
  if (others.length === 0) return some
  const stretches: [from: number, to: number][] = []
  for (const list of [some, others]) {
    for (let i = 0; i < list.length; i += 2) stretches.push([list[i]!, list[i + 1]!])
  }
  const merged: number[] = []
  for (const [from, to] of stretches.sort((a, b) => a[0] - b[0])) {
    const last = merged.length - 1
    if (last > 0 && from <= merged[last]!) merged[last] = Math.max(merged[last]!, to)
    else merged.push(from, to)
  }
  return merged
}

/** What is left of stretches outside of others: both from left to right, without overlaps. */
export function outsideOf(stretches: Stretches, others: Stretches): number[] {
  const left: number[] = []
  let next = 0
  for (let i = 0; i < stretches.length; i += 2) {
    let from = stretches[i]!
    const to = stretches[i + 1]!
    while (next < others.length && others[next + 1]! <= from) next += 2
    for (let k = next; k < others.length && others[k]! < to; k += 2) {
      if (others[k]! > from) left.push(from, others[k]!)
      from = Math.max(from, others[k + 1]!)
    }
    if (from < to) left.push(from, to)
  }
  return left
}

/** Whether [from, to) lies within one of the stretches. */
export function isWithin(stretches: Stretches, from: number, to: number): boolean {
  let low = 0
  let high = stretches.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if (stretches[2 * middle + 1]! > from) high = middle
    else low = middle + 1
  }
  return 2 * low < stretches.length && stretches[2 * low]! <= from && stretches[2 * low + 1]! >= to
}
