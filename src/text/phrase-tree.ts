/** A tree of phrases as paths of words: follows every unfinished phrase word by word, without allocation. */
import type { HitList } from './hit-list.js'

const noNode = -1
/** Slots per edge of the table, so that most look-ups end at the first. */
const slotsPerEdge = 1.5
const bitsPerEdge = 8

export class PhraseTree {
  /** Per word number the node of the phrases that begin with it, or -1. */
  readonly #roots: Int32Array
  /** Open addressing: node, word and the node after, by threes; node -1 for a free slot. */
  readonly #edges: Int32Array
  readonly #mask: number
  /** One bit per edge, by its hash: nearly every pair of words that is no edge is told here, in the first-level cache. */
  readonly #filter: Uint32Array
  readonly #filterMask: number
  /** First phrase that ends at a node, or -1; then from phrase to phrase. */
  readonly #firstEnd: Int32Array
  readonly #hasMore: Uint8Array
  readonly #nextEnd: Int32Array
  readonly #ids: Int32Array
  /** Phrases under way: their node and the offset of their first word. */
  readonly #nodes: Int32Array
  readonly #starts: Int32Array
  #underWay = 0

  /** @param rows the word numbers of each phrase, @param words how many words are numbered */
  constructor(rows: readonly { row: readonly number[]; id: number }[], words: number) {
    const roots = new Int32Array(words).fill(noNode)
    const children: Map<number, number>[] = []
    const ends: number[][] = []
    const add = () => {
      ends.push([])
      return children.push(new Map()) - 1
    }
    let longest = 1
    for (const [index, { row }] of rows.entries()) {
      longest = Math.max(longest, row.length)
      let node = roots[row[0]!]!
      if (node === noNode) {
        node = add()
        roots[row[0]!] = node
      }
      for (const word of row.slice(1)) {
        const known = children[node]!.get(word)
        const child: number = known ?? add()
        if (known === undefined) children[node]!.set(word, child)
        node = child
      }
      ends[node]!.push(index)
    }
    this.#roots = roots
    this.#ids = Int32Array.from(rows, ({ id }) => id)
    this.#firstEnd = Int32Array.from(ends, (list) => list[0] ?? -1)
    this.#nextEnd = new Int32Array(rows.length).fill(-1)
    for (const list of ends) for (let i = 1; i < list.length; i++) this.#nextEnd[list[i - 1]!] = list[i]!
    this.#hasMore = Uint8Array.from(children, ({ size }) => (size > 0 ? 1 : 0))
    const edges = children.reduce((sum, { size }) => sum + size, 0)
    const slots = powerFrom(edges * slotsPerEdge)
    this.#mask = slots - 1
    this.#edges = new Int32Array(3 * slots).fill(noNode)
    const bits = powerFrom(edges * bitsPerEdge)
    this.#filter = new Uint32Array(bits / 32)
    this.#filterMask = bits - 1
    for (const [node, map] of children.entries()) for (const [word, child] of map) this.#connect(node, word, child)
    // A word may be, besides itself, each of its beginnings; those end phrases, so that only one of them goes on.
    this.#nodes = new Int32Array(longest + 1)
    this.#starts = new Int32Array(longest + 1)
  }

  /** Where the oldest phrase under way begins, or -1. */
  get oldest(): number {
    return this.#underWay === 0 ? -1 : this.#starts[0]!
  }

  /** A word that is in no phrase: none is under way after it. */
  restart(): void {
    this.#underWay = 0
  }

  /**
   * The next word: the phrases that it completes are added, the longest first.
   * @param numbers the word and its beginnings, `count` of them; it stands at [start, end) of the folded text
   */
  advance(numbers: Int32Array, count: number, start: number, end: number, found: HitList): void {
    const nodes = this.#nodes
    const starts = this.#starts
    let kept = 0
    for (let i = 0; i < this.#underWay; i++) {
      const from = starts[i]!
      const node = nodes[i]!
      for (let n = 0; n < count; n++) {
        const next = this.#edge(node, numbers[n]!)
        if (next === noNode) continue
        this.#report(next, from, end, found)
        if (this.#hasMore[next] === 0) continue
        nodes[kept] = next
        starts[kept++] = from
      }
    }
    for (let n = 0; n < count; n++) {
      const next = this.#roots[numbers[n]!]!
      if (next === noNode) continue
      this.#report(next, start, end, found)
      if (this.#hasMore[next] === 0) continue
      nodes[kept] = next
      starts[kept++] = start
    }
    this.#underWay = kept
  }

  #report(node: number, from: number, to: number, found: HitList): void {
    for (let e = this.#firstEnd[node]!; e >= 0; e = this.#nextEnd[e]!) found.add(this.#ids[e]!, from, to)
  }

  #edge(node: number, word: number): number {
    const hash = hashEdge(node, word)
    const bit = hash & this.#filterMask
    if (((this.#filter[bit >> 5]! >>> (bit & 31)) & 1) === 0) return noNode
    const edges = this.#edges
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = 3 * slot
      if (edges[at] === node && edges[at + 1] === word) return edges[at + 2]!
      if (edges[at] === noNode) return noNode
    }
  }

  #connect(node: number, word: number, child: number): void {
    const hash = hashEdge(node, word)
    const bit = hash & this.#filterMask
    this.#filter[bit >> 5]! |= 1 << (bit & 31)
    let slot = hash & this.#mask
    while (this.#edges[3 * slot] !== noNode) slot = (slot + 1) & this.#mask
    this.#edges.set([node, word, child], 3 * slot)
  }
}

function hashEdge(node: number, word: number): number {
  const mixed = Math.imul(node, 0x9e3779b1) ^ Math.imul(word, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

/** The least power of two, from 32 on, that is no less. */
function powerFrom(least: number): number {
  let power = 32
  while (power < least) power *= 2
  return power
}
