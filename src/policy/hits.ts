/**
 * The phrase hits of one view, packed into reused typed arrays and chained by group, so that scanning allocates nothing.
 * Words are counted only when a rule asks how far apart two hits are.
 */
import type { Automaton } from '../text/automaton.js'
import type { Group, Policy } from './compile.js'

const space = 32

export class Hits {
  /** Groups that were hit in the present view. */
  readonly touched: Group[] = []
  /** Folded offsets of each hit, without the spaces around its words, in the order in which hits end. */
  from = new Int32Array(1024)
  to = new Int32Array(1024)
  count = 0
  readonly #groupStart: Int32Array
  readonly #groupList: Int32Array
  readonly #automaton: Automaton
  /** Chains of hits by group: first and last node of a group, then per node its hit and the next node. */
  readonly #head: Int32Array
  readonly #tail: Int32Array
  #nodeHit = new Int32Array(2048)
  #nodeNext = new Int32Array(2048)
  #nodes = 0
  #folded = ''
  readonly #lists = new Map<Group, number[]>()
  #words: { from: Int32Array; to: Int32Array } | undefined
  readonly #onHit: (id: number, from: number, to: number) => void

  constructor(policy: Policy) {
    this.#automaton = policy.automaton
    this.#groupStart = policy.groupStart
    this.#groupList = policy.groupList
    this.#head = new Int32Array(policy.groupCount).fill(-1)
    this.#tail = new Int32Array(policy.groupCount).fill(-1)
    this.#onHit = (id, from, to) => this.#add(id, from, to)
  }

  /** Forgets the view before and finds all hits in this one. */
  scan(folded: string): void {
    for (const group of this.touched) this.#head[group] = -1
    this.touched.length = 0
    this.count = 0
    this.#nodes = 0
    this.#folded = folded
    this.#words = undefined
    if (this.#lists.size > 0) this.#lists.clear()
    this.#automaton.scan(folded, this.#onHit)
  }

  has(group: Group): boolean {
    return this.#head[group] !== -1
  }

  /** Hits of a group in the order in which they end: `for (let n = first(g); n >= 0; n = next(n)) hitOf(n)`. */
  first(group: Group): number {
    return this.#head[group]!
  }
  next(node: number): number {
    return this.#nodeNext[node]!
  }
  hitOf(node: number): number {
    return this.#nodeHit[node]!
  }

  /** Index of a hit's first word. */
  wordFrom(hit: number): number {
    return this.#wordIndex().from[hit]!
  }
  /** Index of a hit's last word. */
  wordTo(hit: number): number {
    return this.#wordIndex().to[hit]!
  }

  /** Whether a hit of the group overlaps a folded range or lies within so many words of it. */
  isNear(group: Group, from: number, to: number, words: number): boolean {
    const list = this.#list(group)
    let low = 0
    let high = list.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.to[list[middle]!]! > from) high = middle
      else low = middle + 1
    }
    // Hits are sorted by their ends: the one before is the nearest on the left; on the right a longer one may start earlier.
    if (low > 0 && this.#spaces(this.to[list[low - 1]!]!, from, words) <= words) return true
    for (let i = low; i < list.length && i < low + 16; i++) {
      if (this.#spaces(to, this.from[list[i]!]!, words) <= words) return true
    }
    return false
  }

  /** The hits of a group as an array, made once per view. */
  #list(group: Group): readonly number[] {
    let list = this.#lists.get(group)
    if (list === undefined) {
      list = []
      for (let node = this.first(group); node >= 0; node = this.next(node)) list.push(this.hitOf(node))
      this.#lists.set(group, list)
    }
    return list
  }

  /** Spaces in a folded range, counted to one more than `limit`; 0 for an empty or inverted range. */
  #spaces(from: number, to: number, limit: number): number {
    // Scripts without spaces: so many characters are taken for too many words, which also bounds the walk.
    if (to - from > (limit + 1) * 40) return limit + 1
    let count = 0
    for (let i = from; i < to && count <= limit; i++) if (this.#folded.charCodeAt(i) === space) count++
    return count
  }

  #add(id: number, from: number, to: number): void {
    const hit = this.count
    if (hit === this.from.length) {
      this.from = grow(this.from)
      this.to = grow(this.to)
    }
    this.from[hit] = from
    this.to[hit] = to
    this.count++
    const end = this.#groupStart[id + 1]!
    for (let i = this.#groupStart[id]!; i < end; i++) this.#chain(this.#groupList[i]!, hit)
  }

  #chain(group: Group, hit: number): void {
    if (this.#nodes === this.#nodeHit.length) {
      this.#nodeHit = grow(this.#nodeHit)
      this.#nodeNext = grow(this.#nodeNext)
    }
    const node = this.#nodes++
    this.#nodeHit[node] = hit
    this.#nodeNext[node] = -1
    if (this.#head[group] === -1) {
      this.#head[group] = node
      this.touched.push(group)
    } else {
      this.#nodeNext[this.#tail[group]!] = node
    }
    this.#tail[group] = node
  }

  /** One walk over the text: words before each hit's end, less those within the hit. */
  #wordIndex(): { from: Int32Array; to: Int32Array } {
    if (this.#words !== undefined) return this.#words
    const words = { from: new Int32Array(this.count), to: new Int32Array(this.count) }
    let at = 0
    let seen = 0
    for (let hit = 0; hit < this.count; hit++) {
      const to = this.to[hit]!
      for (; at < to; at++) if (this.#folded.charCodeAt(at) === space) seen++
      let within = 0
      for (let i = this.from[hit]!; i < to; i++) if (this.#folded.charCodeAt(i) === space) within++
      words.to[hit] = seen
      words.from[hit] = seen - within
    }
    this.#words = words
    return words
  }
}

function grow(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2)
  larger.set(array)
  return larger
}
