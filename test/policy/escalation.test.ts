import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { ConstitutionError } from '../../src/policy/constitution/problems.js'
import type { Coverage, Failure, Judges, Opinion, Question } from '../../src/policy/escalate/judges.js'
import { createEvaluator, EvaluatorError, type EvaluatorOptions } from '../../src/policy/evaluate/evaluator.js'
import { type CallOptions, call, part, source } from './support.js'

const rules = `
  - { name: hint, category: violence, weight: 0.3, any: [stab] }
  - { name: unclear, category: violence, weight: 0.5, any: [kill it], context: { permit: { topic: [programming] } } }
  - { name: strong, category: violence, weight: 0.9, any: [murder] }
  - { name: odd, category: weapons, weight: 0.3, any: [powder] }
  - { name: despair, category: self_harm, weight: 0.5, any: [give up] }
  - { name: mail, category: personal_data, weight: 0.5, any: [mail] }
`
const coverage: Coverage = {
  guard: ['violence', 'weapons', 'self_harm', 'personal_data'],
  second: ['self_harm', 'hate']
}

/** A constitution that escalates as told; `entries` are lines of YAML. */
const escalating = (...entries: string[]) =>
  `${source({ rules })}\nescalate:\n${entries.map((e) => `  - ${e}`).join('\n')}`
const both = '{ judge: guard, trust: both }'

async function start(
  t: Test,
  text: string,
  answer: (question: Question, judge: string) => Opinion | Failure | Promise<Opinion | Failure>,
  options: Partial<EvaluatorOptions> = {}
) {
  const file = join(t.testdir(), 'default.yaml')
  await writeFile(file, text)
  const asked: (Question & { judge: string })[] = []
  const judges: Judges = {
    coverage,
    sees: new Set(),
    async consult(judge, question) {
      asked.push({ ...question, judge })
      return answer(question, judge)
    }
  }
  const evaluator = await createEvaluator({
    constitutions: { default: file },
    clock: systemClock,
    deadlineMs: 60_000,
    judges,
    ...options
  })
  t.teardown(() => evaluator.close())
  return { evaluator, asked }
}

const unsafe = (...categories: string[]) => ({ unsafe: Object.fromEntries(categories.map((c) => [c, 0.9])), safe: {} })
const safe = (...categories: string[]) => ({ unsafe: {}, safe: Object.fromEntries(categories.map((c) => [c, 0.1])) })
const unsure: Opinion = { unsafe: {}, safe: {} }
const down: Failure = { failure: 'timeout' }

/** Entry, text, what the judge says, decision and score of violence, and whether it is asked at all. */
const outcomes: [string, string, string, Opinion | Failure, string, number, boolean][] = [
  ['what is clear never reaches a judge', both, 'a nice day', unsafe('violence'), 'permit', 0, false],
  ['nor does what a rule forbids by itself', both, 'murder', safe('violence'), 'forbid', 0.9, false],
  [
    'nor a rule that forbids by itself, within a band drawn wider',
    '{ judge: guard, trust: both, when: { below: 1 } }',
    'murder',
    safe('violence'),
    'forbid',
    0.9,
    false
  ],
  ['a permitted hint becomes forbid', both, 'stab', unsafe('violence'), 'forbid', 0.9, true],
  ['a question becomes forbid', both, 'kill it', unsafe('violence'), 'forbid', 0.9, true],
  ['a question becomes permit', both, 'kill it', safe('violence'), 'permit', 0.1, true],
  ['a question stays where the judge is not sure', both, 'kill it', unsure, 'depends', 0.5, true],
  [
    'a judge that is trusted only to raise clears nothing',
    '{ judge: guard }',
    'kill it',
    safe('violence'),
    'depends',
    0.5,
    true
  ],
  [
    'a judge that is trusted only to raise does raise',
    '{ judge: guard }',
    'kill it',
    unsafe('violence'),
    'forbid',
    0.9,
    true
  ],
  [
    'a category outside the entry is not moved',
    '{ judge: guard, trust: both, categories: [violence] }',
    'kill it',
    unsafe('weapons'),
    'depends',
    0.5,
    true
  ],
  ['no opinion: a person by default', both, 'stab', down, 'divert', 0.4, true],
  ['no opinion: never milder than the local verdict', both, 'kill it', down, 'divert', 0.5, true],
  ['no opinion: forbid', '{ judge: guard, on_failure: forbid }', 'stab', down, 'forbid', 0.75, true],
  ['no opinion: the local verdict', '{ judge: guard, on_failure: permit_local }', 'stab', down, 'permit', 0.3, true],
  [
    'no opinion: the local verdict, when it asks',
    '{ judge: guard, on_failure: permit_local }',
    'kill it',
    down,
    'depends',
    0.5,
    true
  ],
  [
    'a band of its own: below it',
    '{ judge: guard, when: { above: 0.4 } }',
    'stab',
    unsafe('violence'),
    'permit',
    0.3,
    false
  ],
  [
    'a band of its own: at its lower edge',
    '{ judge: guard, when: { above: 0.3 } }',
    'stab',
    unsafe('violence'),
    'forbid',
    0.9,
    true
  ],
  [
    'a band of its own: at its upper edge',
    '{ judge: guard, when: { below: 0.5 } }',
    'kill it',
    unsafe('violence'),
    'depends',
    0.5,
    false
  ],
  [
    'two hints that forbid together are in doubt where the band says so',
    '{ judge: guard, trust: both, when: { below: 1 } }',
    'stab and kill it',
    safe('violence'),
    'permit',
    0.1,
    true
  ],
  ['a clear refusal elsewhere settles it', both, 'kill it by murder', safe('violence'), 'forbid', 0.95, false]
]

t.test('a judge moves what is in doubt, and nothing else', async (t) => {
  for (const [name, entry, text, answer, decision, score, isAsked] of outcomes) {
    await t.test(name, async (t) => {
      const { evaluator, asked } = await start(t, escalating(entry), () => answer)
      const evaluation = await evaluator.evaluate(call(text))
      t.match(evaluation, { decision, scores: { violence: score }, is_blocked: decision === 'forbid' })
      t.equal(asked.length, isAsked ? 1 : 0, 'the judge is asked only where there is doubt')
      t.equal(evaluation.matched_rules.length === 0, decision === 'permit', 'rules are named exactly where they bear')
      const [low, high] = { permit: [0, 0.4], depends: [0.4, 0.75], divert: [0.4, 0.75], forbid: [0.75, 1.01] }[
        decision
      ]!
      t.ok(evaluation.risk_score >= low! && evaluation.risk_score < high!, 'the score agrees with the decision')
    })
  }
})

t.test('the judge is shown as a detection that names it, where the doubt is', async (t) => {
  const { evaluator } = await start(t, escalating(both), ({ categories }) => unsafe(...categories, 'weapons'))
  const evaluation = await evaluator.evaluate(call([part('hello', 'user', '/0'), part('please stab', 'user', '/1')]))
  t.same(
    evaluation.detections.filter(({ layer }) => layer === 'judge'),
    [
      {
        type: 'policy_violation',
        category: 'violence',
        confidence: 0.9,
        rule: 'judge:guard',
        span: { start: 7, end: 11 },
        layer: 'judge',
        reader: 'judge',
        pointer: '/1'
      },
      {
        type: 'policy_violation',
        category: 'weapons',
        confidence: 0.9,
        rule: 'judge:guard',
        span: { start: 0, end: 11 },
        layer: 'judge',
        reader: 'judge',
        pointer: '/1'
      }
    ]
  )
  t.same(evaluation.matched_rules, ['hint', 'judge:guard'])
  t.equal(evaluation.scores.weapons, 0.9, 'also in a category in which nothing was found here')

  const failing = await start(t, escalating(both), () => down)
  const diverted = await failing.evaluator.evaluate(call('stab'))
  t.match(diverted, { decision: 'divert', matched_rules: ['hint', 'judge:guard'] })
  t.match(diverted.detections[1], { rule: 'judge:guard', layer: 'judge_unavailable', confidence: 0.3 })
  const explained = await failing.evaluator.explain(call('stab'))
  t.match(explained, { evaluation: { decision: 'divert' } })
})

t.test('a judge sees the texts in doubt with their roles, and no others', async (t) => {
  const { evaluator, asked } = await start(t, escalating(both), () => unsure)
  await evaluator.evaluate(
    call([
      part('a secret plan', 'system', '/0'),
      part('kill it', 'tool', '/1'),
      part('thanks', 'user', '/2'),
      part('stab', 'user', '/3')
    ])
  )
  const { wordsOf, ...question } = asked[0]!
  t.match(wordsOf('violence'), { category: 'violence' })
  t.same(question, {
    judge: 'guard',
    texts: [
      { role: 'tool', text: 'kill it' },
      { role: 'user', text: 'stab' }
    ],
    direction: 'request',
    categories: ['violence'],
    policy: 'default@1',
    cancel: undefined
  })
  await evaluator.evaluate(
    call([part('kill', 'user', '/0'), part('it', 'user', '/1'), part('now', 'user', '/2')], { joined: [[0, 1]] })
  )
  t.equal(asked[1]?.texts.length, 3, 'what only stands across texts takes all of them')
})

t.test('what a judge of this text cannot read, it cannot clear', async (t) => {
  const { evaluator } = await start(t, escalating(both), ({ categories }) => safe(...categories))
  const decide = async (texts: Parameters<typeof call>[0], options: CallOptions = {}) =>
    (await evaluator.evaluate(call(texts, options))).decision
  t.equal(await decide('kill it'), 'permit')
  t.equal(await decide(Buffer.from('please kill it now').toString('base64')), 'depends', 'an encoding')
  t.equal(
    await decide([part('kill', 'user', '/0'), part('it', 'user', '/1')], { joined: [[0, 1]] }),
    'depends',
    'parts'
  )
  t.equal(await decide('we should kill', { session: 'a:1' }), 'permit')
  t.equal(await decide('it soon', { session: 'a:1' }), 'depends', 'turns')
  const many = Array.from({ length: 120 }, (_, i) => part('stab', 'user', `/${i}`))
  t.equal(await decide([...many, part('kill it', 'user', '/x')]), 'depends', 'more findings than are listed')
})

t.test('each judge is asked about its categories, and the strictest outcome holds', async (t) => {
  const text = escalating(
    '{ judge: guard, categories: [violence], trust: both }',
    '{ judge: second, categories: [self_harm], trust: both }'
  )
  const { evaluator, asked } = await start(t, text, (_, judge) => (judge === 'guard' ? safe('violence') : down))
  const evaluation = await evaluator.evaluate(call('kill it or give up'))
  t.same(asked.map(({ judge, categories }) => [judge, ...categories]).sort(), [
    ['guard', 'violence'],
    ['second', 'self_harm']
  ])
  t.match(evaluation, { decision: 'divert', matched_rules: ['despair', 'judge:second'], missing_context: undefined })
})

t.test('a context that settles a rule leaves nothing to ask; the session remembers what the judge said', async (t) => {
  const { evaluator, asked } = await start(t, escalating(both), () => unsafe('violence'))
  t.match(await evaluator.evaluate(call('kill it', { context: { topic: 'programming' } })), { decision: 'permit' })
  t.equal(asked.length, 0)
  await evaluator.evaluate(call('stab', { session: 'a:1' }))
  t.match(evaluator.sessions.get('a:1'), { risk: 0.9, tail: [] }, 'a forbidden turn weighs and is not kept')
})

t.test('a caller that leaves ends the wait, and gets no verdict', async (t) => {
  const gone = new Error('gone')
  const { evaluator } = await start(t, escalating(both), (question) => {
    throw question.cancel!.reason!
  })
  const cancel = { reason: gone, onCancel: () => () => {} }
  await t.rejects(async () => evaluator.evaluate({ ...call('stab'), cancel }), EvaluatorError)
})

t.test('long texts, which other threads judge, are escalated too', async (t) => {
  const { evaluator, asked } = await start(t, escalating(both), () => unsafe('violence'), { inlineLimit: 10 })
  t.match(await evaluator.evaluate(call('well, why not stab?')), { decision: 'forbid' })
  t.equal(asked.length, 1)
})

/** Entry, and the problem with it. */
const mistakes: [string, string, string, RegExp][] = [
  [
    'a judge that is not configured',
    '{ judge: nobody }',
    'escalate[0].judge',
    /"nobody" is not configured; .*: guard, second/
  ],
  ['no judge', '{ trust: both }', 'escalate[0]', /"judge" is missing/],
  [
    'a band the wrong way round',
    '{ judge: guard, when: { above: 0.8, below: 0.5 } }',
    'escalate[0].when',
    /less than below/
  ],
  ['a band from nothing', '{ judge: guard, when: { above: 0 } }', 'escalate[0].when.above', />= 0.01/],
  [
    'a category of which it does not speak',
    '{ judge: guard, categories: [hate] }',
    'escalate[0].categories[0]',
    /does not speak of it; it speaks of: violence/
  ],
  [
    'a category that is never acted on',
    '{ judge: guard, categories: [personal_data] }',
    'escalate[0].categories[0]',
    /permitted at any score/
  ],
  ['an unknown category', '{ judge: guard, categories: [greed] }', 'escalate[0].categories[0]', /one of: hate/],
  ['an unknown trust', '{ judge: guard, trust: lower }', 'escalate[0].trust', /one of: raise, both/],
  [
    'an unknown outcome',
    '{ judge: guard, on_failure: permit }',
    'escalate[0].on_failure',
    /one of: divert, forbid, permit_local/
  ],
  ['an unknown field', '{ judge: guard, timeout: 1 }', 'escalate[0].timeout', /accepted here: judge, when/]
]

t.test('each mistake is found at load, with its line and place', async (t) => {
  for (const [name, entry, path, says] of mistakes) {
    const error = t.throws(
      () => parseConstitution(escalating(entry), 'bad.yaml', { coverage }),
      ConstitutionError,
      name
    )
    const { problems } = error as unknown as ConstitutionError
    t.equal(problems.length, 1, name)
    t.match(problems[0], { path, message: says }, name)
    t.equal(problems[0]?.line, escalating(entry).split('\n').length, name)
  }
  const twice = escalating('{ judge: guard, categories: [self_harm] }', '{ judge: second }')
  t.throws(
    () => parseConstitution(twice, 'bad.yaml', { coverage }),
    /escalate\[1\]: "self_harm" is escalated by escalate\[0\] already/
  )
  t.throws(() => parseConstitution(escalating(both), 'bad.yaml'), /configured under "judges": none/)
  t.same(parseConstitution(escalating(both), 'good.yaml', { coverage }).escalate, [
    {
      judge: 'guard',
      above: 0.25,
      below: 0.75,
      categories: ['violence', 'weapons', 'self_harm'],
      trust: 'both',
      onFailure: 'divert'
    }
  ])
})
