// Writes config/constitutions/gone.json: the names of rules and lexicons that `default` once had and has no more, so that
// overlays which name them are still read. Run by hand when a rule goes: node config/gone.mjs REVISION... (names are only added)
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const path = 'config/constitutions/default.yaml'
const file = `${root}config/constitutions/gone.json`

/** The names in one text of the constitution. */
function namesIn(text) {
  const { rules = [], lexicons = {} } = parse(text)
  return { rules: rules.map(({ name }) => name), lexicons: Object.keys(lexicons) }
}

const revisions = process.argv.slice(2)
if (revisions.length === 0) {
  process.stderr.write('gone.mjs needs the revisions whose names are to be known\n')
  process.exit(2)
}
const before = revisions.map((revision) =>
  namesIn(execFileSync('git', ['show', `${revision}:${path}`], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 24 }))
)
const now = namesIn(readFileSync(`${root}${path}`, 'utf8'))
const lists = `${root}config/constitutions/lists/`
for (const name of readdirSync(lists)) now.lexicons.push(...namesIn(readFileSync(`${lists}${name}`, 'utf8')).lexicons)
const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { rules: [], lexicons: [] }
const gone = (kind) => {
  const names = new Set([...known[kind], ...before.flatMap((each) => each[kind])])
  return [...names].filter((name) => !now[kind].includes(name)).sort()
}
writeFileSync(file, `${JSON.stringify({ rules: gone('rules'), lexicons: gone('lexicons') }, null, 2)}\n`)
