// node test/bench/quality/lists.mjs --data DIR [--write] [--every N]   (every N-th row alone: a look in a hurry)
// What the phrases that ship match: every rule of a shipped constitution that uses a list of config/constitutions/lists, by itself,
// over the rows of DIR/train, as written. With --write the figures go into the heads of the lists. No text is printed.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { promptsBehind } from './chats.mjs'
import { readSets } from './rows.mjs'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    write: { type: 'boolean', default: false },
    every: { type: 'string', default: '1' }
  }
})
if (values.data === undefined) {
  process.stderr.write('lists.mjs needs --data DIR, a folder with train/*.jsonl\n')
  process.exit(2)
}
const dist = (name) => import(new URL(`../../../dist/${name}`, import.meta.url).href)
const { compilePolicy } = await dist('policy/match/compile.js')
const { parseConstitution } = await dist('policy/constitution/parse.js')
const { Matcher } = await dist('policy/match/match.js')

const folder = new URL('../../../config/constitutions/', import.meta.url)
const read = (name) => readFileSync(new URL(name, folder), 'utf8')
const namesIn = (place) =>
  readdirSync(new URL(place, folder))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length))

/** One prompt of each kind that the bench guards, for every so many harmless rows. */
const everyGuarded = 20

/** Rules by phrases and formats of each constitution, less what another has already: overlays hold all of their base. */
const taken = new Set()
const constitutions = namesIn('.').map((name) => {
  const constitution = parseConstitution(read(`${name}.yaml`), name)
  const isOwn = (rule) => rule.detector === undefined && !taken.has(rule.name)
  const rules = constitution.rules.filter(isOwn).map((rule) => ({ ...rule, when: undefined }))
  for (const rule of rules) taken.add(rule.name)
  const policy = compilePolicy({ ...constitution, rules })
  return { name, given: parse(read(`${name}.yaml`)), policy, matcher: new Matcher(policy) }
})
const lists = new Map(namesIn('lists').map((name) => [name, parse(read(`lists/${name}.yaml`))]))

/** Rules by the list whose words they look for; each once, in the constitution that has it first. */
function rulesOf(list) {
  const seen = new Set()
  return constitutions.flatMap(({ name, given }) =>
    (given.rules ?? []).flatMap((rule) => {
      const words = [...(rule.any ?? []), ...(rule.all ?? []).flat()]
      const uses =
        words.some((word) => Object.hasOwn(list.lexicons ?? {}, word.replace(/^\$/, ''))) ||
        (rule.formats ?? []).some((format) => Object.hasOwn(list.formats ?? {}, format)) ||
        (rule.guarded !== undefined && list.guarded !== undefined)
      if (!uses || seen.has(rule.name)) return []
      seen.add(rule.name)
      return [{ constitution: name, rule: rule.name }]
    })
  )
}

/** The rules that match a text, as it is written. */
function matched({ matcher }, { text, role }, guarded) {
  const current = role === 'assistant' ? 'answer' : 'request'
  const names = new Set()
  const view = { text, layer: 'plain', isEncoded: false, textSpan: (start, end) => ({ start, end }) }
  matcher.match([view], {
    applies: ({ direction, roles }) =>
      (direction === 'both' || direction === current) && (roles === undefined || roles.has(role)),
    trusts: () => current === 'answer',
    detects: false,
    guarded,
    record(rule) {
      names.add(rule.name)
      return true
    }
  })
  return names
}

/** What the bench's prompts guard, of those in which the words find anything. */
const guards = promptsBehind().flatMap((prompt) => constitutions[0].policy.guard?.read([prompt]) ?? [])

const counts = new Map()
const total = { harmless: 0, harmful: 0, behind: 0 }
const count = (constitution, rule, side) => {
  const key = `${constitution}/${rule}`
  const entry = counts.get(key) ?? { harmless: 0, harmful: 0, behind: 0 }
  entry[side]++
  counts.set(key, entry)
}
for (const rows of readSets(resolve(values.data, 'train'), {}).values()) {
  for (const [i, row] of rows.entries()) {
    if (i % Number(values.every) !== 0) continue
    const isLabelled = Object.values(row.labels).some((label) => label === 1)
    const side = row.unsafe === 1 || isLabelled ? 'harmful' : row.unsafe === 0 ? 'harmless' : undefined
    if (side === undefined) continue
    const nth = total[side]++
    for (const each of constitutions) {
      if (each.policy.rules.length === 0) continue
      for (const rule of matched(each, row)) count(each.name, rule, side)
    }
    if (side === 'harmful' || row.group !== 'benign prompts' || nth % everyGuarded !== 0) continue
    const [{ name, policy }] = constitutions
    const guarded = guards[total.behind++ % guards.length]
    for (const rule of matched(constitutions[0], row, guarded)) {
      if (policy.rules.find((one) => one.name === rule)?.guarded !== undefined) count(name, rule, 'behind')
    }
  }
}

/** Phrases, and the alternatives of patterns with their anchors. */
function entriesOf({ lexicons = {}, guarded = {}, formats = {} }) {
  const patterns = Object.values(formats).flat()
  return (
    [...Object.values(lexicons), ...Object.values(guarded)].reduce((sum, phrases) => sum + phrases.length, 0) +
    patterns.reduce((sum, { anchors, regex }) => sum + anchors.length + regex.split('|').length, 0)
  )
}

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
  cwd: fileURLToPath(folder),
  encoding: 'utf8'
}).trim()
const figure = new Intl.NumberFormat('en')
for (const [name, list] of lists) {
  const rows = `${figure.format(total.harmless)} harmless and ${figure.format(total.harmful)} harmful rows`
  const lines = rulesOf(list).map(({ constitution, rule }) => {
    const { harmless = 0, harmful = 0, behind = 0 } = counts.get(`${constitution}/${rule}`) ?? {}
    if (list.guarded !== undefined) return `#   ${rule}: ${behind} of ${figure.format(total.behind)} harmless prompts`
    const share = ((harmless * 20_000) / total.harmless).toFixed(2)
    return `#   ${rule}: harmless ${harmless} (${share} in 20,000), harmful ${harmful}`
  })
  const told =
    list.guarded === undefined
      ? `${rows} of train, each rule by itself`
      : `${figure.format(total.behind)} harmless prompts of train behind prompts that guard something (chats.mjs)`
  const head = [
    `# Entries: ${entriesOf(list)}. Measured at commit ${commit} by test/bench/quality/lists.mjs on ${told}:`,
    ...(lines.length === 0 ? ['#   used by the rules of other lists alone'] : lines),
    '# (end of figures)'
  ].join('\n')
  console.log(`${name}\n${head}`)
  if (!values.write) continue
  const file = new URL(`lists/${name}.yaml`, folder)
  const text = readFileSync(file, 'utf8').replace(/^# Entries: [\s\S]*?^# \(end of figures\)\n/m, '')
  const at = text.search(/^[^#]/m)
  writeFileSync(file, `${text.slice(0, at)}${head}\n${text.slice(at)}`)
}
