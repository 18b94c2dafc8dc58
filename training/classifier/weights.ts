/** The weights that training moves, and the mean of several of them. */
import { WIDTH } from '../../src/classifier/lanes.js'
import { classes } from '../../src/classifier/windows.js'
import type { Dataset } from './dataset.js'

export interface Weights {
  /** By table row and lane. */
  words: Float32Array
  pairs: Float32Array
  /** By class of window and lane. */
  bias: Float32Array
}

export function emptyWeights(data: Pick<Dataset, 'wordTable' | 'pairTable'>): Weights {
  return {
    words: new Float32Array(data.wordTable.tags.length * WIDTH),
    pairs: new Float32Array(data.pairTable.tags.length * WIDTH),
    bias: new Float32Array(classes * WIDTH).fill(-2)
  }
}

export class WeightSum {
  readonly #sum: Weights
  #count = 0

  constructor(data: Pick<Dataset, 'wordTable' | 'pairTable'>) {
    this.#sum = emptyWeights(data)
    this.#sum.bias.fill(0)
  }

  add(weights: Weights): void {
    this.#count++
    for (const [to, from] of this.#pairs(weights)) for (let i = 0; i < to.length; i++) to[i]! += from[i]!
  }

  mean(): Weights {
    for (const list of Object.values(this.#sum) as Float32Array[]) {
      for (let i = 0; i < list.length; i++) list[i]! /= this.#count
    }
    return this.#sum
  }

  #pairs(weights: Weights): (readonly [Float32Array, Float32Array])[] {
    const { words, pairs, bias } = this.#sum
    return [
      [words, weights.words],
      [pairs, weights.pairs],
      [bias, weights.bias]
    ]
  }
}
