/**
 * Platt's calibration (1999) on scores of rows whose source the model had not seen: `sigmoid(slope · z + offset)`.
 * Every source counts the same for its positives, and the same for its negatives, however many rows it has.
 */
import { type Lane, lanes, WIDTH } from '../../src/classifier/lanes.js'
import { sigmoid } from '../../src/classifier/sigmoid.js'
import { noScore } from '../../src/classifier/windows.js'
import type { Dataset } from './dataset.js'
import { threshold } from './metrics.js'

export interface Calibration {
  slope: Float64Array
  offset: Float64Array
  /** What few harmless prompts exceed: see `ceilings`. */
  ceiling: Float64Array
}

export function calibrate(data: Dataset, scores: Float32Array, rows: readonly number[]): Calibration {
  const slope = new Float64Array(WIDTH).fill(1)
  const offset = new Float64Array(WIDTH)
  const ceiling = new Float64Array(WIDTH).fill(1)
  const harmless = rows.filter((row) => data.rows[row]!.unsafe === 0 && data.rows[row]!.kind === 'prompt')
  for (let lane = 0; lane < lanes.length; lane++) {
    const ordinary = harmless.map((row) => scores[row * WIDTH + lane]!)
    const points = pointsOf(data, scores, rows, lane)
    if (points.filter(({ y }) => y === 1).length >= fewest) {
      const [a, b] = platt(points)
      slope[lane] = a
      offset[lane] = b
    } else if (ordinary.length > 0) {
      // Too few to learn from: what one harmless prompt in a hundred exceeds is put where other lanes have it on average.
      offset[lane] = usual - threshold(ordinary, 0.01)
    }
    if (ordinary.length > 0)
      ceiling[lane] = sigmoid(slope[lane]! * threshold(ordinary, ceilings[lanes[lane]!] ?? 0.02) + offset[lane]!)
  }
  return { slope, offset, ceiling }
}

/**
 * The share of harmless prompts above a lane's ceiling for a few words: one in fifty, below what any rule asks at. An
 * insult needs no surroundings, nor does a demand for the operator's instructions; what is only raised needs none either.
 */
const ceilings: Partial<Record<Lane, number>> = {
  hate: 0.002,
  harassment: 0.002,
  sexual: 0.004,
  prompt_injection: 0.004,
  profanity: 0,
  screen: 0,
  screen_tool: 0
}

const leastSlope = 0.05
const longestStep = 0.5
/** Positives below which a lane is not calibrated by itself. */
const fewest = 30
/** Log odds of 0.85. */
const usual = 1.73

interface Point {
  z: number
  y: number
  weight: number
}

function pointsOf(
  { rows: all, value, weight }: Dataset,
  scores: Float32Array,
  rows: readonly number[],
  lane: number
): Point[] {
  const sums = new Map<string, number>()
  const keyOf = (row: number) => `${all[row]!.source} ${value[row * WIDTH + lane]}`
  const chosen = rows.filter((row) => value[row * WIDTH + lane]! >= 0 && scores[row * WIDTH + lane]! > noScore)
  for (const row of chosen) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + weight[row * WIDTH + lane]!)
  // Of each class the shares of its sources add up to one half.
  const count = [0, 0]
  for (const key of sums.keys()) count[key.endsWith('1') ? 1 : 0]!++
  if (count[0] === 0 || count[1] === 0) return []
  return chosen.map((row) => {
    const at = row * WIDTH + lane
    const y = value[at]!
    return { z: scores[at]!, y, weight: weight[at]! / sums.get(keyOf(row))! / count[y]! / 2 }
  })
}

/**
 * Newton's method on two parameters, held back a little towards a slope of one. Its steps are bounded: far from the answer
 * the curve is nearly flat, and a step of its own length would lead anywhere.
 */
function platt(points: readonly Point[]): [number, number] {
  let [a, b] = [1, 0]
  const hold = 0.001
  for (let round = 0; round < 200; round++) {
    let [ga, gb, haa, hab, hbb] = [hold * (a - 1), 0, hold, 0, 1e-9]
    for (const { z, y, weight } of points) {
      const p = sigmoid(a * z + b)
      const d = weight * (p - y)
      const h = weight * p * (1 - p)
      ga += d * z
      gb += d
      haa += h * z * z
      hab += h * z
      hbb += h
    }
    const determinant = haa * hbb - hab * hab
    if (determinant < 1e-15) break
    let [da, db] = [(hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant]
    // Where the slope may fall no further, the offset goes on alone.
    if (a - da < leastSlope) [da, db] = [a - leastSlope, gb / hbb]
    const share = Math.min(1, longestStep / Math.max(Math.abs(da), Math.abs(db), 1e-12))
    a -= da * share
    b -= db * share
    if (Math.abs(da) + Math.abs(db) < 1e-9) break
  }
  return [a, b]
}
