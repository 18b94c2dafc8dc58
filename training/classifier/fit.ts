/**
 * Logistic regression by stochastic gradient descent (AdaGrad: Duchi, Hazan, Singer 2011), all lanes at once. A text is a
 * bag of windows and scores what its strongest window scores, in training as in serving: of a harmful text the window
 * that shows it learns, of a harmless one the window that comes closest to looking harmful. That mines hard negatives
 * inside every long text, and lets one label stand for a page of which two lines earned it. A window of which most words
 * are unknown has no score, and nothing is learnt from it.
 */
import { UNKNOWN, WIDTH } from '../../src/classifier/lanes.js'
import { mostUnknown } from '../../src/classifier/scorer.js'
import { sigmoid } from '../../src/classifier/sigmoid.js'
import { Blocks, forEachWindow, noScore, scaleOf } from '../../src/classifier/windows.js'
import type { Dataset } from './dataset.js'
import { Random } from './random.js'
import { emptyWeights, WeightSum, type Weights } from './weights.js'

export interface FitOptions {
  seed: number
  epochs: number
  /** Step of the first epoch; later ones are shorter. */
  rate: number
  /** L2, per update. */
  decay: number
  /** By row: whether it is trained on, and how much it counts. */
  share: Float32Array
  /** By lane: how much more a positive counts. */
  positive: Float32Array
  progress?: (epoch: number, loss: number) => void
}

/** How much a run of letters, and a pair, weighs beside a whole word. */
export const gramValue = 0.35
export const pairValue = 0.8

/** Below this a row has been learnt. */
const leastGradient = 0.02

export function fit(data: Dataset, options: FitOptions): Weights {
  const { share, epochs, seed } = options
  const weights = emptyWeights(data)
  const trainer = new Trainer(data, weights, options)
  const random = new Random(seed)
  const order = Int32Array.from({ length: data.rows.length }, (_, i) => i).filter((i) => share[i]! > 0)
  const rest = new Uint8Array(data.rows.length)
  const sum = new WeightSum(data)
  for (let epoch = 0; epoch < epochs; epoch++) {
    random.shuffle(order)
    trainer.begin(options.rate / (1 + 0.5 * epoch))
    // A row that was learnt already is looked at every other time only.
    for (const row of order)
      if (rest[row] === 0 || (rest[row]! + epoch) % 2 === 0) rest[row] = trainer.step(row) ? 0 : 1 + (epoch % 2)
    if (epoch >= epochs - averaged) sum.add(weights)
    options.progress?.(epoch, trainer.loss / order.length)
  }
  return sum.mean()
}

/** The last so many epochs count alike: their mean depends less on the order of the rows than the last of them does (Polyak, Juditsky 1992). */
const averaged = 3

/** Scores and updates one row at a time, with buffers that it keeps. */
export class Trainer {
  readonly #data: Dataset
  readonly #weights: Weights
  readonly #options: FitOptions
  readonly #wordSquares: Float32Array
  readonly #pairSquares: Float32Array
  readonly #biasSquares: Float32Array
  readonly #blocks = new Blocks()
  #prefix = new Float64Array(WIDTH * 1024)
  #pull = new Float64Array(WIDTH * 1024)
  /** Lanes from which the present row learns. */
  readonly #active = new Int32Array(WIDTH)
  #activeCount = 0
  #rate = 0
  loss = 0
  /** By lane, of the row scored last: its strongest window; `noScore` where no window has one. */
  readonly score = new Float64Array(WIDTH)
  readonly from = new Int32Array(WIDTH)
  readonly to = new Int32Array(WIDTH)
  readonly kind = new Int32Array(WIDTH)

  constructor(data: Dataset, weights: Weights, options: FitOptions) {
    this.#data = data
    this.#weights = weights
    this.#options = options
    this.#wordSquares = new Float32Array(weights.words.length).fill(0.01)
    this.#pairSquares = new Float32Array(weights.pairs.length).fill(0.01)
    this.#biasSquares = new Float32Array(weights.bias.length).fill(1)
  }

  begin(rate: number): void {
    this.#rate = rate
    this.loss = 0
  }

  scoreRow(row: number): void {
    const { start, breakStart, breaks } = this.#data
    const first = start[row]!
    const count = start[row + 1]! - first
    this.#reserve(count)
    const blocks = this.#blocks
    blocks.cut(breaks, breakStart[row]!, breakStart[row + 1]!, 0, count)
    const { edges } = blocks
    const prefix = this.#prefix
    prefix.fill(0, 0, WIDTH)
    for (let i = 0; i < count; i++) this.#addWord(first + i, i)
    const { score, from, to, kind } = this
    score.fill(noScore)
    const bias = this.#weights.bias
    forEachWindow(blocks, (firstBlock, afterBlock, length, k) => {
      const [a, b] = [edges[firstBlock]!, edges[afterBlock]!]
      if (prefix[b * WIDTH + UNKNOWN]! - prefix[a * WIDTH + UNKNOWN]! > mostUnknown * length) return
      const scale = scaleOf(length)
      for (let lane = 0; lane < UNKNOWN; lane++) {
        const z = (prefix[b * WIDTH + lane]! - prefix[a * WIDTH + lane]!) * scale + bias[k * WIDTH + lane]!
        if (z <= score[lane]!) continue
        score[lane] = z
        from[lane] = a
        to[lane] = b
        kind[lane] = k
      }
    })
  }

  /** Prefix sums: what word `at` of the data adds, in place `i` of the text. */
  #addWord(at: number, i: number): void {
    const { word, pair, skip, opening, featureStart, features } = this.#data
    const { words, pairs } = this.#weights
    const prefix = this.#prefix
    const before = i * WIDTH
    const after = before + WIDTH
    for (let lane = 0; lane < WIDTH; lane++) prefix[after + lane] = prefix[before + lane]!
    const w = word[at]!
    const whole = featureStart[w]!
    const isUnknown = features[whole]! < 0
    if (isUnknown) prefix[after + UNKNOWN]! += 1
    for (let f = isUnknown ? whole + 1 : whole; f < featureStart[w + 1]!; f++) {
      const base = features[f]! * WIDTH
      const value = f === whole ? 1 : gramValue
      for (let lane = 0; lane < WIDTH; lane++) prefix[after + lane]! += words[base + lane]! * value
    }
    for (const row of [pair[at]!, skip[at]!, opening[at]!]) {
      if (row < 0) continue
      const base = row * WIDTH
      for (let lane = 0; lane < WIDTH; lane++) prefix[after + lane]! += pairs[base + lane]! * pairValue
    }
  }

  /** @returns false where the row taught nothing */
  step(row: number): boolean {
    const { start, value, weight } = this.#data
    const { share, positive } = this.#options
    const first = start[row]!
    const count = start[row + 1]! - first
    if (count === 0) return false
    this.scoreRow(row)
    const pull = this.#pull
    pull.fill(0, 0, count * WIDTH)
    let low = count
    let high = 0
    this.#activeCount = 0
    for (let lane = 0; lane < WIDTH; lane++) {
      const at = row * WIDTH + lane
      const target = value[at]!
      if (target < 0 || this.score[lane] === noScore) continue
      const p = sigmoid(this.score[lane]!)
      const gradient = (p - target) * weight[at]! * share[row]! * (target === 1 ? positive[lane]! : 1)
      this.loss += Math.abs(p - target)
      if (Math.abs(gradient) < leastGradient) continue
      const [a, b, k] = [this.from[lane]!, this.to[lane]!, this.kind[lane]!]
      const scale = scaleOf(b - a)
      for (let i = a; i < b; i++) pull[i * WIDTH + lane] = gradient * scale
      this.#active[this.#activeCount++] = lane
      low = Math.min(low, a)
      high = Math.max(high, b)
      this.#update(this.#weights.bias, this.#biasSquares, k * WIDTH + lane, gradient)
    }
    for (let i = low; i < high; i++) this.#updateWord(first + i, i * WIDTH)
    return high > 0
  }

  #updateWord(at: number, pullAt: number): void {
    const { word, pair, skip, opening, featureStart, features } = this.#data
    const w = word[at]!
    const whole = featureStart[w]!
    for (let f = features[whole]! < 0 ? whole + 1 : whole; f < featureStart[w + 1]!; f++) {
      const value = f === whole ? 1 : gramValue
      this.#updateRow(this.#weights.words, this.#wordSquares, features[f]! * WIDTH, pullAt, value)
    }
    if (pair[at]! >= 0) this.#updateRow(this.#weights.pairs, this.#pairSquares, pair[at]! * WIDTH, pullAt, pairValue)
    if (skip[at]! >= 0) this.#updateRow(this.#weights.pairs, this.#pairSquares, skip[at]! * WIDTH, pullAt, pairValue)
    if (opening[at]! >= 0)
      this.#updateRow(this.#weights.pairs, this.#pairSquares, opening[at]! * WIDTH, pullAt, pairValue)
  }

  #updateRow(list: Float32Array, squares: Float32Array, base: number, pullAt: number, value: number): void {
    const pull = this.#pull
    for (let i = 0; i < this.#activeCount; i++) {
      const lane = this.#active[i]!
      const gradient = pull[pullAt + lane]!
      if (gradient !== 0) this.#update(list, squares, base + lane, gradient * value)
    }
  }

  #update(list: Float32Array, squares: Float32Array, at: number, gradient: number): void {
    const full = gradient + this.#options.decay * list[at]!
    squares[at]! += full * full
    list[at]! -= (this.#rate * full) / Math.sqrt(squares[at]!)
  }

  #reserve(count: number): void {
    const needed = (count + 1) * WIDTH
    if (this.#prefix.length >= needed) return
    this.#prefix = new Float64Array(needed * 2)
    this.#pull = new Float64Array(needed * 2)
  }
}
