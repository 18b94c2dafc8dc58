// npm run bench:quality -- --data DIR [--split dev|train] [--out DIR] [--only SET,SET] [--quick] [--no-libraries] [--no-disguise]
//   [--constitution NAME|FILE] [--encoder off] the first reader alone; [--page FILE] also writes the summary between the marks of that file.
// How well the shipped policy judges, on corpora of the shape of DIR/dev/*.jsonl: {id, text, labels, unsafe, kind, context}.
// Prints the targets; writes quality.md, quality.json and quality.svg. Counts and rates only: no text is written.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { drawChart } from './chart.mjs'
import { inChats } from './chats.mjs'
import { installLibraries, versions } from './libraries.mjs'
import {
  harmlessDocuments,
  judgeAll,
  perCategory,
  perProperty,
  perSet,
  pooledComments,
  structured
} from './measure.mjs'
import { detectors, openEvaluator } from './ours.mjs'
import { toMarkdown } from './report.mjs'
import { disguised, inLongText } from './robust.mjs'
import { readSets } from './rows.mjs'
import { wilson } from './stats.mjs'
import { writeSummary } from './summary.mjs'
import { compare, costs as measureCosts } from './systems.mjs'
import { parseBaselines, targetsOf } from './targets.mjs'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    split: { type: 'string', default: 'dev' },
    out: { type: 'string' },
    only: { type: 'string' },
    constitution: { type: 'string', default: 'default' },
    encoder: { type: 'string', default: 'required' },
    page: { type: 'string' },
    quick: { type: 'boolean', default: false },
    'no-libraries': { type: 'boolean', default: false },
    'no-disguise': { type: 'boolean', default: false }
  }
})
const log = (line) => process.stderr.write(`${line}\n`)
const folder = values.data === undefined ? undefined : resolve(values.data, values.split)
if (folder === undefined || !existsSync(folder)) {
  log(
    folder === undefined ? 'bench:quality needs --data DIR, a folder with dev/*.jsonl' : `There is no folder ${folder}`
  )
  process.exit(2)
}
const out = values.out === undefined ? mkdtempSync(join(tmpdir(), 'sluicegate-quality-')) : resolve(values.out)
mkdirSync(out, { recursive: true })

const { quick } = values
const sets = readSets(folder, { only: values.only?.split(','), quick })
if (sets.size === 0) {
  log(`No set of ${folder} fits --only ${values.only}`)
  process.exit(2)
}
const ours = await openEvaluator(values.constitution, values.encoder)
const libraries = values['no-libraries'] ? undefined : installLibraries(log)
try {
  const results = await measure()
  const markdown = toMarkdown(results)
  writeFileSync(join(out, 'quality.md'), markdown)
  writeFileSync(join(out, 'quality.json'), `${JSON.stringify(withoutMaps(results), null, 2)}\n`)
  writeFileSync(join(out, 'quality.svg'), drawChart(results))
  if (values.page !== undefined) writeSummary(values.page, results)
  console.log(markdown)
  log(`written to ${out}`)
} finally {
  libraries?.remove()
  await ours.close()
}

async function measure() {
  // Before the heap fills with verdicts, on a warm evaluator.
  const judged = await judgeAll(sets, ours.judge, log)
  const rows = [...judged.values()].flat()
  const disguises = values['no-disguise'] ? undefined : await disguised(judged, ours.judge, { most: quick ? 40 : 300 })
  if (disguises !== undefined) log(`${disguises.length} disguises`)
  const long = values['no-disguise'] ? undefined : await inLongText(judged, ours.judge, { most: quick ? 10 : 60 })
  const chats = await inChats(judged, ours.judge, { most: quick ? 60 : 1000 })
  const systems = await compare(judged, { middle: ours.middle, libraries, log, most: quick ? 200 : 2000 })
  const costs = await measureCosts(judged, { evaluate: ours.evaluate, libraries, log, rounds: quick ? 60 : 200 })
  const baselineFile = resolve(values.data, 'BASELINES.md')
  const baselines = existsSync(baselineFile) ? parseBaselines(readFileSync(baselineFile, 'utf8')) : undefined
  const results = {
    about: {
      policy: ours.label,
      commit: commit(),
      split: values.split,
      quick,
      rows: rows.length,
      node: process.version,
      cpu: `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0].toFixed(1)}`,
      libraries: libraries === undefined ? undefined : versions
    },
    groups: perProperty(judged, 'group'),
    sets: perSet(judged),
    categories: perCategory(judged, ours.middle),
    kinds: perProperty(judged, 'kind'),
    languages: perProperty(judged, 'language'),
    documents: harmlessDocuments(judged),
    pooled: pooledComments(judged),
    structured: structured(judged, await detectors()),
    injectionFalsePositives: takenForInjection(rows),
    chats,
    disguises,
    long: long === undefined ? undefined : { ...long, uncovered: ours.uncovered() },
    systems,
    costs,
    baselines: values.split === 'dev' && !quick ? baselines : undefined
  }
  return { targets: targetsOf(results), ...results }
}

/** Ordinary prompts that are not permitted because they look like an injection or a jailbreak. */
function takenForInjection(rows) {
  const benign = rows.filter(({ group }) => group === 'benign prompts')
  const taken = benign.filter(
    ({ chat }) => Math.max(chat.scores.prompt_injection, chat.scores.jailbreak) >= ours.middle
  )
  return wilson(taken.length, benign.length)
}

/** Of the working tree, marked where it differs. */
function commit() {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8', cwd: import.meta.dirname }).trim()
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--', 'src', 'config') === '' ? '' : ' with changes'}`
  } catch {
    return 'unknown'
  }
}

function withoutMaps({ baselines, ...results }) {
  return baselines === undefined ? results : { ...results, baselines: Object.fromEntries(baselines) }
}
