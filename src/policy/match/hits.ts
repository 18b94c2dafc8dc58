/**
 * The phrase hits of one view, packed into reused typed arrays and chained by group, so that scanning allocates nothing.
 * Words are counted only when a rule asks how far apart two hits are.
 */
import { SPACE } from '../../text/characters.js'
import { Folder, type Span } from '../../text/fold.js'
import { grow, HitList } from '../../text/hit-list.js'
import type { Phrases } from '../../text/phrases.js'
import { sentenceEnds } from '../../text/sentence.js'
import type { Group, Policy } from './compile.js'

export class Hits {
  /** Key groups of clauses that were hit in the present view: the first `touchedCount`, in the order of their first hits. */
  readonly touched: Int32Array
  touchedCount = 0
  readonly #groupStart: Int32Array
  readonly #groupList: Int32Array
  readonly #isKey: Uint8Array
  readonly #phrases: Phrases
  readonly #folder = new Folder()
  /** In the order in which hits end. */
  readonly #found = new HitList()
  /** Per group the view in which it was hit last; views are counted, so that nothing is cleared between them. */
  readonly #hitIn: Int32Array
  #view = 0
  /**
   * Chains of hits by group: first and last node of a group, then per node its hit and the next node. Built on demand.
   */
  readonly #head: Int32Array
  readonly #tail: Int32Array
  #nodeHit = new Int32Array(4096)
  #nodeNext = new Int32Array(4096)
  #isChained = false
  readonly #lists = new Map<Group, number[]>()
  #words: { from: Int32Array; to: Int32Array } | undefined
  #text = ''
  #ends: number[] | undefined

  constructor(policy: Policy) {
    this.#phrases = policy.phrases
    this.#groupStart = policy.groupStart
    this.#groupList = policy.groupList
    this.#isKey = Uint8Array.from(policy.clausesOf, (clauses) => (clauses.length > 0 ? 1 : 0))
    this.touched = new Int32Array(policy.groupCount)
    this.#hitIn = new Int32Array(policy.groupCount).fill(-1)
    this.#head = new Int32Array(policy.groupCount)
    this.#tail = new Int32Array(policy.groupCount)
  }

  /** The view as it was folded for matching, good until the next scan. */
  get folded(): Folder {
    return this.#folder
  }

  get count(): number {
    return this.#found.count
  }
  /** The phrase of each hit. */
  get id(): Int32Array {
    return this.#found.id
  }
  /** Folded offsets of each hit, without the spaces around its words. */
  get from(): Int32Array {
    return this.#found.from
  }
  get to(): Int32Array {
    return this.#found.to
  }
  /** Replaces the last view, and finds all hits in the folded text of this one. */
  scan(text: string): void {
    this.#found.count = 0
    this.#words = undefined
    this.#ends = undefined
    this.#text = text
    this.#isChained = false
    if (this.#lists.size > 0) this.#lists.clear()
    this.#phrases.scan(this.#folder.fold(text), this.#found)
    this.#mark()
  }

  #mark(): void {
    const { id, count } = this.#found
    const groupStart = this.#groupStart
    const groupList = this.#groupList
    const hitIn = this.#hitIn
    const isKey = this.#isKey
    const { touched } = this
    const view = this.#nextView()
    let groups = 0
    for (let hit = 0; hit < count; hit++) {
      const end = groupStart[id[hit]! + 1]!
      for (let i = groupStart[id[hit]!]!; i < end; i++) {
        const group = groupList[i]!
        if (hitIn[group] === view) continue
        hitIn[group] = view
        touched[groups] = group
        groups += isKey[group]!
      }
    }
    this.touchedCount = groups
  }

  /** The number wraps once in two thousand million views. */
  #nextView(): number {
    if (this.#view === 0x7fff_ffff) {
      this.#hitIn.fill(-1)
      this.#view = 0
    }
    return ++this.#view
  }

  #chain(): void {
    const { id, count } = this.#found
    const groupStart = this.#groupStart
    const groupList = this.#groupList
    const head = this.#head.fill(-1)
    const tail = this.#tail
    let nodes = 0
    for (let hit = 0; hit < count; hit++) {
      const end = groupStart[id[hit]! + 1]!
      let i = groupStart[id[hit]!]!
      while (nodes + end - i > this.#nodeHit.length) {
        this.#nodeHit = grow(this.#nodeHit)
        this.#nodeNext = grow(this.#nodeNext)
      }
      for (; i < end; i++) {
        const group = groupList[i]!
        this.#nodeHit[nodes] = hit
        this.#nodeNext[nodes] = -1
        if (head[group] === -1) head[group] = nodes
        else this.#nodeNext[tail[group]!] = nodes
        tail[group] = nodes++
      }
    }
    this.#isChained = true
  }

  has(group: Group): boolean {
    return this.#hitIn[group] === this.#view
  }

  /** Whether each of the groups was hit. */
  hasAll(groups: Int32Array): boolean {
    const hitIn = this.#hitIn
    const view = this.#view
    for (let i = 0; i < groups.length; i++) if (hitIn[groups[i]!] !== view) return false
    return true
  }

  /** Hits of a group in the order in which they end: `for (let n = first(g); n >= 0; n = next(n)) hitOf(n)`. */
  first(group: Group): number {
    if (!this.#isChained) this.#chain()
    return this.#head[group]!
  }
  next(node: number): number {
    return this.#nodeNext[node]!
  }
  hitOf(node: number): number {
    return this.#nodeHit[node]!
  }

  /** The characters of the view behind folded offsets [from, to). */
  span(from: number, to: number): Span {
    return this.#folder.span(from, to)
  }

  /** The first folded offset that stands for `offset` of the view's text or for something after it. */
  foldedOffset(offset: number): number {
    return this.#folder.foldedOffset(offset)
  }

  /** Index of a hit's first word. */
  wordFrom(hit: number): number {
    return this.#wordIndex().from[hit]!
  }
  /** Index of a hit's last word. */
  wordTo(hit: number): number {
    return this.#wordIndex().to[hit]!
  }

  /** The words of the view outside a folded range. */
  wordsBeside(from: number, to: number): number {
    return this.#folder.words - 1 - this.#spaces(from, to, Number.POSITIVE_INFINITY)
  }

  /** Whether a sentence ends within a folded range, and another goes on in it. */
  spansSentences(from: number, to: number): boolean {
    this.#ends ??= sentenceEnds(this.#text)
    if (this.#ends.length === 0) return false
    const { start, end } = this.#folder.span(from, to)
    return firstAfter(this.#ends, start) < end
  }

  /** Whether a hit of the group overlaps a folded range or lies within so many words of it. */
  isNear(group: Group, from: number, to: number, words: number): boolean {
    const list = this.#list(group)
    const found = this.#found
    let low = 0
    let high = list.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (found.to[list[middle]!]! > from) high = middle
      else low = middle + 1
    }
    // Hits are sorted by their ends: the one before is the nearest on the left; on the right a longer one may start earlier.
    if (low > 0 && this.#spaces(found.to[list[low - 1]!]!, from, words) <= words) return true
    for (let i = low; i < list.length && i < low + 16; i++) {
      if (this.#spaces(to, found.from[list[i]!]!, words) <= words) return true
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
    // Scripts without spaces: this many characters count as too many words, which also bounds the walk.
    if (to - from > (limit + 1) * 40) return limit + 1
    const { units } = this.#folder
    let count = 0
    for (let i = from; i < to && count <= limit; i++) if (units[i] === SPACE) count++
    return count
  }

  /** One walk over the text: words before each hit's end, less those within the hit. */
  #wordIndex(): { from: Int32Array; to: Int32Array } {
    if (this.#words !== undefined) return this.#words
    const { from, to, count } = this.#found
    const { units, spaces } = this.#folder
    const words = { from: new Int32Array(count), to: new Int32Array(count) }
    let seen = 0
    for (let hit = 0; hit < count; hit++) {
      while (spaces[seen]! < to[hit]!) seen++
      let within = 0
      for (let i = from[hit]!; i < to[hit]!; i++) if (units[i] === SPACE) within++
      words.to[hit] = seen
      words.from[hit] = seen - within
    }
    this.#words = words
    return words
  }
}

/** The least of the numbers above `place`, or infinity. @param numbers from the least to the greatest */
function firstAfter(numbers: readonly number[], place: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! > place) high = middle
    else low = middle + 1
  }
  return numbers[low] ?? Number.POSITIVE_INFINITY
}
