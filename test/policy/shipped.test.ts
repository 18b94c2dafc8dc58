/** The constitutions that ship, each held to its page of examples; and what laying one over another means. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import type { JsonObject, Role } from '../../src/base/chat.js'
import { systemClock } from '../../src/base/clock.js'
import { readText } from '../../src/edge/evaluate-input.js'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { ConstitutionError } from '../../src/policy/constitution/problems.js'
import { bases } from '../../src/policy/constitution/schema.js'
import { createEvaluator } from '../../src/policy/evaluate/evaluator.js'
import { isShipped, open, shipped } from '../encoder/support.js'

interface Example {
  text: string
  decision: string
  context?: JsonObject
  role?: Role
  because?: string
}

const folder = fileURLToPath(new URL('../../config/constitutions/', import.meta.url))
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -'.yaml'.length))

t.test('every shipped constitution decides as its page of examples says', { timeout: 120_000 }, async (t) => {
  t.same(names, ['default', 'developer', 'mcp', 'strict'])
  t.ok(isShipped, 'the encoder ships')
  const { encoder } = await open(t, {}, shipped)
  const evaluator = await createEvaluator({
    encoder,
    constitutions: Object.fromEntries(names.map((name) => [name, `${folder}${name}.yaml`])),
    clock: systemClock,
    deadlineMs: 60_000
  })
  t.teardown(() => evaluator.close())
  for (const name of names) {
    const examples: Example[] = parse(readFileSync(`${folder}examples/${name}.yaml`, 'utf8'))
    t.ok(examples.length > 15, name)
    for (const { text, decision, role, context } of examples) {
      const input = { ...readText(text, role === undefined ? context : { ...context, role }), session: undefined }
      const evaluation = await evaluator.evaluate(input, name)
      const why = `${evaluation.matched_rules} ${evaluation.risk_score}`
      t.equal(evaluation.decision, decision, `${name}: ${text} ${JSON.stringify(context ?? {})} ${why}`)
    }
  }
})

const head = "name: mine\nversion: '1'\nextends: default\n"
const read = (text: string) => parseConstitution(text, 'mine.yaml')
const whole = read(head)
const ruleOf = ({ rules }: ReturnType<typeof read>, name: string) => rules.find((rule) => rule.name === name)

t.test('what an extension does not mention stays as it is in its base', async (t) => {
  const base = parseConstitution(readFileSync(`${folder}default.yaml`, 'utf8'), 'default.yaml')
  t.equal(whole.base, `default@${base.version}`)
  t.same(whole.rules, base.rules)
  t.same(whole.bands, base.bands)
  t.same(whole.categories, base.categories)
  t.match(whole, { name: 'mine', version: '1' })
})

t.test('an extension changes rules by name, drops them, adds its own, and adds to lexicons', async (t) => {
  const mine = read(`${head}
bands: { middle: 0.2, high: 0.5 }
categories: { profanity: { high: forbid } }
assume: { topic: gardening }
lexicons: { protecting: [$protecting, in a nerf game], plants: [nightshade] }
without: [ambiguous_phrasal]
rules:
  - { name: ambiguous_kill, weight: 0.9 }
  - { name: plant_poison, category: weapons, weight: 0.5, any: [$plants] }
`)
  t.same(mine.bands, { middle: 0.2, high: 0.5 })
  t.same(mine.categories.profanity, { ...whole.categories.profanity, high: 'forbid' })
  t.equal(mine.categories.profanity.middle, 'permit')
  t.same(mine.assume, { topic: 'gardening' })
  t.equal(ruleOf(mine, 'ambiguous_phrasal'), undefined)
  t.same(ruleOf(mine, 'ambiguous_kill'), { ...ruleOf(whole, 'ambiguous_kill'), weight: 0.9 })
  t.match(ruleOf(mine, 'plant_poison'), { category: 'weapons', any: ['nightshade'] })
  const longer = mine.rules.filter(({ unless }) => unless.includes('in a nerf game'))
  t.ok(longer.length > 3, 'rules of the base see the longer list')
  t.ok(longer.every(({ unless }) => unless.includes('museum')))
})

t.test('what rules of the base say of a dropped rule goes with it', async (t) => {
  const mine = read(`${head}without: [person_in_need, self_harm_methods, methods_abroad]`)
  t.same(ruleOf(mine, 'reader_self_harm')?.when, undefined, 'nothing hinders it any more')
  t.equal(ruleOf(mine, 'reader_self_harm_methods'), undefined, 'it matches only where they do')
  t.same(mine.warnings, [
    {
      line: 4,
      column: 27,
      path: 'without[1]',
      message: '"reader_self_harm_methods" goes too: it matches only where "self_harm_methods" does'
    }
  ])
  const one = read(`${head}without: [methods_abroad]`)
  t.same(ruleOf(one, 'reader_self_harm_methods')?.when?.any, ['self_harm_methods'])
  const anew = read(`${head}without: [person_in_need]
rules: [{ name: person_in_need, category: self_harm, weight: 0.5, any: [so tired] }]`)
  t.match(ruleOf(anew, 'person_in_need'), { any: ['so tired'] })
})

const mistakes: [what: string, text: string, path: string, says: RegExp][] = [
  ['an unknown base', head.replace('default', 'lenient'), 'extends', /one of: default, strict, developer, mcp/],
  ['a base that does not ship', head.replace('default', 'mine'), 'extends', /one of: default/],
  ['a rule to drop that is none', `${head}without: [nonesuch]`, 'without[0]', /no rule of this name/],
  [
    'a new rule without a category',
    `${head}rules: [{ name: new_one, weight: 0.5, any: [x] }]`,
    'rules[0]',
    /"category" is missing/
  ],
  ['a wrong weight', `${head}rules: [{ name: ambiguous_kill, weight: 5 }]`, 'rules[0].weight', /<= 1/],
  [
    'an unknown lexicon',
    `${head}rules: [{ name: ambiguous_kill, any: [$nonesuch] }]`,
    'rules[0].any[0]',
    /unknown lexicon/
  ],
  ['bands too close', `${head}bands: { middle: 0.5, high: 0.5 }`, 'bands.high', /above bands.middle/],
  ['an unknown field', `${head}replaces: default`, 'replaces', /unknown field; accepted here: .*extends/]
]

for (const [what, text, path, says] of mistakes) {
  t.test(`${what} is refused with its place in the extension`, async (t) => {
    try {
      read(text)
      t.fail('was read')
    } catch (error) {
      if (!(error instanceof ConstitutionError)) throw error
      const problem = error.problems.find((one) => one.path === path && says.test(one.message))
      t.ok(problem, error.message)
      t.ok(problem !== undefined && problem.line > 1)
    }
  })
}

t.test('each shipped constitution may be extended, and is inherited whole', async (t) => {
  t.same([...bases].sort(), names)
  for (const name of bases) {
    const base = parseConstitution(readFileSync(`${folder}${name}.yaml`, 'utf8'), `${name}.yaml`)
    const over = `name: mine\nversion: '7'\nextends: ${name}\n`
    const { name: _, version, base: extended, description, source: _source, ...same } = read(over)
    t.equal(version, '7')
    t.equal(extended, `${name}@${base.version}`)
    const { name: _name, version: _version, base: _base, description: _description, source: _text, ...whole } = base
    t.same(same, whole, name)
    const changed = read(`${over}categories: { profanity: { high: divert } }\nwithout: [ambiguous_kill]\n`)
    t.equal(changed.categories.profanity.high, 'divert')
    t.same(changed.bands, base.bands)
    t.equal(ruleOf(changed, 'ambiguous_kill'), undefined)
  }
})

t.test('the context says whose words a text is, and only known writers count', async (t) => {
  t.match(readText('x', { role: 'assistant' }), { parts: [{ role: 'assistant' }], direction: 'answer' })
  t.match(readText('x', { role: 'tool' }), { parts: [{ role: 'tool' }], direction: 'request' })
  t.match(readText('x', { role: 'Tool' }), { parts: [{ role: 'tool' }] })
  t.match(readText('x', { role: ' ASSISTANT ' }), { parts: [{ role: 'assistant' }], direction: 'answer' })
  for (const context of [
    undefined,
    {},
    { role: 'teacher' },
    { role: 'definition' },
    { role: 7 },
    { role: ['assistant'] }
  ]) {
    t.match(readText('x', context as JsonObject | undefined), { parts: [{ role: 'user' }], direction: 'request' })
  }
})

t.test('what the build has read ahead is what the texts hold, and another text is read as it stands', async (t) => {
  const read = await import(new URL('../../dist/policy/constitution/shipped.js', import.meta.url).href)
  for (const name of names) {
    const text = readFileSync(`${folder}${name}.yaml`, 'utf8')
    t.same(read.builtFrom(text), parse(text))
    t.equal(read.builtFrom(`${text}\n`), undefined)
  }
  const { parseConstitution } = await import(new URL('../../dist/policy/constitution/parse.js', import.meta.url).href)
  const developer = readFileSync(`${folder}developer.yaml`, 'utf8')
  let problems: { line: number; path: string }[] = []
  try {
    parseConstitution(developer, 'x', { name: 'other' })
  } catch (error) {
    problems = [...(error as ConstitutionError).problems]
  }
  const line = developer.split('\n').findIndex((line) => line.startsWith('name:')) + 1
  t.match(problems, [{ line, path: 'name' }])
})
