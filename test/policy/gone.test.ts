/** Overlays that were written over an earlier `default`, whose rules and lexicons have gone since: they are read, with warnings. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { type Constitution, parseConstitution } from '../../src/policy/constitution/parse.js'
import { ConstitutionError } from '../../src/policy/constitution/problems.js'
import type { ConstitutionSource } from '../../src/policy/constitution/schema.js'
import { shippedSource, withLists } from '../../src/policy/constitution/shipped.js'
import { RuleEngine } from '../../src/policy/evaluate/rule-engine.js'
import { compilePolicy } from '../../src/policy/match/compile.js'
import { part } from './support.js'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const gone: { rules: string[]; lexicons: string[] } = JSON.parse(
  readFileSync(path('../../config/constitutions/gone.json'), 'utf8')
)
const head = "name: mine\nversion: '1'\nextends: default\n"
const read = (text: string) => parseConstitution(text, 'mine.yaml')
const named = ({ rules }: Constitution, name: string) => rules.find((rule) => rule.name === name)
const said = ({ warnings }: Constitution) => warnings.map(({ path, message }) => `${path}: ${message}`)

t.test('names that have gone are none of what ships now', async (t) => {
  const { rules, lexicons = {} } = withLists(shippedSource('default') as ConstitutionSource)
  const names = new Set(rules.map(({ name }) => name))
  t.same(
    gone.rules.filter((name) => names.has(name)),
    []
  )
  t.same(
    gone.lexicons.filter((name) => name in lexicons),
    []
  )
  t.ok(gone.rules.length > 200 && gone.lexicons.length > 80)
})

t.test('the overlays that shipped before are read', async (t) => {
  for (const name of ['strict', 'developer']) {
    const before = readFileSync(path(`../fixtures/constitutions/${name}-before.yaml`), 'utf8')
    const constitution = read(before)
    t.ok(constitution.warnings.length > 0, `${name}: what has gone is told`)
    for (const { line, column } of constitution.warnings) t.ok(line > 1 && column > 0)
    compilePolicy(constitution)
  }
  const strict = read(readFileSync(path('../fixtures/constitutions/strict-before.yaml'), 'utf8'))
  t.match(said(strict).join('\n'), /rules\[\d\]: "default" has no rule "insult" any more/)
  t.equal(named(strict, 'insult'), undefined)
  t.equal(named(strict, 'person_in_need')?.weight, 0.5, 'a rule that stayed is changed')
  t.match(said(strict).join('\n'), /no lexicon "\$defence" any more/)
  t.ok(named(strict, 'dangerous_dares')?.unless.includes('lesson about'), 'its own words stay')
})

t.test('every name that has gone may be dropped or changed in part, and says nothing', async (t) => {
  const dropped = read(`${head}without: [${gone.rules.join(', ')}]\n`)
  t.equal(dropped.warnings.length, gone.rules.length)
  t.same(dropped.rules, read(head).rules)
  const changed = read(`${head}rules:\n${gone.rules.map((name) => `  - { name: ${name}, weight: 0.3 }`).join('\n')}\n`)
  t.equal(changed.warnings.length, gone.rules.length)
  t.match(changed.warnings[3], { path: 'rules[3]', line: 8 })
  t.same(changed.rules, read(head).rules)
})

t.test('a whole rule of a name that has gone is a rule of its own', async (t) => {
  const own = read(`${head}rules: [{ name: insult, category: harassment, weight: 0.5, any: [numskull] }]\n`)
  t.same(own.warnings, [])
  t.same(named(own, 'insult')?.any, ['numskull'])
})

t.test('a lexicon that has gone stands for nothing', async (t) => {
  const own = read(`${head}
lexicons: { games: [$games, tiddlywinks], weeds: [$pests] }
rules:
  - { name: weeds, category: illicit, weight: 0.5, any: [$weeds], unless: [$games] }
  - { name: pair, category: illicit, weight: 0.5, all: [[$pests], [spray]] }
  - { name: beside, category: illicit, weight: 0.5, any: [$pests], when: { any: [ambiguous_kill, insult], none: [slurs] } }
`)
  t.ok(own.warnings.some(({ path, message }) => path === 'lexicons.weeds[0]' && /\$pests/.test(message)))
  t.ok(own.warnings.some(({ path }) => path === 'rules[2].when.any[1]'))
  t.same(named(own, 'weeds'), { ...named(own, 'weeds'), any: [], unless: ['tiddlywinks'] })
  const judge = new RuleEngine(compilePolicy(own))
  const judged = (text: string) => {
    const { matchedRules } = judge.judge({ parts: [part(text)], joined: [], context: undefined, direction: 'request' })
    return matchedRules.filter((rule) => ['weeds', 'pair', 'beside'].includes(rule))
  }
  t.same(
    judged('How do I kill it? Spray the weed, the mould and the ants.'),
    [],
    'rules whose words have gone match nothing'
  )
})

t.test('names that never were are mistakes still', async (t) => {
  for (const text of [
    `${head}without: [nonesuch]`,
    `${head}rules: [{ name: nonesuch, weight: 0.5 }]`,
    `${head}lexicons: { a: [$nonesuch] }`
  ]) {
    t.throws(() => read(text), ConstitutionError, text)
  }
})
