/**
 * Many phrases in one pass over characters: Aho and Corasick (1975) as a complete automaton over typed arrays, for phrases
 * with characters of scripts without spaces, which no row of words can stand for (`phrases.ts` takes the others). The cost
 * of a scan is at most one table look-up a character, flat in the number of phrases; it allocates nothing.
 */
import { type Alphabet, alphabetOf, encode } from './alphabet.js'
import { isUnspaced, SPACE } from './characters.js'
import type { FoldedText, HitList, Pattern } from './hit-list.js'

/** No script without spaces comes before Thai. */
const firstUnspaced = 0xe00

export class Automaton {
  readonly #alphabet: Alphabet
  /** Next state by state (a multiple of `columns`) plus column; stored as its complement where the state has hits. */
  readonly #next: Int32Array
  readonly #firstHit: Int32Array
  readonly #shorter: Int32Array
  readonly #hits: Hits
  /** The state after a space with which nothing is under way. */
  readonly #atSpace: number

  /** Built by `compileAutomaton`. */
  constructor(
    alphabet: Alphabet,
    atSpace: number,
    next: Int32Array,
    firstHit: Int32Array,
    shorter: Int32Array,
    hits: Hits
  ) {
    this.#alphabet = alphabet
    this.#atSpace = atSpace
    this.#next = next
    this.#firstHit = firstHit
    this.#shorter = shorter
    this.#hits = hits
  }

  /** Adds every occurrence of every phrase, overlapping ones too, in order of their last character. */
  scan({ units, spaces, words }: FoldedText, found: HitList): void {
    const { symbolOf, columns } = this.#alphabet
    const next = this.#next
    const atSpace = this.#atSpace
    let state = atSpace
    for (let word = 0; word < words; word++) {
      const before = spaces[word]!
      const end = spaces[word + 1]!
      const first = units[before + 1]!
      // A phrase in a script without spaces begins anywhere in a word of one.
      const isWhole = first < firstUnspaced
      for (let i = before + 1; i <= end; i++) {
        const symbol = symbolOf[units[i]!]!
        state = symbol < columns ? next[state + symbol]! : this.#digits(state, symbol - columns)
        if (state > 0) continue
        if (state < 0) {
          state = ~state
          this.#report(state / columns, i, end, found)
        } else if (isWhole) {
          // No phrase goes on here; the next may begin after this word.
          state = atSpace
          break
        }
      }
    }
  }

  /** The state after a character that is written in three digits. */
  #digits(state: number, rank: number): number {
    const { firstDigit, base } = this.#alphabet
    const next = this.#next
    let after = plain(next[state + firstDigit + (rank % base)]!)
    after = plain(next[after + firstDigit + base + (Math.trunc(rank / base) % base)]!)
    return next[after + firstDigit + 2 * base + Math.trunc(rank / (base * base))]!
  }

  /** @param i the last character read, @param wordEnd the space after the word that it stands in or ends */
  #report(state: number, i: number, wordEnd: number, found: HitList): void {
    const { id, size, edges, after } = this.#hits
    for (let s = state; s >= 0; s = this.#shorter[s]!) {
      for (let h = this.#firstHit[s]!; h >= 0; h = after[h]!) {
        const edge = edges[h]!
        const to = edge & ANY_ENDING ? wordEnd : edge & ENDS_WITH_SPACE ? i : i + 1
        found.add(id[h]!, i + 1 - size[h]! + (edge & STARTS_WITH_SPACE), to)
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
  const atSpace = next[alphabet.symbolOf[SPACE]!]!
  return new Automaton(alphabet, atSpace, next, firstHit, shorter, hits)
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
