/**
 * The tokenizer: cuts words into the encoder's pieces in the most probable way (a unigram model from Hugging Face's
 * `tokenizer.json`). Our own code, since each piece needs its place in the text, and since the cost must depend on the
 * length alone: a piece has at most `longest` units, so no unit is visited more often.
 */
import { legible } from './legible.js'
import { Normaliser, WORD } from './normalise.js'

/** Pieces of a text, in order. */
export interface Cut {
  ids: Int32Array<ArrayBuffer>
  /** Where each begins in the text. */
  starts: Uint32Array<ArrayBuffer>
}

/** Settings that a `tokenizer.json` must have to match this implementation. */
const normaliser = {
  type: 'Sequence',
  normalizers: [
    replace('[\\x00-\\x08\\x0e-\\x1f\\x7f\\x8f\\x9f]', ''),
    replace('[ \\t\\f\\u00a0\\r]*\\n[\\s\\u200b-\\u200f\\ufeff]*', ' ↵ '),
    replace('[\\s\\u200b-\\u200f\\u2028\\u2029\\u2581\\ufeff\\ufffd]', ' '),
    { type: 'NFKC' },
    replace(' +', ' '),
    { type: 'Strip', strip_left: true, strip_right: true }
  ]
}
/** Cost of an unknown character above that of the least probable piece. */
const unknownPenalty = 10

function replace(regex: string, content: string) {
  return { type: 'Replace', pattern: { Regex: regex }, content }
}

interface TokenizerFile {
  normalizer?: unknown
  pre_tokenizer?: { type?: unknown; prepend_scheme?: unknown; split?: unknown }
  added_tokens?: unknown[]
  model?: { type?: unknown; unk_id?: unknown; byte_fallback?: unknown; vocab?: unknown }
}

/** @param json a `tokenizer.json` @throws an Error that names the setting that this program does not support */
export function readPieces(json: string): Pieces {
  const file = JSON.parse(json) as TokenizerFile
  const { model, pre_tokenizer: words } = file
  const check = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`${what} is not one that this version cuts by`)
  }
  check(JSON.stringify(file.normalizer) === JSON.stringify(normaliser), 'normalizer')
  check(words?.type === 'Metaspace' && words.prepend_scheme === 'always' && words.split === true, 'pre_tokenizer')
  check(file.added_tokens?.length === 0, 'added_tokens')
  check(model?.type === 'Unigram' && model.byte_fallback === false && Array.isArray(model.vocab), 'model')
  return new Pieces(model!.vocab as [string, number][], model!.unk_id as number)
}

export class Pieces {
  /** By number. */
  readonly #scores: Float64Array
  readonly #unknown: number
  readonly #unknownScore: number
  /** The letters of the pieces as a tree: from the root by unit, from elsewhere by a hash of node and unit. */
  readonly #first = new Int32Array(65536)
  readonly #from: Int32Array
  readonly #unit: Uint16Array
  readonly #to: Int32Array
  readonly #shift: number
  /** By node, which piece ends there; -1: none. */
  #ends = new Int32Array(1 << 16).fill(-1)
  #nodes = 1
  readonly #normaliser = new Normaliser()
  // For one word: by place, the best path to it.
  #best = new Float64Array(0)
  #begun = new Int32Array(0)
  #piece = new Int32Array(0)
  #ids = new Int32Array(0)
  #starts = new Uint32Array(0)

  /** @param vocabulary pieces and the logarithm of how probable each is, by number */
  constructor(vocabulary: readonly (readonly [string, number])[], unknown: number) {
    const units = vocabulary.reduce((sum, [text]) => sum + text.length, 0)
    const bits = Math.max(4, Math.ceil(Math.log2(units * 1.5)))
    this.#shift = 32 - bits
    this.#from = new Int32Array(1 << bits)
    this.#unit = new Uint16Array(1 << bits)
    this.#to = new Int32Array(1 << bits)
    this.#scores = Float64Array.from(vocabulary, ([, score]) => score)
    this.#unknown = unknown
    this.#unknownScore = this.#scores.reduce((least, score) => Math.min(least, score), 0) - unknownPenalty
    for (const [id, [text]] of vocabulary.entries()) this.#add(text, id)
  }

  get size(): number {
    return this.#scores.length
  }

  #add(text: string, id: number): void {
    let node = 0
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      const next = this.#step(node, unit)
      node = next === 0 ? this.#grow(node, unit) : next
    }
    this.#ends[node] = id
  }

  #grow(node: number, unit: number): number {
    const next = this.#nodes++
    if (next === this.#ends.length) {
      const ends = new Int32Array(next * 2).fill(-1)
      ends.set(this.#ends)
      this.#ends = ends
    }
    if (node === 0) this.#first[unit] = next
    else {
      const slot = this.#slot(node, unit)
      this.#from[slot] = node
      this.#unit[slot] = unit
      this.#to[slot] = next
    }
    return next
  }

  /** 0: there is none. */
  #step(node: number, unit: number): number {
    return node === 0 ? this.#first[unit]! : this.#to[this.#slot(node, unit)]!
  }

  /** Slot of the step in the hash table, used or free. The table is never more than two thirds full. */
  #slot(node: number, unit: number): number {
    const mask = this.#from.length - 1
    let slot = Math.imul(Math.imul(node, 0x9e3779b1) ^ unit, 0x85ebca6b) >>> this.#shift
    while (this.#to[slot] !== 0 && (this.#from[slot] !== node || this.#unit[slot] !== unit)) slot = (slot + 1) & mask
    return slot
  }

  /** @param continues whether the text goes on in the middle of a word */
  cut(text: string, continues = false): Cut {
    const read = legible(text)
    this.#normaliser.read(read.text, continues)
    const { units, places, length } = this.#normaliser
    this.#fit(length + 1)
    let count = 0
    for (let start = 0; start < length; ) {
      let end = start + 1
      while (end < length && units[end] !== WORD) end++
      count = this.#cutWord(start, end, count)
      start = end
    }
    const starts = new Uint32Array(count)
    for (let i = 0; i < count; i++) {
      const at = this.#starts[i]!
      const next = i + 1 < count ? this.#starts[i + 1]! : length
      // A word begins at its first letter, not at the space before.
      const place = places[units[at] === WORD && at + 1 < next ? at + 1 : at]!
      starts[i] = read.places?.[place] ?? place
    }
    return { ids: this.#ids.slice(0, count), starts }
  }

  /** @returns how many pieces there are now */
  #cutWord(from: number, to: number, count: number): number {
    const { units } = this.#normaliser
    const best = this.#best
    const begun = this.#begun
    const piece = this.#piece
    const ends = this.#ends
    const reach = (end: number, start: number, id: number, score: number) => {
      if (begun[end] !== -1 && score <= best[end]!) return
      best[end] = score
      begun[end] = start
      piece[end] = id
    }
    begun.fill(-1, from, to + 1)
    best[from] = 0
    for (let start = from; start < to; ) {
      const isPair = (units[start]! & 0xfc00) === 0xd800 && start + 1 < to
      const next = start + (isPair ? 2 : 1)
      const sofar = best[start]!
      let isKnown = false
      let node = 0
      for (let end = start; end < to; ) {
        node = this.#step(node, units[end++]!)
        if (node === 0) break
        const id = ends[node]!
        if (id === -1) continue
        reach(end, start, id, sofar + this.#scores[id]!)
        if (end === next) isKnown = true
      }
      if (!isKnown) reach(next, start, this.#unknown, sofar + this.#unknownScore)
      start = next
    }
    // Backwards, then turned round; unknown characters in a row are one piece.
    let last = count
    for (let end = to; end > from; end = begun[end]!) {
      const id = piece[end]!
      if (id === this.#unknown && last > count && this.#ids[last - 1] === id) last--
      this.#ids[last] = id
      this.#starts[last++] = begun[end]!
    }
    this.#ids.subarray(count, last).reverse()
    this.#starts.subarray(count, last).reverse()
    return last
  }

  #fit(size: number): void {
    if (size <= this.#best.length) return
    const most = Math.max(size, this.#best.length * 2)
    this.#best = new Float64Array(most)
    this.#begun = new Int32Array(most)
    this.#piece = new Int32Array(most)
    this.#ids = new Int32Array(most)
    this.#starts = new Uint32Array(most)
  }
}
