/** Occurrences of phrases in a folded text, in typed arrays that are reused and grow: a scan allocates nothing. */

export interface Pattern {
  /** Folded (`foldPhrase`); a `*` at its end means any ending of its last word. */
  phrase: string
  id: number
}

/** The result of a folding: see `Folder`. */
export interface FoldedText {
  readonly units: Uint16Array
  /** Where the space before each word stands, and after the last the space at the end. */
  readonly spaces: Int32Array
  readonly words: number
  /** The bytes of `units`, with room to read past the end of the last word: see `word-hash.ts`. */
  readonly view: DataView
  /** Whether a word of a script without spaces may be among them. */
  readonly hasUnspaced: boolean
}

export class HitList {
  count = 0
  id = new Int32Array(1024)
  /** Offsets into the folded text, without the spaces around the words. */
  from = new Int32Array(1024)
  to = new Int32Array(1024)

  add(id: number, from: number, to: number): void {
    const at = this.count
    if (at === this.id.length) {
      this.id = grow(this.id)
      this.from = grow(this.from)
      this.to = grow(this.to)
    }
    this.id[at] = id
    this.from[at] = from
    this.to[at] = to
    this.count = at + 1
  }

  /** Takes in the hits of two lists that are in order of their ends, and is in that order too. */
  merge(one: HitList, other: HitList): void {
    let a = 0
    let b = 0
    while (a < one.count || b < other.count) {
      const isOne = b === other.count || (a < one.count && one.to[a]! <= other.to[b]!)
      const list = isOne ? one : other
      const at = isOne ? a++ : b++
      this.add(list.id[at]!, list.from[at]!, list.to[at]!)
    }
  }
}

/** The same array with twice the room. */
export function grow(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2)
  larger.set(array)
  return larger
}
