/**
 * Many phrases in one pass: Aho and Corasick (1975) as a complete automaton over typed arrays. The cost of a scan is one
 * table look-up a character, flat in the number of phrases; it allocates nothing.
 *
 * Characters are renumbered to the few that phrases use. Where phrases use many (Chinese), each rare character becomes
 * three digits, so that the table stays narrow: 10,000 phrases take tens of megabytes, not gigabytes.
 */
import { isUnspaced } from './characters.js'

export interface Pattern {
  /** Folded (`foldPhrase`); a `*` at its end means any ending of its last word. */
  phrase: string
  id: number
}

/** `from` and `to` are offsets into the folded text, without the spaces around the words. */
export type Hit = (id: number, from: number, to: number) => void

/** More characters than this beyond ASCII are written as digits. */
const directBeyondAscii = 24

interface Alphabet {
  /** Per UTF-16 unit: 0 where no phrase has it, its column, or `columns` + its rank where it is written in digits. */
  symbolOf: Uint16Array
  columns: number
  /** First column of the digits; `base` columns for each of three places. */
  firstDigit: number
  base: number
}

export class Automaton {
  readonly #alphabet: Alphabet
  /** Next state by state (a multiple of `columns`) plus column; stored as its complement where the state has hits. */
  readonly #next: Int32Array
  readonly #firstHit: Int32Array
  readonly #shorter: Int32Array
  readonly #hits: Hits

  /** Built by `compileAutomaton`. */
  constructor(alphabet: Alphabet, next: Int32Array, firstHit: Int32Array, shorter: Int32Array, hits: Hits) {
    this.#alphabet = alphabet
    this.#next = next
    this.#firstHit = firstHit
    this.#shorter = shorter
    this.#hits = hits
  }

  /** Reports every occurrence of every phrase, overlapping ones too, in order of their last character. */
  scan(folded: string, hit: Hit): void {
    const { symbolOf, columns, firstDigit, base } = this.#alphabet
    const next = this.#next
    const length = folded.length
    let state = 0
    let wordEnd = -1
    for (let i = 0; i < length; i++) {
      const symbol = symbolOf[folded.charCodeAt(i)]!
      if (symbol < columns) {
        state = next[state + symbol]!
      } else {
        const rank = symbol - columns
        state = plain(next[state + firstDigit + (rank % base)]!)
        state = plain(next[state + firstDigit + base + (Math.trunc(rank / base) % base)]!)
        state = next[state + firstDigit + 2 * base + Math.trunc(rank / (base * base))]!
      }
      if (state >= 0) continue
      state = ~state
      const { id, size, edges, after } = this.#hits
      for (let s = state / columns; s >= 0; s = this.#shorter[s]!) {
        for (let h = this.#firstHit[s]!; h >= 0; h = after[h]!) {
          const edge = edges[h]!
          let to = edge & ENDS_WITH_SPACE ? i : i + 1
          if (edge & ANY_ENDING) {
            if (wordEnd <= i) wordEnd = folded.indexOf(' ', i + 1)
            if (wordEnd < 0) wordEnd = length
            to = wordEnd
          }
          hit(id[h]!, i + 1 - size[h]! + (edge & STARTS_WITH_SPACE), to)
        }
      }
    }
  }
}

const STARTS_WITH_SPACE = 1
const ENDS_WITH_SPACE = 2
const ANY_ENDING = 4

/** What each state reports, as lists over parallel arrays. */
interface Hits {
  id: Int32Array
  /** Length in units, spaces at the edges included. */
  size: Int32Array
  edges: Uint8Array
  after: Int32Array
}

function plain(state: number): number {
  return state < 0 ? ~state : state
}

/** @throws RangeError where a phrase has no letter or digit: it would match everywhere */
export function compileAutomaton(patterns: readonly Pattern[]): Automaton {
  const edges = new Uint8Array(patterns.length)
  const words = patterns.map(({ phrase }, index) => {
    const bounded = withBoundaries(phrase)
    edges[index] = bounded.edges
    return bounded.text
  })
  const alphabet = alphabetOf(words)
  const { columns } = alphabet
  const encoded = words.map((word) => encode(word, alphabet))

  // Level by level, so that states are numbered by depth: those that ordinary text visits lie close together.
  const next = new Int32Array(countStates(encoded) * columns)
  let states = 1
  const at = new Int32Array(patterns.length)
  for (let depth = 0, open = true; open; depth++) {
    open = false
    for (let p = 0; p < encoded.length; p++) {
      const code = encoded[p]!
      if (depth >= code.length) continue
      open = true
      const cell = at[p]! * columns + code[depth]!
      if (next[cell] === 0) next[cell] = states++
      at[p] = next[cell]!
    }
  }

  const firstHit = new Int32Array(states).fill(-1)
  const hits: Hits = {
    id: Int32Array.from(patterns, ({ id }) => id),
    size: Int32Array.from(words, ({ length }) => length),
    edges,
    after: new Int32Array(patterns.length).fill(-1)
  }
  for (let p = patterns.length - 1; p >= 0; p--) {
    hits.after[p] = firstHit[at[p]!]!
    firstHit[at[p]!] = p
  }
  const shorter = complete(next, states, columns, firstHit)
  return new Automaton(alphabet, next, firstHit, shorter, hits)
}

/**
 * Turns the tree into the automaton in place: missing edges lead where the longest proper suffix leads.
 * @returns per state the longest proper suffix state that has hits, or -1
 */
function complete(next: Int32Array, states: number, columns: number, firstHit: Int32Array): Int32Array {
  const suffix = new Int32Array(states)
  const shorter = new Int32Array(states).fill(-1)
  for (let state = 0; state < states; state++) {
    const fallback = suffix[state]!
    if (state > 0) shorter[state] = firstHit[fallback]! >= 0 ? fallback : shorter[fallback]!
    for (let symbol = 0; symbol < columns; symbol++) {
      const cell = state * columns + symbol
      const elsewhere = state === 0 ? 0 : next[fallback * columns + symbol]!
      if (next[cell] === 0) next[cell] = elsewhere
      else suffix[next[cell]!] = elsewhere
    }
  }
  for (let cell = 0; cell < next.length; cell++) {
    const state = next[cell]!
    next[cell] = firstHit[state]! >= 0 || shorter[state]! >= 0 ? ~(state * columns) : state * columns
  }
  return shorter
}

function withBoundaries(phrase: string): { text: string; edges: number } {
  const prefix = phrase.endsWith('*')
  const words = (prefix ? phrase.slice(0, -1) : phrase).trim()
  if (words === '') throw new RangeError('a phrase needs at least one letter or digit')
  const openStart = isUnspaced(words.codePointAt(0)!)
  const last = words.charCodeAt(words.length - 1)
  const paired = last >= 0xdc00 && last <= 0xdfff && words.length > 1
  const openEnd = isUnspaced(words.codePointAt(words.length - (paired ? 2 : 1))!)
  let edges = openStart ? 0 : STARTS_WITH_SPACE
  if (prefix && !openEnd) edges |= ANY_ENDING
  else if (!openEnd) edges |= ENDS_WITH_SPACE
  return { text: `${openStart ? '' : ' '}${words}${edges & ENDS_WITH_SPACE ? ' ' : ''}`, edges }
}

function alphabetOf(words: readonly string[]): Alphabet {
  const used = new Uint8Array(65536)
  for (const word of words) for (let i = 0; i < word.length; i++) used[word.charCodeAt(i)] = 1
  const symbolOf = new Uint16Array(65536)
  let columns = 1
  const beyond: number[] = []
  for (let code = 0; code < 65536; code++) {
    if (used[code] === 0) continue
    if (code < 128) symbolOf[code] = columns++
    else beyond.push(code)
  }
  const firstDigit = columns
  if (beyond.length <= directBeyondAscii) {
    for (const code of beyond) symbolOf[code] = columns++
    return { symbolOf, columns, firstDigit: columns, base: 0 }
  }
  const base = Math.ceil(Math.cbrt(beyond.length))
  columns += 3 * base
  for (const [rank, code] of beyond.entries()) symbolOf[code] = columns + rank
  return { symbolOf, columns, firstDigit, base }
}

function encode(word: string, { symbolOf, columns, firstDigit, base }: Alphabet): number[] {
  const code: number[] = []
  for (let i = 0; i < word.length; i++) {
    const symbol = symbolOf[word.charCodeAt(i)]!
    if (symbol < columns) {
      code.push(symbol)
    } else {
      const rank = symbol - columns
      code.push(firstDigit + (rank % base))
      code.push(firstDigit + base + (Math.trunc(rank / base) % base))
      code.push(firstDigit + 2 * base + Math.trunc(rank / (base * base)))
    }
  }
  return code
}

/** States the tree will have: every symbol of every word that the word before it, in order, does not share. */
function countStates(encoded: readonly number[][]): number {
  const sorted = [...encoded].sort((a, b) => {
    for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
    return a.length - b.length
  })
  let states = 1
  let before: number[] = []
  for (const code of sorted) {
    let shared = 0
    while (shared < code.length && code[shared] === before[shared]) shared++
    states += code.length - shared
    before = code
  }
  return states
}
