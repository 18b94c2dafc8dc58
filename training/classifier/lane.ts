/**
 * Trains one lane of a model anew, over the tables of words that the model has: every other lane keeps its bytes, so that
 * what was measured of it holds.
 */
import { type Lane, lanes, WIDTH } from '../../src/classifier/lanes.js'
import type { Model } from '../../src/classifier/model.js'
import type { TrainingRow } from '../rows.js'
import { madeRows } from './augment.js'
import { buildDataset } from './dataset.js'
import type { FitPlan } from './folds.js'
import { learn } from './learn.js'
import { quantise } from './quantise.js'
import { Random } from './random.js'
import type { ScreenPoint } from './report.js'

/**
 * A lane that raises must hear a request among other words. With 3,000 such rows, fewer requests are found among other people's
 * paragraphs; with 12,000, fewer that stand alone.
 */
const insideTexts = 7_000

export interface LaneOptions {
  /** What is told of the lane; what the rows say of others is not listened to. */
  rows: readonly TrainingRow[]
  lane: Lane
  plan: FitPlan
  /** Rows of a source that cross-validation uses. */
  validated?: number
  print: (line: string) => void
}

/** @returns the model with the lane in it, and what cross-validation found of it */
export function trainLane(model: Model, { rows, lane, plan, validated, print }: LaneOptions) {
  const made = madeRows(
    rows.filter(({ keptBack }) => keptBack !== true),
    new Random(plan.seed),
    insideTexts
  )
  const all = [...rows, ...(lane === 'screen_tool' ? made.map((row) => ({ ...row, role: 'tool' })) : made)]
  const data = buildDataset(all, sizesOf(model), model)
  const own = lanes.indexOf(lane)
  for (let at = 0; at < data.value.length; at++) if (at % WIDTH !== own) data.value[at] = -1
  print(`${all.length} rows for ${lane}`)
  const { weights, calibration, report, curve, keptBack } = learn(data, plan, print, validated)
  const ofLane = (point: ScreenPoint) => point.lane === lane
  const anew = quantise(data, weights, calibration)
  const merged: Model = {
    ...model,
    words: withLane(model.words, anew.words, own),
    pairs: withLane(model.pairs, anew.pairs, own),
    unit: withLane(model.unit, anew.unit, own),
    bias: withLane(model.bias, anew.bias, own),
    slope: withLane(model.slope, anew.slope, own),
    offset: withLane(model.offset, anew.offset, own),
    ceiling: withLane(model.ceiling, anew.ceiling, own)
  }
  return {
    model: merged,
    report: report[lane]!,
    curve: curve.filter(ofLane),
    keptBack: keptBack.filter(ofLane),
    calibration
  }
}

function sizesOf({ wordTable, pairTable }: Model) {
  return { wordBits: Math.log2(wordTable.tags.length), pairBits: Math.log2(pairTable.tags.length) }
}

/** A list by place and lane, with one lane of another. */
function withLane<T extends Int8Array | Float64Array>(list: T, from: T, lane: number): T {
  const merged = list.slice() as T
  for (let at = lane; at < merged.length; at += WIDTH) merged[at] = from[at]!
  return merged
}
