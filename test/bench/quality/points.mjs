// node test/bench/quality/points.mjs --data DIR [--rows 150] [--out FILE]: what each point of the bands means. Judges rows of
// DIR/dev with the shipped constitution and counts how many harmful and harmless texts reach each score, over all and by
// category. Writes config/models/points.json, which the dashboard shows beside the bands. Counts only: no text is written.
import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { judgeAll } from './measure.mjs'
import { openEvaluator } from './ours.mjs'
import { categoryOf, readSets } from './rows.mjs'
import { sample } from './stats.mjs'

const root = join(import.meta.dirname, '../../..')
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    rows: { type: 'string', default: '150' },
    out: { type: 'string', default: join(root, 'config/models/points.json') }
  }
})
if (values.data === undefined) {
  process.stderr.write('points needs --data DIR, a folder with dev/*.jsonl\n')
  process.exit(2)
}

/** Scores at which bands may begin. */
const points = Array.from({ length: 19 }, (_, i) => (i + 1) / 20)
/** Groups of the corpora, in the words of the dashboard. A text of `harmless` is labelled harmless as a whole. */
const groups = {
  'benign prompts': 'ordinary prompts',
  'benign documents': 'ordinary documents',
  'look-alikes': 'harmless, but dangerous words',
  'harmful requests': 'harmful requests',
  jailbreak: 'jailbreaks',
  'direct injection': 'injections by the user',
  'indirect injection': 'injections in documents',
  comments: 'toxic comments'
}

const sets = readSets(resolve(values.data, 'dev'), {})
for (const [name, rows] of sets) sets.set(name, sample(rows, Number(values.rows)))
const ours = await openEvaluator('default', 'required')
try {
  const judged = await judgeAll(sets, ours.judge, (line) => process.stderr.write(`${line}\n`))
  const rows = [...judged.values()].flat()
  const known = Object.keys(rows[0].chat.scores)
  const found = {
    measured: {
      policy: ours.label,
      constitution_sha256: digest('config/constitutions/default.yaml'),
      encoder_sha256: JSON.parse(readFileSync(join(root, 'config/models/encoder.json'), 'utf8')).model.sha256,
      split: 'dev',
      rows: rows.length,
      rows_per_set: Number(values.rows),
      command: 'node test/bench/quality/points.mjs --data DIR'
    },
    points,
    groups: Object.entries(groups).flatMap(([group, name]) => {
      const some = rows.filter((row) => row.group === group && row.truth !== undefined)
      return [true, false].flatMap((harmful) => {
        const those = some.filter(({ truth }) => truth === harmful)
        if (those.length < 30) return []
        const label = group === 'comments' && !harmful ? 'harmless comments' : name
        return [{ name: label, harmful, rows: those.length, reached: reached(those, ({ chat }) => chat.risk) }]
      })
    }),
    categories: Object.fromEntries(
      known.map((category) => {
        const score = ({ chat }) => chat.scores[category]
        const labelled = rows.filter(({ labels }) =>
          Object.keys(labels).some((name) => categoryOf(name) === category && labels[name] === 1)
        )
        const harmless = rows.filter(({ truth, group }) => truth === false && group !== 'look-alikes')
        return [
          category,
          {
            harmful: labelled.length < 30 ? null : { rows: labelled.length, reached: reached(labelled, score) },
            harmless: { rows: harmless.length, reached: reached(harmless, score) }
          }
        ]
      })
    )
  }
  writeFileSync(values.out, `${JSON.stringify(found)}\n`)
} finally {
  await ours.close()
}

/** How many of the rows score at least each point. */
function reached(rows, score) {
  const scores = rows.map(score)
  return points.map((point) => scores.filter((one) => one >= point).length)
}

function digest(file) {
  return hash('sha256', readFileSync(join(root, file)), 'hex')
}
