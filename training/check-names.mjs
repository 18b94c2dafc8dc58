// Measures the reader of names as the program serves it: node check-names.mjs --dist DIR --folder DIR --rows FILE
// A name counts as found where kind and both ends are right. Printed as JSON: precision, recall and F1 in all, by language, by kind.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { dist: { type: 'string' }, folder: { type: 'string' }, rows: { type: 'string' }, wrong: { type: 'string' } }
})
const at = (path) => import(pathToFileURL(resolve(values.dist, path)).href)
const [{ noReport, openEncoder }, { systemClock }] = await Promise.all([at('encoder/open.js'), at('base/clock.js')])
const settings = { use: 'required', folder: resolve(values.folder), threads: 1, queue: 256, deadlineMs: Infinity }
const { encoder, close } = await openEncoder(settings, { clock: systemClock, report: noReport, crashed() {} })
const rows = (await readFile(values.rows, 'utf8'))
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))

const counts = new Map()
const count = (key, right, found, known) => {
  const sum = counts.get(key) ?? { right: 0, found: 0, known: 0 }
  counts.set(key, { right: sum.right + right, found: sum.found + found, known: sum.known + known })
}
let left = Number(values.wrong ?? 0)
for (const { text, role, language, names } of rows) {
  const [read] = await encoder.names([{ text, role, whose: 'check' }])
  const keyOf = ([start, end, kind]) => `${start} ${end} ${kind}`
  const found = new Set(read.map(({ start, end, kind }) => keyOf([start, end, kind])))
  const known = new Set(names.map(keyOf))
  const tell = (key, of = () => true) => {
    const [f, k] = [[...found].filter(of), [...known].filter(of)]
    count(key, f.filter((name) => known.has(name)).length, f.length, k.length)
  }
  tell('all')
  tell(`language ${language}`)
  for (const kind of ['person', 'place', 'organisation']) tell(`kind ${kind}`, (key) => key.endsWith(` ${kind}`))
  const covered = names.filter(([start, end]) => read.some((r) => r.start <= start && r.end >= end)).length
  count('covered, any kind', covered, covered, names.length)
  if (left > 0 && [...known].some((key) => !found.has(key))) {
    left--
    console.error(
      language,
      JSON.stringify(text),
      read.map((r) => `${r.kind} ${text.slice(r.start, r.end)}`).join(' | ')
    )
  }
}
await close()
const share = (part, whole) => (whole === 0 ? null : Math.round((part / whole) * 1000) / 1000)
const told = Object.fromEntries(
  [...counts].map(([key, { right, found, known }]) => {
    return [
      key,
      { precision: share(right, found), recall: share(right, known), f1: share(2 * right, found + known), names: known }
    ]
  })
)
console.log(JSON.stringify({ rows: rows.length, ...told }, null, 1))
