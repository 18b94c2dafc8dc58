/**
 * Finds literal texts in one pass over UTF-16 units: the automaton of Aho and Corasick (1975) over typed arrays, for
 * texts that are read as they are written; phrases of words have `phrases.ts`. The cost of a scan is one table look-up
 * a unit, whatever the number of literals.
 */

/** @param index of the literal, @param end the unit after it */
export type Report = (index: number, end: number) => void

export class LiteralScanner {
  /** Per unit its column; 0 for those of no literal. */
  readonly #columnOf = new Uint8Array(1 << 16)
  readonly #columns: number
  /** Next state by state (a multiple of the columns) plus column; stored as its complement where literals end. */
  readonly #next: Int32Array
  /** Per state the first of its literals, in `#literal` and `#after`; -1 for none. */
  readonly #first: Int32Array
  readonly #literal: Int32Array
  readonly #after: Int32Array

  /**
   * @param literals of at most 255 different characters
   * @param variants what else counts as a character of a literal
   */
  constructor(literals: readonly string[], variants: (character: string) => string = () => '') {
    const units = [...new Set(literals.join('').split(''))].sort()
    for (const [i, unit] of units.entries())
      for (const each of `${variants(unit)}${unit}`) this.#columnOf[each.charCodeAt(0)] = i + 1
    const columns = units.length + 1
    this.#columns = columns
    const tree: number[] = new Array(columns).fill(0)
    const own: number[][] = [[]]
    for (const [index, literal] of literals.entries()) {
      let state = 0
      for (let i = 0; i < literal.length; i++) {
        const cell = state * columns + this.#columnOf[literal.charCodeAt(i)]!
        if (tree[cell] === 0) {
          tree[cell] = own.length
          own.push([])
          for (let column = 0; column < columns; column++) tree.push(0)
        }
        state = tree[cell]!
      }
      own[state]!.push(index)
    }
    complete(tree, own, columns)
    this.#next = Int32Array.from(tree, (state) => (own[state]!.length > 0 ? ~(state * columns) : state * columns))
    this.#first = new Int32Array(own.length).fill(-1)
    const [listed, after]: [number[], number[]] = [[], []]
    for (const [state, list] of own.entries()) {
      for (const index of list) {
        after.push(this.#first[state]!)
        this.#first[state] = listed.length
        listed.push(index)
      }
    }
    this.#literal = Int32Array.from(listed)
    this.#after = Int32Array.from(after)
  }

  /** Every literal in [from, to), overlapping ones too, in order of their ends. */
  scan(units: Uint16Array, from: number, to: number, report: Report): void {
    const next = this.#next
    const columnOf = this.#columnOf
    let state = 0
    for (let i = from; i < to; i++) {
      state = next[state + columnOf[units[i]!]!]!
      if (state >= 0) continue
      state = ~state
      for (let hit = this.#first[state / this.#columns]!; hit >= 0; hit = this.#after[hit]!)
        report(this.#literal[hit]!, i + 1)
    }
  }
}

/** Fills in where a state leads that goes no further itself, and adds to each what ends there in a shorter one. */
function complete(tree: number[], own: number[][], columns: number): void {
  const suffix = new Int32Array(own.length)
  const queue = [0]
  for (const state of queue) {
    if (state > 0) own[state]!.push(...own[suffix[state]!]!)
    for (let column = 0; column < columns; column++) {
      const cell = state * columns + column
      const elsewhere = state === 0 ? 0 : tree[suffix[state]! * columns + column]!
      const next = tree[cell]!
      if (next === 0) tree[cell] = elsewhere
      else {
        suffix[next] = elsewhere
        queue.push(next)
      }
    }
  }
}
