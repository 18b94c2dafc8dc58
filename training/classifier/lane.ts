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
  return {
    model: withLanes(model, anew, [own]),
    report: report[lane]!,
    curve: curve.filter(ofLane),
    keptBack: keptBack.filter(ofLane),
    calibration
  }
}

/** A model with some lanes of another that has the same tables. */
export function withLanes(model: Model, from: Model, numbers: readonly number[]): Model {
  const merged = { ...model }
  for (const name of ['words', 'pairs'] as const) merged[name] = taken(model[name], from[name], numbers)
  for (const name of ['unit', 'bias', 'slope', 'offset', 'ceiling'] as const)
    merged[name] = taken(model[name], from[name], numbers)
  return merged
}

export function sizesOf({ wordTable, pairTable }: Model) {
  return { wordBits: Math.log2(wordTable.tags.length), pairBits: Math.log2(pairTable.tags.length) }
}

/** A list by place and lane, with some lanes of another. */
function taken<T extends Int8Array | Float64Array>(list: T, from: T, numbers: readonly number[]): T {
  const merged = list.slice() as T
  for (const lane of numbers) for (let at = lane; at < merged.length; at += WIDTH) merged[at] = from[at]!
  return merged
}
