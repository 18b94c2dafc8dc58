/** `npm run train -- --data DIR`: corpora in, model file and manifest out. The same input gives the same bytes. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Lane, lanes, WIDTH } from '../../src/classifier/lanes.js'
import { encodeModel, type Model, readModel } from '../../src/classifier/model.js'
import { sigmoid } from '../../src/classifier/sigmoid.js'
import { syntheticRows } from '../grammar/index.js'
import type { TrainingRow } from '../rows.js'
import { madeRows } from './augment.js'
import type { Calibration } from './calibrate.js'
import { type Corpus, readCorpus } from './corpus.js'
import { buildDataset } from './dataset.js'
import { crossValidate } from './folds.js'
import { sizesOf, trainLane, withLanes } from './lane.js'
import { learn, validated } from './learn.js'
import { quantise } from './quantise.js'
import { Random } from './random.js'
import { printReport, type Report, reported, type ScreenPoint } from './report.js'
import { taught, taughtLane } from './teacher.js'
import { askedAndAnswered } from './written.js'

const usage = `usage: npm run train -- --data DIR --teacher FILE [--out FILE] [--seed N]
       npm run train -- --data DIR --keep screen [--keep LANE ...] [--out FILE] [--seed N]
       npm run train -- --lane screen|screen_tool --teacher FILE [--out FILE] [--seed N]
       npm run train -- --data DIR --held FILE [--seed N]`

/** Everything that a person may want to change between two trainings. */
const sizes = { wordBits: 18, pairBits: 17 }
export const plan = { epochs: 5, rate: 0.15, decay: 3e-5 }

export interface TrainOptions {
  rows: readonly TrainingRow[]
  /** A model whose tables are kept, and some lanes by their names: all others are trained anew. */
  kept?: { model: Model; lanes: readonly Lane[] }
  seed: number
  print: (line: string) => void
}

/** @returns the model file's bytes, and what cross-validation found */
export function train({ rows, kept, seed, print }: TrainOptions) {
  const all = [...rows, ...madeRows(rows, new Random(seed))]
  const data = buildDataset(all, kept === undefined ? sizes : sizesOf(kept.model), kept?.model)
  print(`${all.length} rows, ${data.word.length} words, ${data.featureStart.length - 1} of them distinct`)
  const { weights, calibration, report, curve } = learn(data, { ...plan, seed }, print)
  const anew = quantise(data, weights, calibration)
  const numbers = kept?.lanes.map((lane) => lanes.indexOf(lane)) ?? []
  const model = kept === undefined ? anew : withLanes(anew, kept.model, numbers)
  return { bytes: encodeModel(model), report, curve, calibration }
}

/** @param root the project's folder */
export async function trainCommand(args: string[], root: string): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      teacher: { type: 'string' },
      lane: { type: 'string' },
      held: { type: 'string' },
      keep: { type: 'string', multiple: true },
      out: { type: 'string' },
      seed: { type: 'string' }
    }
  })
  const ways = [values.teacher, values.held, values.keep].filter((value) => value !== undefined)
  const isOneLane = values.lane !== undefined
  if (ways.length !== 1 || (values.data === undefined) !== isOneLane || (isOneLane && values.teacher === undefined))
    throw new Error(usage)
  const seed = Number(values.seed ?? 1)
  if (!Number.isSafeInteger(seed)) throw new Error(`--seed takes a whole number\n${usage}`)
  const out = values.out ?? shipped(root)
  const started = performance.now()
  const print = (line: string) =>
    console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}`)
  if (values.data === undefined) {
    laneCommand(values.lane!, values.teacher!, out, { seed, root, print })
    return
  }
  if (values.held !== undefined) {
    writeHeld(values.data, values.held, seed, print)
    return
  }
  const keep = values.keep?.map(laneNamed)
  const corpus = readCorpus(values.data)
  print(`${corpus.rows.length} rows read from ${Object.keys(corpus.sources).length} sources`)
  const made = rowsMadeHere(seed)
  print(`${made.length} rows written here, by grammars and one at a time`)
  const rows = [...corpus.rows, ...made]
  const others = values.teacher === undefined ? [] : taught(rows, values.teacher)
  print(`${rows.filter(({ says }) => says !== undefined).length + others.length} rows that the encoder has read`)
  const kept = keep && { model: readModel(shipped(root)), lanes: keep }
  const trained = train({ rows: [...rows, ...others], ...(kept && { kept }), seed, print })
  printReport(trained.report, (line) => console.log(line))
  for (const line of trained.curve) console.log(JSON.stringify(line))
  const manifest = manifestOf(corpus, { seed, written: made.length, keep }, root, trained)
  write(out, trained.bytes, keep === undefined ? manifest : withKept(manifest, keep, shipped(root)))
  print(`${out}: ${trained.bytes.length} bytes`)
}

/** Rows that the project made, other than those laid into the corpora's. */
function rowsMadeHere(seed: number): TrainingRow[] {
  return [...syntheticRows(seed), ...askedAndAnswered()]
}

function laneNamed(name: string): Lane {
  const lane = lanes.find((each) => each === name)
  if (lane === undefined) throw new Error(`a lane is one of ${lanes.join(', ')}\n${usage}`)
  return lane
}

/**
 * What models that had not seen a row's source say of it, as JSON lines `{text, scores}`, by lane: where the two readers are added
 * up, the encoder's training sets thresholds by these. Writes no model.
 */
function writeHeld(folder: string, file: string, seed: number, print: (line: string) => void): void {
  const rows = [...readCorpus(folder).rows, ...rowsMadeHere(seed)]
  const data = buildDataset([...rows, ...madeRows(rows, new Random(seed))], sizes)
  const held = crossValidate(data, { ...plan, seed }, validated, (fold, epoch) =>
    print(`fold ${fold + 1}, epoch ${epoch + 1}`)
  )
  const lines = held.rows.map((row) => {
    const scores = lanes.map((_, lane) => Number(held.scores[row * WIDTH + lane]!.toFixed(3)))
    return JSON.stringify({ text: data.rows[row]!.text, scores })
  })
  writeFileSync(file, `${lines.join('\n')}\n`)
  print(`${file}: ${lines.length} rows`)
}

/** What is told of a lane goes into the manifest that is there; the rest of it stays true. */
function laneCommand(
  name: string,
  teacher: string,
  out: string,
  { seed, root, print }: Omit<TrainOptions, 'rows'> & { root: string }
): void {
  const lane = laneNamed(name)
  const rows = taughtLane(teacher, lane === 'screen_tool')
  const file = shipped(root)
  const { model, report, curve, keptBack, calibration } = trainLane(readModel(file), {
    rows,
    lane,
    plan: { ...plan, seed },
    print
  })
  const bytes = encodeModel(model)
  const before = JSON.parse(readFileSync(manifestFile(file), 'utf8'))
  printReport({ [lane]: report }, (line) => console.log(line))
  for (const line of [...curve, ...keptBack]) console.log(JSON.stringify(line))
  const others = (points: readonly ScreenPoint[] = []) => points.filter((point) => point.lane !== lane)
  write(out, bytes, {
    ...before,
    model: { ...before.model, sha256: sha256(bytes), bytes: bytes.length },
    lanes_made_by: {
      ...before.lanes_made_by,
      [lane]: {
        command: `npm run train -- --lane ${lane} --teacher FILE`,
        seed,
        plan,
        rows: rows.length,
        teacher_sha256: sha256(readFileSync(teacher)),
        code_sha256: codeHash(root)
      }
    },
    calibration: { ...before.calibration, [lane]: calibrationOf(lane, calibration) },
    harmless_prompts_above: { ...before.harmless_prompts_above, [lane]: exceeded(lane, report, calibration) },
    screen_on_sources_left_out: [...others(before.screen_on_sources_left_out), ...curve],
    screen_on_rows_kept_back: [...others(before.screen_on_rows_kept_back), ...keptBack],
    cross_validation_by_source: { ...before.cross_validation_by_source, [lane]: report }
  })
  print(`${out}: ${bytes.length} bytes`)
}

function shipped(root: string): string {
  return join(root, 'config/models/classifier.bin')
}

function manifestFile(file: string): string {
  return file.replace(/\.bin$/, '.json')
}

function write(out: string, bytes: Buffer, manifest: object): void {
  mkdirSync(dirname(out), { recursive: true })
  writeFileSync(out, bytes)
  writeFileSync(manifestFile(out), `${JSON.stringify(manifest, null, 2)}\n`)
}

function manifestOf(
  corpus: Corpus,
  { seed, written, keep }: { seed: number; written: number; keep: readonly Lane[] | undefined },
  root: string,
  { bytes, report, curve, calibration }: ReturnType<typeof train>
) {
  const command = ['npm run train -- --data DIR', ...(keep ?? []).map((lane) => `--keep ${lane}`)].join(' ')
  return {
    model: { sha256: sha256(bytes), bytes: bytes.length, lanes },
    made_by: { command, seed, sizes, plan, code_sha256: codeHash(root) },
    data_sha256: corpus.hash,
    sources: corpus.sources,
    written_rows: written,
    calibration: Object.fromEntries(lanes.map((lane) => [lane, calibrationOf(lane, calibration)])),
    harmless_prompts_above: Object.fromEntries(lanes.map((lane) => [lane, exceeded(lane, report[lane]!, calibration)])),
    screen_on_sources_left_out: curve,
    cross_validation_by_source: report
  }
}

/** The manifest of a model with lanes of the one that ships: what is told of these stays as it was. */
function withKept(manifest: ReturnType<typeof manifestOf>, keep: readonly Lane[], file: string) {
  const before = JSON.parse(readFileSync(manifestFile(file), 'utf8'))
  const isKept = ({ lane }: ScreenPoint) => keep.some((name) => name === lane)
  const points = (name: 'screen_on_sources_left_out' | 'screen_on_rows_kept_back'): ScreenPoint[] =>
    (before[name] ?? []).filter(isKept)
  const own = <T>(told: Record<string, T>) => Object.fromEntries(keep.map((lane) => [lane, told[lane]!]))
  return {
    ...manifest,
    lanes_made_by: Object.fromEntries(keep.map((lane) => [lane, before.lanes_made_by?.[lane] ?? before.made_by])),
    calibration: { ...manifest.calibration, ...own(before.calibration) },
    harmless_prompts_above: { ...manifest.harmless_prompts_above, ...own(before.harmless_prompts_above) },
    screen_on_sources_left_out: [
      ...manifest.screen_on_sources_left_out.filter((point) => !isKept(point)),
      ...points('screen_on_sources_left_out')
    ],
    screen_on_rows_kept_back: points('screen_on_rows_kept_back'),
    cross_validation_by_source: { ...manifest.cross_validation_by_source, ...own(before.cross_validation_by_source) }
  }
}

function calibrationOf(name: Lane, { slope, offset, ceiling }: Calibration) {
  const lane = lanes.indexOf(name)
  return { slope: slope[lane], offset: offset[lane], ceiling: ceiling[lane] }
}

/** Confidences by the share of harmless prompts that exceed them. */
function exceeded(name: Lane, { thresholds }: Report[string], { slope, offset }: Calibration): Record<string, number> {
  const lane = lanes.indexOf(name)
  return Object.fromEntries(
    thresholds.map((score, i) => [
      `${reported[i]! * 100} %`,
      Number(sigmoid(slope[lane]! * score + offset[lane]!).toFixed(4))
    ])
  )
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Over the sources that decide what a model is: the classifier, the folding of texts, the grammars and the training. */
function codeHash(root: string): string {
  const files = ['src/classifier', 'src/text', 'training']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((f) => join(folder, f))
    )
    .filter((file) => file.endsWith('.ts'))
    .sort()
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}
