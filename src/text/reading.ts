/** One view of a text: see `view.ts`. */
import { Folder, type Span } from './fold.js'
import type { KnownWords } from './known-words.js'
import type { Stretches } from './places.js'
import type { Rewritten, Trace } from './rewrite.js'
import { type Signs, signsOf } from './signs.js'
import type { View } from './view.js'

export class Reading implements View {
  readonly layer: string
  readonly text: string
  isEncoded = false
  /** What was decoded in it, by itself. */
  payload: Reading | undefined
  readonly #trace: Trace | undefined
  #folder: Folder | undefined
  #signs: Signs | undefined
  #unknown: Stretches | undefined

  /** @param trace maps to the original; undefined where `text` is the original */
  constructor(layer: string, text: string, trace?: Trace) {
    this.layer = layer
    this.text = text
    this.#trace = trace
  }

  get signs(): Signs {
    this.#signs ??= signsOf(this.text)
    return this.#signs
  }

  /** Where words are strange and unknown: see `KnownWords`. */
  unknownRuns(words: KnownWords): Stretches {
    const { strange } = this.signs.places
    this.#unknown ??= strange.length === 0 ? strange : words.unknownRuns(this.text, strange)
    return this.#unknown
  }

  get folded(): string {
    return this.#fold().toString()
  }

  foldedSpan(from: number, to: number): Span {
    const { start, end } = this.#fold().span(from, to)
    return this.textSpan(start, end)
  }

  #fold(): Folder {
    this.#folder ??= new Folder().fold(this.text)
    return this.#folder
  }

  textSpan(from: number, to: number): Span {
    if (this.#trace !== undefined) return this.#trace(from, to)
    const start = Math.min(Math.max(from, 0), this.text.length)
    return { start, end: Math.min(Math.max(to, start), this.text.length) }
  }

  /** A further reading of this one. */
  next(layer: string, { text, trace }: Rewritten): Reading {
    const name = this.layer === 'plain' ? layer : `${this.layer}+${layer}`
    return new Reading(name, text, (from, to) => {
      const { start, end } = trace(from, to)
      return this.textSpan(start, end)
    })
  }
}
