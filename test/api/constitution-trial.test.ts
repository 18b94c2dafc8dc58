import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { source } from '../policy/support.js'
import { openHouse } from '../support/constitutions.js'
import { call, tempDir } from '../support/gateway.js'

const base = `
  - { name: bomb, category: weapons, weight: 0.9, any: [kaboom] }
  - { name: kill, category: violence, weight: 0.5, any: [slay], context: { keys: [topic], permit: { topic: [programming] } } }
  - { name: sad, category: self_harm, weight: 0.6, any: [so sad] }`
const stricter = `${base}
  - { name: rude, category: harassment, weight: 0.8, any: [silly] }`
const milder = base.replace('weight: 0.9', 'weight: 0.2')

type Result = Record<'active' | 'candidate', { decision: string }> & { changed: boolean }

async function house(t: Test) {
  const dir = tempDir(t)
  writeFileSync(join(dir, 'default.yaml'), source({ rules: base }))
  const gateway = await openHouse(t, dir)
  const dryRun = (body: object, key = gateway.key, name = 'default') =>
    gateway.write(`/${name}/test`, body, 'POST', key)
  return { ...gateway, dryRun }
}

t.test('a dry run says what a candidate would change, text by text and in sum', async (t) => {
  const { dryRun, put } = await house(t)
  const texts = [
    'hello',
    'silly you',
    'kaboom',
    { input_text: 'slay', id: 'x', context: { topic: 'programming' } },
    'slay'
  ]
  const { status, body } = await dryRun({ texts, source: source({ rules: stricter }) })
  t.equal(status, 200)
  t.match(body, {
    name: 'default',
    active: { version: 1, label: 'default@1', digest: /^[0-9a-f]{64}$/ },
    candidate: { version: null, label: 'default@draft', digest: /^[0-9a-f]{64}$/ }
  })
  t.same(
    body.results.map(({ active, candidate, changed }: Result) => [active.decision, candidate.decision, changed]),
    [
      ['permit', 'permit', false],
      ['permit', 'forbid', true],
      ['forbid', 'forbid', false],
      ['permit', 'permit', false],
      ['depends', 'depends', false]
    ]
  )
  t.match(body.results[3], { index: 3, id: 'x' })
  t.match(body.results[4].active, {
    policy: 'default@1',
    missing_context: ['topic'],
    risk_score: 0.5,
    scores: { violence: 0.5 }
  })
  t.match(body.results[1].candidate, {
    policy: 'default@draft',
    detections: [{ rule: 'rude', span: { start: 0, end: 5 } }]
  })
  t.notOk('evaluation_id' in body.results[0].active)
  t.same(body.diff, {
    changed: 1,
    unchanged: 4,
    stricter: 1,
    milder: 0,
    transitions: [
      { from: 'permit', to: 'permit', count: 2 },
      { from: 'permit', to: 'forbid', count: 1 },
      { from: 'forbid', to: 'forbid', count: 1 },
      { from: 'depends', to: 'depends', count: 1 }
    ],
    rules: [{ rule: 'rude', active: 0, candidate: 1 }]
  })
  const { body: stored } = await put(source({ rules: milder }))
  const second = await dryRun({ texts: ['kaboom'], version: stored.version })
  t.match(second.body, {
    candidate: { version: 2, label: 'default@2', digest: stored.digest },
    diff: {
      stricter: 0,
      milder: 1,
      transitions: [{ from: 'forbid', to: 'permit', count: 1 }],
      rules: [{ rule: 'bomb', active: 1, candidate: 0 }]
    }
  })
})

t.test(
  'a dry run creates nothing: no review, no session, no count, nothing from the limit, no text in the log',
  async (t) => {
    const { dryRun, url, opsUrl, key, judge, beside } = await house(t)
    const { body } = await call(url, '/api/v1/ssaas/keys', {
      key,
      body: {
        name: 'k',
        scopes: ['constitutions:read', 'safety:evaluate'],
        rate_limit_per_minute: 1,
        accept_terms: true
      }
    })
    await judge('hello')
    const facts = async () => {
      const { body: page } = await call(opsUrl, '/metrics')
      return page
        .split('\n')
        .filter((line: string) => /^sluicegate_(?:evaluations_total|rule_matches|review|sessions|not_eval)/.test(line))
    }
    const before = await facts()
    for (let i = 0; i < 3; i++) {
      const outcome = await dryRun(
        { texts: ['so sad', { input_text: 'kaboom', history: ['so sad', 'slay'] }] },
        body.key
      )
      t.match(outcome, {
        status: 200,
        body: { results: [{ active: { decision: 'divert' } }, { active: { decision: 'forbid' } }] }
      })
      t.notOk('review_id' in outcome.body.results[0].active)
    }
    t.same(await facts(), before)
    await setTimeout(150)
    t.same(await beside(({ reviews }) => reviews.list('default', { now: Date.now(), limit: 9 })), [])
    const rows = await beside(({ audit }) => audit.read({ limit: 100 }))
    t.notMatch(JSON.stringify(rows), /kaboom|so sad/)
    t.equal((await call(url, '/api/v1/safety/evaluate', { key: body.key, body: { input_text: 'a' } })).status, 200)
  }
)

t.test('explain tells how a verdict came about and what would flip it', async (t) => {
  const { dryRun } = await house(t)
  const hidden = Buffer.from('then kaboom again').toString('base64')
  const { body } = await dryRun({ texts: [`slay ${hidden}`], explain: true })
  t.equal(body.diff, null)
  t.equal(body.candidate, null)
  const { active } = body.results[0].explanation
  t.match(active, {
    decision: 'forbid',
    policy: 'default@1',
    thresholds: { middle: 0.4, high: 0.75 },
    views: [
      { layer: 'plain', matches: [{ rule: 'kill', by: 'any', span: { start: 0, end: 4 } }] },
      {
        layer: 'base64',
        text: 'slay then kaboom again',
        matches: [{ rule: 'kill' }, { rule: 'bomb', span: { start: 5, end: 5 + hidden.length } }]
      }
    ],
    flips: { rules: [{ without: ['bomb'], decision: 'depends' }] }
  })
  t.match(active.summary[0], /^forbid at 0\.9/)
  const both = await dryRun({ texts: ['slay'], source: source({ rules: milder }), explain: true })
  t.match(both.body.results[0].explanation, {
    active: {
      decision: 'depends',
      flips: {
        context: [
          { key: 'topic', values: ['programming'], decision: 'permit' },
          { any_other: true, decision: 'divert' }
        ]
      }
    },
    candidate: { policy: 'default@draft' }
  })
  const turns = await dryRun({ texts: [{ input_text: 'slay', history: ['kaboom', 'kaboom', 'slay'] }], explain: true })
  t.ok(turns.body.results[0].explanation.active.session.risk > 0.3)
  t.match(await dryRun({ texts: Array(11).fill('a'), explain: true }), {
    status: 400,
    body: { details: { field: 'texts', reason: 'too_long' } }
  })
})

t.test('what a dry run refuses', async (t) => {
  const { dryRun, make, foreign, key, url, put, activate } = await house(t)
  const bad: [body: object, field: string, reason: string][] = [
    [{}, 'texts', 'missing'],
    [{ texts: [] }, 'texts', 'empty'],
    [{ texts: Array(101).fill('a') }, 'texts', 'too_long'],
    [{ texts: [''] }, 'texts.0', 'empty'],
    [{ texts: [7] }, 'texts.0', 'wrong_type'],
    [{ texts: [{}] }, 'texts.0.input_text', 'missing'],
    [{ texts: [{ input_text: 'a', role: 'boss' }] }, 'texts.0.role', 'unknown_value'],
    [{ texts: [{ input_text: 'a', contxt: {} }] }, 'texts.0.contxt', 'unknown_field'],
    [{ texts: [{ input_text: 'a', context: { a: 'x'.repeat(16_384) } }] }, 'texts.0.context', 'too_long'],
    [{ texts: ['a'.repeat(100_001)] }, 'texts.0', 'too_long'],
    [{ texts: Array(6).fill('a'.repeat(100_000)) }, 'texts', 'too_long'],
    [{ texts: ['a'], version: 1, source: 'x' }, 'version', 'unknown_field'],
    [{ texts: ['a'], version: '1' }, 'version', 'wrong_type'],
    [{ texts: ['a'], source: 'name: [' }, 'source', 'invalid_format']
  ]
  for (const [body, field, reason] of bad) {
    t.match(await dryRun(body), { status: 400, body: { details: { field, reason } } }, `${field} ${reason}`)
  }
  const problem = await dryRun({ texts: ['a'], source: source({ rules: base.replace('weapons', 'wepons') }) })
  t.match(problem.body.problems, [{ path: 'rules[0].category', line: /^\d+$/, accepted: /./ }])
  t.match(await dryRun({ texts: ['a'], version: 9 }), { status: 404 })
  t.match(await dryRun({ texts: ['a'] }, key, 'nope'), { status: 404 })
  t.match(await dryRun({ texts: ['a'] }, await make(['constitutions:write'])), {
    status: 403,
    body: { required: 'constitutions:read' }
  })
  t.match(await dryRun({ texts: ['a'] }, await foreign()), { status: 404 })
  t.match(await call(url, '/api/v1/constitutions/default/test', { body: { texts: ['a'] } }), { status: 401 })
  // A name of which nothing is active can still be tried.
  await put(source({ name: 'strict', rules: stricter }), {}, 'strict')
  t.match(await dryRun({ texts: ['silly'] }, key, 'strict'), {
    status: 400,
    body: { details: { field: '', reason: 'missing' } }
  })
  t.match(await dryRun({ texts: ['silly'], version: 1 }, key, 'strict'), {
    body: { active: null, diff: null, results: [{ candidate: { decision: 'forbid' } }] }
  })
  t.equal((await activate(1, {}, 'strict')).status, 200)
})

t.test('roles, directions and sessions of a dry run are those of the gateway', async (t) => {
  const dir = tempDir(t)
  const rules = `
  - { name: tool_only, category: prompt_injection, weight: 0.9, any: [obey], roles: [tool] }
  - { name: answer_only, category: illicit, weight: 0.9, any: [sure thing], direction: answer }
  - { name: bomb, category: weapons, weight: 0.9, all: [[make], [pipe bomb]] }`
  writeFileSync(join(dir, 'default.yaml'), source({ rules }))
  const { write } = await openHouse(t, dir)
  const texts = [
    'obey',
    { input_text: 'obey', role: 'tool' },
    'sure thing',
    { input_text: 'sure thing', role: 'assistant', direction: 'answer' },
    { input_text: 'a pipe bomb', history: ['how do I make'] },
    'a pipe bomb'
  ]
  const { body } = await write('/default/test', { texts }, 'POST')
  t.same(
    body.results.map(({ active }: Result) => active.decision),
    ['permit', 'forbid', 'permit', 'forbid', 'forbid', 'permit']
  )
})
