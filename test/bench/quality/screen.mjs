// node test/bench/quality/screen.mjs --data DIR [--rows 150]: what the screen's teacher is worth. Every text of DIR/dev that a user may
// say goes to the encoder (`readers: thorough`); then the texts that the encoder stops are put in order by the screen's lane,
// which learnt from the encoder's scores, and by the strongest lane that learnt from labels alone. Prints, for shares of the
// stopped texts that stay above a threshold, the share of harmless texts that are above it too, and so would be read.
// Plain readings alone; the last row is what the shipped constitution puts to the encoder, by every reading and detector. Counts only: no text is written.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bareText, dist, openEvaluator } from './ours.mjs'
import { readSets, truthOf } from './rows.mjs'
import { sample, wilson } from './stats.mjs'

const { values } = parseArgs({ options: { data: { type: 'string' }, rows: { type: 'string', default: '150' } } })
if (values.data === undefined) {
  process.stderr.write('screen needs --data DIR, a folder with dev/*.jsonl\n')
  process.exit(2)
}

const { laneNumber, lanes } = await dist('classifier/lanes.js')
const { shippedScorer } = await dist('classifier/shipped.js')
const { Folder } = await dist('text/fold.js')

/** Of what the encoder stops. */
const kept = [0.9, 0.95, 0.98, 0.99]
/** The lanes that raise a text, and one that stops nothing by itself in the shipped constitution. */
const notLabels = ['screen', 'screen_tool', 'harmful_answer', 'profanity']
const byLabels = lanes.flatMap((lane, i) => (notLabels.includes(lane) ? [] : [i]))
const screen = laneNumber('screen')

const scorer = shippedScorer()
const folder = new Folder()
function scoresOf(text) {
  scorer.score(folder.fold(text), text)
  // Labels by their confidences: raw scores of different lanes are not alike.
  return { screen: scorer.strongest(screen), labels: Math.max(...byLabels.map((lane) => scorer.confidence(lane))) }
}

const own = mkdtempSync(join(tmpdir(), 'sluicegate-screen-'))
const thorough = join(own, 'thorough.yaml')
writeFileSync(thorough, "name: thorough\nversion: '1'\nextends: default\nreaders: thorough\n")
const ours = await openEvaluator(thorough, 'required')
const shipped = await openEvaluator('default', 'required')
const rows = []
try {
  for (const [name, set] of readSets(resolve(values.data, 'dev'), {})) {
    for (const row of sample(set, Number(values.rows))) {
      if (row.role !== 'user') continue
      const { decision, detections, matched_rules: bearing } = await ours.evaluate(bareText(row.text))
      const isStopped =
        decision !== 'permit' && detections.some(({ reader, rule }) => reader === 'encoder' && bearing.includes(rule))
      const isRaised = await shipped.isRaised(bareText(row.text))
      rows.push({ group: row.group, isHarmless: truthOf(row) === false, isStopped, isRaised, ...scoresOf(row.text) })
    }
    process.stderr.write(`${name}\n`)
  }
} finally {
  await Promise.all([ours.close(), shipped.close()])
  rmSync(own, { recursive: true, force: true })
}

const stopped = rows.filter(({ isStopped }) => isStopped)
const harmless = rows.filter(({ isHarmless, isStopped }) => isHarmless && !isStopped)
console.log(
  `${rows.length} texts, ${stopped.length} stopped by the encoder, ${harmless.length} harmless ones that it lets pass\n`
)
const groups = [...new Set(harmless.map(({ group }) => group))].sort()
console.log(`| of what the encoder stops | by | ${groups.join(' | ')} |\n|${'---|'.repeat(groups.length + 2)}`)
for (const share of kept) {
  for (const by of ['screen', 'labels']) {
    const order = stopped.map((row) => row[by]).sort((a, b) => b - a)
    const threshold = order[Math.ceil(order.length * share) - 1]
    print(share, by, (row) => row[by] >= threshold)
  }
}
print(stopped.filter(({ isRaised }) => isRaised).length / stopped.length, 'as it ships', ({ isRaised }) => isRaised)

function print(share, by, isRead) {
  const cells = groups.map((group) => {
    const those = harmless.filter((row) => row.group === group)
    const read = those.filter(isRead).length
    const { low, high } = wilson(read, those.length)
    return `${percent(read / those.length)} (${percent(low)} to ${percent(high)})`
  })
  console.log(`| ${Math.round(1000 * share) / 10} % | ${by} | ${cells.join(' | ')} |`)
}

function percent(share) {
  return (100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)
}
