/**
 * Beginnings of words as a trie in a double array (Aoe 1989): finding a child takes one addition and one comparison,
 * and the whole takes a few dozen kilobytes, which stay in the processor's cache.
 */

interface Node {
  children: Map<number, Node>
  number: number
  slot: number
}

const newNode = (): Node => ({ children: new Map(), number: -1, slot: 0 })

/** Per slot: where its children begin, the slot of its parent, and the number of the beginning that ends there, or -1. */
const fieldsPerSlot = 3

export class BeginningTrie {
  /** Letters of the longest beginning. */
  readonly longest: number
  readonly #symbolOf = new Uint16Array(65536)
  readonly #slots: Int32Array

  constructor(beginnings: ReadonlyMap<string, number>) {
    const root = newNode()
    let symbols = 0
    let longest = 0
    for (const [beginning, number] of beginnings) {
      let node = root
      for (let i = 0; i < beginning.length; i++) {
        const code = beginning.charCodeAt(i)
        if (this.#symbolOf[code] === 0) this.#symbolOf[code] = ++symbols
        const symbol = this.#symbolOf[code]!
        const child = node.children.get(symbol) ?? newNode()
        node.children.set(symbol, child)
        node = child
      }
      node.number = number
      longest = Math.max(longest, beginning.length)
    }
    this.longest = longest
    this.#slots = place(root, symbols)
  }

  /** Adds to `found`, from `count` on, the numbers of the beginnings of the word at [from, to). @returns the count after it */
  read(units: Uint16Array, from: number, to: number, found: Int32Array, count: number): number {
    const slots = this.#slots
    const symbolOf = this.#symbolOf
    let after = count
    let slot = 0
    for (let i = from; i < to; i++) {
      // A letter that no beginning has is symbol 0, which is nobody's child.
      const next = (slots[slot]! + symbolOf[units[i]!]!) * fieldsPerSlot
      if (slots[next + 1] !== slot) break
      slot = next
      if (slots[slot + 2]! >= 0) found[after++] = slots[slot + 2]!
    }
    return after
  }
}

/** Gives every node its slot, level by level, so that those that ordinary text visits lie close together. */
function place(root: Node, symbols: number): Int32Array {
  const bases: number[] = [0]
  /** Of each slot, or undefined where it is free. The root is nobody's child. */
  const parents: (number | undefined)[] = [-1]
  let free = 1
  const nodes = [root]
  for (const node of nodes) {
    if (node.children.size === 0) continue
    const wanted = [...node.children.keys()].sort((a, b) => a - b)
    while (parents[free] !== undefined) free++
    let base = Math.max(0, free - wanted[0]!)
    while (wanted.some((symbol) => parents[base + symbol] !== undefined)) base++
    bases[node.slot] = base
    for (const [symbol, child] of node.children) {
      child.slot = base + symbol
      parents[child.slot] = node.slot
      nodes.push(child)
    }
  }
  // Room for a look-up from the last base with any symbol; a base is never beyond the last slot. A free slot has no parent.
  const size = parents.length + symbols + 1
  const slots = new Int32Array(size * fieldsPerSlot).fill(-1)
  for (const { slot, number } of nodes) {
    slots[slot * fieldsPerSlot] = bases[slot] ?? 0
    slots[slot * fieldsPerSlot + 1] = parents[slot]! * fieldsPerSlot
    slots[slot * fieldsPerSlot + 2] = number
  }
  // The root's parent is none: no look-up may take the root for a child.
  slots[1] = -1
  return slots
}
