/** From the weights that were fitted to those of the model file: one byte each, in units of its lane. */
import { WIDTH } from '../../src/classifier/lanes.js'
import type { Model } from '../../src/classifier/model.js'
import type { Calibration } from './calibrate.js'
import type { Dataset } from './dataset.js'
import { gramValue, pairValue } from './fit.js'
import type { Weights } from './weights.js'

/** Weights beyond this share of all are cut: one outlier must not cost the others their precision. */
const kept = 0.9999

export function quantise(data: Dataset, weights: Weights, calibration: Calibration): Model {
  const isWord = new Uint8Array(data.wordTable.tags.length)
  for (let w = 0; w + 1 < data.featureStart.length; w++) {
    const row = data.features[data.featureStart[w]!]!
    if (row >= 0) isWord[row] = 1
  }
  const words = weights.words.map((weight, at) => weight * (isWord[at >> 4] === 1 ? 1 : gramValue))
  const pairs = weights.pairs.map((weight) => weight * pairValue)
  const unit = new Float64Array(WIDTH)
  for (let lane = 0; lane < WIDTH; lane++) unit[lane] = largest([words, pairs], lane) / 127 || 1
  const toBytes = (list: Float32Array) =>
    Int8Array.from(list, (weight, at) => Math.max(-127, Math.min(127, Math.round(weight / unit[at % WIDTH]!))))
  return {
    wordTable: data.wordTable,
    pairTable: data.pairTable,
    words: toBytes(words),
    pairs: toBytes(pairs),
    unit,
    bias: Float64Array.from(weights.bias),
    slope: calibration.slope,
    offset: calibration.offset,
    ceiling: calibration.ceiling
  }
}

function largest(lists: readonly Float32Array[], lane: number): number {
  const sizes = lists.flatMap((list) => {
    const own: number[] = []
    for (let at = lane; at < list.length; at += WIDTH) if (list[at] !== 0) own.push(Math.abs(list[at]!))
    return own
  })
  sizes.sort((a, b) => a - b)
  return sizes[Math.floor((sizes.length - 1) * kept)] ?? 0
}
