/** Counts features by their hash in typed arrays: millions of keys would not fit a Map comfortably. */
export class Counter {
  #keys: Int32Array
  #counts: Int32Array
  /** The first source that a key was met in, or -2 when there were several. */
  #sources: Int16Array
  #mask: number
  size = 0

  constructor(bits = 20) {
    this.#keys = new Int32Array(1 << bits)
    this.#counts = new Int32Array(1 << bits)
    this.#sources = new Int16Array(1 << bits)
    this.#mask = (1 << bits) - 1
  }

  add(key: number, source: number, by = 1): void {
    if (this.size * 2 > this.#mask) this.#grow()
    const i = this.#place(key)
    if (this.#counts[i] === 0) {
      this.#keys[i] = key
      this.#sources[i] = source
      this.size++
    } else if (this.#sources[i] !== source) {
      this.#sources[i] = -2
    }
    this.#counts[i]! += by
  }

  /** Keys counted at least so often, those of several sources first, then the most frequent; a fixed order. */
  ranked(least: number): number[] {
    const places: number[] = []
    for (let i = 0; i <= this.#mask; i++) if (this.#counts[i]! >= least) places.push(i)
    const several = (i: number) => (this.#sources[i] === -2 ? 1 : 0)
    places.sort(
      (a, b) => several(b) - several(a) || this.#counts[b]! - this.#counts[a]! || this.#keys[a]! - this.#keys[b]!
    )
    return places.map((i) => this.#keys[i]!)
  }

  #place(key: number): number {
    let i = Math.imul(key, 0x9e3779b1) & this.#mask
    while (this.#counts[i] !== 0 && this.#keys[i] !== key) i = (i + 1) & this.#mask
    return i
  }

  #grow(): void {
    const [keys, counts, sources] = [this.#keys, this.#counts, this.#sources]
    const size = keys.length * 2
    this.#mask = size - 1
    this.#keys = new Int32Array(size)
    this.#counts = new Int32Array(size)
    this.#sources = new Int16Array(size)
    for (let i = 0; i < keys.length; i++) {
      if (counts[i] === 0) continue
      const place = this.#place(keys[i]!)
      this.#keys[place] = keys[i]!
      this.#counts[place] = counts[i]!
      this.#sources[place] = sources[i]!
    }
  }
}
