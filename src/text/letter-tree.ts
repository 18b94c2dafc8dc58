/**
 * A tree of words in the letters a to z, two numbers a node. Nodes are numbered level by level, so that the children of
 * a node are consecutive: a bit set holds their letters, and one number the first child. A table of all 26 letters for
 * each node would take thirteen times the memory.
 */

export const letters = 26

export class LetterTree {
  /** By node: the letters that go on, and the node that the first of them leads to. */
  readonly #edges: Int32Array

  /** @param words of the letters a to z alone */
  constructor(words: Iterable<string>) {
    // As a table first: every letter of every word may need a node, and pages that none needs are never touched.
    const all = [...words]
    const next = new Int32Array(all.reduce((sum, { length }) => sum + length, 1) * letters)
    let nodes = 1
    for (const word of all) {
      let node = 0
      for (let i = 0; i < word.length; i++) {
        const cell = node * letters + word.charCodeAt(i) - 97
        if (next[cell] === 0) next[cell] = nodes++
        node = next[cell]!
      }
    }
    this.#edges = new Int32Array(nodes * 2)
    const order = new Int32Array(nodes)
    for (let node = 0, numbered = 1; node < nodes; node++) {
      const first = order[node]! * letters
      this.#edges[node * 2 + 1] = numbered
      for (let letter = 0; letter < letters; letter++) {
        if (next[first + letter] === 0) continue
        this.#edges[node * 2]! |= 1 << letter
        order[numbered++] = next[first + letter]!
      }
    }
  }

  /** Nodes are 0, where words begin, to one less than this. */
  get size(): number {
    return this.#edges.length / 2
  }

  /** @param letter 0 to 25. @returns the node after one more letter, or 0 where no word goes on */
  step(node: number, letter: number): number {
    const going = this.#edges[node * 2]!
    const bit = 1 << letter
    return (going & bit) === 0 ? 0 : this.#edges[node * 2 + 1]! + bitsIn(going & (bit - 1))
  }

  /** @returns the node at which a word of the tree ends */
  endOf(word: string): number {
    let node = 0
    for (let i = 0; i < word.length; i++) node = this.step(node, word.charCodeAt(i) - 97)
    return node
  }
}

/** How many bits of a number are set (Warren, Hacker's Delight, section 5-1). */
function bitsIn(number: number): number {
  let bits = number - ((number >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
