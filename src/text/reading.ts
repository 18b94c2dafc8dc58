/** One view of a text: see `view.ts`. */
import { Folder, type Span } from './fold.js'
import type { KnownWords } from './known-words.js'
import { layoutEdits } from './layout.js'
import { noiseRuns, opaqueRuns } from './opaque.js'
import type { Stretches } from './places.js'
import { Edits, type Rewritten, rewrite, type Trace } from './rewrite.js'
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
  #opaque: Stretches | undefined
  #noise: Stretches | undefined
  #layout: Edits | undefined

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

  get opaque(): Stretches {
    const { tokens } = this.signs.places
    this.#opaque ??= tokens.length === 0 ? tokens : opaqueRuns(this.text, tokens)
    return this.#opaque
  }

  get noise(): Stretches {
    const { tokens } = this.signs.places
    this.#noise ??= tokens.length === 0 ? tokens : noiseRuns(this.text, tokens)
    return this.#noise
  }

  /** What undoes marks that only set words apart. */
  get layout(): Edits {
    this.#layout ??= layoutEdits(this.text)
    return this.#layout
  }

  /** The same reading with a space for each run of noise: no view, but what views of disguised words are made from. */
  withoutNoise(): Reading {
    const { noise } = this
    if (noise.length === 0) return this
    const edits = new Edits()
    for (let i = 0; i < noise.length; i += 2) edits.add(noise[i]!, noise[i + 1]!, ' ')
    return this.#further(this.layer, rewrite(this.text, edits, this.text.length))
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
  next(layer: string, rewritten: Rewritten): Reading {
    return this.#further(this.layer === 'plain' ? layer : `${this.layer}+${layer}`, rewritten)
  }

  #further(name: string, { text, trace }: Rewritten): Reading {
    return new Reading(name, text, (from, to) => {
      const { start, end } = trace(from, to)
      return this.textSpan(start, end)
    })
  }
}
