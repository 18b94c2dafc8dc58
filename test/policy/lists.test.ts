/** The lists that ship: few, measured, and each told what it is. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { readLexicons } from '../../src/policy/constitution/lexicons.js'
import type { ConstitutionSource } from '../../src/policy/constitution/schema.js'
import { readList, shippedFormats, shippedLists } from '../../src/policy/constitution/shipped.js'

const folder = fileURLToPath(new URL('../../config/constitutions/', import.meta.url))
const text = (name: string) => readFileSync(`${folder}${name}.yaml`, 'utf8')
const constitutions = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -'.yaml'.length))

/** Phrases and words of every kind, and the alternatives of patterns. */
function entriesOf(value: unknown): number {
  if (typeof value === 'string') return 1
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + entriesOf(each), 0)
  if (typeof value !== 'object' || value === null) return 0
  if ('regex' in value && 'anchors' in value) {
    return entriesOf(value.anchors) + String(value.regex).split('|').length
  }
  return Object.values(value).reduce((sum: number, each) => sum + entriesOf(each), 0)
}

/** What a rule says in phrases of its own. */
function ownEntries({
  any = [],
  all = [],
  unless = [],
  unless_trusted: trusted = [],
  patterns = []
}: ConstitutionSource['rules'][number]) {
  const phrases = [...any, ...all.flat(), ...unless, ...trusted].filter((phrase) => !phrase.startsWith('$'))
  return phrases.length + entriesOf(patterns)
}

/** What a prompt is read by is a language, and not what a policy stops: it is counted apart. */
const vocabulary = 'guarded'

t.test('all that ships in phrases and patterns is at most 1,500 entries, the words of prompts apart', async (t) => {
  const inLists = shippedLists()
    .filter((name) => name !== vocabulary)
    .map((name) => entriesOf(parse(text(`lists/${name}`))))
  const inRules = constitutions.map((name) => {
    const { lexicons = {}, rules } = parse(text(name)) as ConstitutionSource
    return entriesOf(lexicons) + rules.reduce((sum, rule) => sum + ownEntries(rule), 0)
  })
  const all = [...inLists, ...inRules].reduce((sum, count) => sum + count, 0)
  t.ok(all <= 1500, `${all} entries`)
  t.ok(all > 500, 'they are counted')
  t.ok(entriesOf(parse(text(`lists/${vocabulary}`))) <= 3861, 'the words of prompts become no more')
})

t.test('a constitution that ships has at most 400 lines', async (t) => {
  for (const name of constitutions) t.ok(text(name).split('\n').length <= 400, name)
})

t.test('every list says what it is, how many entries it has and what it was measured to match', async (t) => {
  for (const name of shippedLists()) {
    const list = text(`lists/${name}`)
    const [, entries] =
      /^# Entries: (\d+)\. Measured at commit [0-9a-f]{7,} by test\/bench\/quality\/lists\.mjs/m.exec(list) ?? []
    t.match(list, /^# [A-Z]/, `${name} says what it is`)
    t.equal(Number(entries), entriesOf(parse(list)), `${name}: its entries`)
    for (const [, rule, share] of list.matchAll(/^# {3}(\w+): harmless \d+ \(([\d.]+) in 20,000\)/gm)) {
      t.ok(Number(share) <= 1, `${rule}: at most one harmless row in 20,000`)
    }
  }
})

t.test('every list is used, and holds nothing that no rule asks for', async (t) => {
  const all = constitutions.map((name) => text(name)).join('\n')
  const used = new Set([...all.matchAll(/\$([a-z0-9_]+)/g)].map(([, name]) => name))
  for (const name of shippedLists()) {
    const { lexicons = {}, formats = {} } = readList(name)
    const problems: string[] = []
    readLexicons(
      lexicons,
      { list: [], nameOf: String, add: (_, message) => void problems.push(message) },
      { list: [], nameOf: String, add() {} }
    )
    t.same(problems, [], `${name} is read`)
    for (const lexicon of Object.keys(lexicons)) t.ok(used.has(lexicon), `$${lexicon} of ${name}`)
    for (const format of Object.keys(formats)) {
      t.ok(shippedFormats().has(format))
      t.match(all, new RegExp(`formats: \\[${format}\\]`))
    }
  }
})
