/** One view of a text: see `view.ts`. */
import { FoldMap, foldText, type Span } from './fold.js'
import type { Rewritten, Trace } from './rewrite.js'
import type { View } from './view.js'

export class Reading implements View {
  readonly layer: string
  readonly text: string
  readonly #trace: Trace | undefined
  #folded: string | undefined
  #map: FoldMap | undefined

  /** @param trace leads to the original; undefined where `text` is the original */
  constructor(layer: string, text: string, trace?: Trace) {
    this.layer = layer
    this.text = text
    this.#trace = trace
  }

  get folded(): string {
    this.#folded ??= foldText(this.text)
    return this.#folded
  }

  foldedSpan(from: number, to: number): Span {
    this.#map ??= new FoldMap(this.text)
    const { start, end } = this.#map.span(from, to)
    return this.textSpan(start, end)
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
