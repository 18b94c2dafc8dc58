/**
 * The table of known features: an open hash table of 16-bit tags, with two places for each feature in one pair of
 * neighbours. The place of a tag is the number of its row of weights. Unknown features are not found (except one in
 * some 20,000), so that they do not borrow weights of known ones.
 */
export class FeatureTable {
  readonly tags: Uint16Array
  /** The row after the last. */
  readonly none: number
  readonly #mask: number

  /** @param tags a power of two of them; 0 marks an empty place */
  constructor(tags: Uint16Array) {
    this.tags = tags
    this.none = tags.length
    this.#mask = tags.length - 1
  }

  /** @returns the row, or -1 */
  find(feature: number): number {
    const { tags } = this
    const place = feature & this.#mask
    const tag = tagOf(feature)
    if (tags[place] === tag) return place
    return tags[place ^ 1] === tag ? place ^ 1 : -1
  }

  /**
   * Puts the row of each of `count` features in its place, `none` where there is none. Branch-free, since hits are
   * unpredictable and the processor can then fetch many tags in parallel.
   */
  findAll(features: Int32Array, count: number): void {
    const { tags, none } = this
    const mask = this.#mask
    for (let i = 0; i < count; i++) {
      const feature = features[i]!
      const tag = tagOf(feature)
      const place = feature & mask
      // All bits are set if the tag is here, else none.
      const isHere = ((tags[place]! ^ tag) - 1) >> 31
      const isBeside = (((tags[place ^ 1]! ^ tag) - 1) >> 31) & ~isHere
      features[i] = (place & isHere) | ((place ^ 1) & isBeside) | (none & ~(isHere | isBeside))
    }
  }

  /** @returns the row, or -1 where both places are taken */
  add(feature: number): number {
    const known = this.find(feature)
    if (known >= 0) return known
    const place = feature & this.#mask
    for (const row of [place, place ^ 1]) {
      if (this.tags[row] !== 0) continue
      this.tags[row] = tagOf(feature)
      return row
    }
    return -1
  }
}

function tagOf(feature: number): number {
  return feature >>> 16 || 1
}
