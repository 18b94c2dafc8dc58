/** A borderline text is settled by the judge that the constitution names, on every surface; a clear one never reaches it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { says } from '../judges/support.js'
import { source } from '../policy/support.js'
import { type Built, build, call, tempDir } from '../support/gateway.js'
import {
  type Answer,
  chunks,
  completion,
  type FakeUpstream,
  fakeUpstream,
  json,
  sse,
  sseText,
  stall
} from '../support/upstream.js'

const rules = `
  - { name: unclear, category: violence, weight: 0.5, any: [borderline] }
  - { name: strong, category: violence, weight: 0.9, any: [murder] }
`

interface Place extends Built {
  guard: FakeUpstream
  backend: FakeUpstream
}

async function place(t: Test, entry = '{ judge: guard, trust: both }', judge = ''): Promise<Place> {
  const guard = await fakeUpstream(t, says('safe'))
  const backend = await fakeUpstream(t, json(completion('fine')))
  const dir = tempDir(t)
  mkdirSync(dir, { recursive: true })
  const file = join(dir, 'default.yaml')
  writeFileSync(file, `${source({ rules })}\nescalate:\n  - ${entry}\n`)
  const yaml = [
    `constitutions: { default: ${file} }`,
    `upstreams: { default: { url: "${backend.url}" } }`,
    'judges:',
    `  guard: { type: llama-guard, base_url: "${guard.url}/v1", model: guard-1, api_key: "\${GUARD_KEY}"${judge} }`
  ].join('\n')
  const built = await build(t, { yaml, env: { GUARD_KEY: 'sk-canary-guard' } })
  return { ...built, guard, backend }
}

const unsafe = says('\n\nunsafe\nS1')
const evaluate = async ({ url, key }: Built, input_text: string) =>
  (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text } })).body.evaluation
const chat = (to: Built, content: string) =>
  call(to.url, '/v1/chat/completions', {
    key: to.key,
    body: {
      model: 'm',
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content }
      ]
    }
  })

t.test(
  'evaluate: permit or forbid by the judge, divert where it cannot be had; what is clear is not asked',
  async (t) => {
    const at = await place(t)
    t.match(await evaluate(at, 'a nice day'), { decision: 'permit', detections: [] })
    t.match(await evaluate(at, 'murder'), { decision: 'forbid' })
    t.equal(at.guard.requests.length, 0)

    t.match(await evaluate(at, 'borderline one'), { decision: 'permit', risk_score: 0, scores: { violence: 0 } })
    at.guard.answer = unsafe
    const forbidden = await evaluate(at, 'borderline two')
    t.match(forbidden, { decision: 'forbid', is_blocked: true, matched_rules: ['unclear', 'judge:guard'] })
    t.match(forbidden.detections[1], {
      rule: 'judge:guard',
      layer: 'judge',
      span: { start: 0, end: 10 },
      category: 'violence'
    })
    at.guard.answer = json({}, 500)
    t.match(await evaluate(at, 'borderline three'), {
      decision: 'divert',
      review_id: /^rev_/,
      matched_rules: ['unclear', 'judge:guard']
    })
    t.match(await evaluate(at, 'borderline one'), { decision: 'permit' }, 'remembered')
    t.equal(at.guard.requests.length, 3)

    const moderations = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key }).moderations
    at.guard.answer = says('safe')
    t.match((await moderations.create({ input: ['borderline four', 'borderline two'] })).results, [
      { flagged: false },
      { flagged: true }
    ])

    const { body } = await call(at.url, '/metrics', { key: at.key })
    for (const line of [
      'sluicegate_judge_requests_total{judge="guard",outcome="safe"} 2',
      'sluicegate_judge_requests_total{judge="guard",outcome="unsafe"} 1',
      'sluicegate_judge_requests_total{judge="guard",outcome="status"} 1',
      'sluicegate_judge_requests_total{judge="guard",outcome="cached"} 2',
      'sluicegate_judge_duration_seconds_count{judge="guard"} 4',
      'sluicegate_judge_breaker_state{judge="guard"} 0'
    ]) {
      t.ok(body.includes(line), line)
    }
  }
)

t.test('chat: the request, the answer and the streamed answer', async (t) => {
  const at = await place(t)
  t.match(await chat(at, 'borderline'), { status: 200, body: { choices: [{ message: { content: 'fine' } }] } })
  const [sent] = at.guard.requests
  t.same(JSON.parse(String(sent?.body)).messages, [{ role: 'user', content: 'borderline' }], 'only the text in doubt')
  at.guard.answer = unsafe
  const refused = await chat(at, 'more borderline')
  t.match(refused, { status: 400, body: { error: { code: 'content_filter', param: '/messages/1' } } })
  t.equal(refused.headers.get('x-safety-rules'), 'unclear, judge:guard')
  t.equal(at.backend.requests.length, 1, 'what is refused is not forwarded')

  at.backend.answer = json(completion('a borderline answer'))
  t.match(await chat(at, 'hello'), { status: 200, body: { choices: [{ finish_reason: 'content_filter' }] } })
  t.same(JSON.parse(String(at.guard.requests[2]?.body)).messages, [
    { role: 'user', content: '' },
    { role: 'assistant', content: 'a borderline answer' }
  ])

  const client = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key })
  const streamed = async (text: string, verdict: Answer) => {
    at.guard.answer = verdict
    at.backend.answer = sse(sseText(chunks(...text.split(' ').map((word) => `${word} `))), { piece: 40 })
    let content = ''
    let finish: string | null = null
    const stream = await client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true
    })
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? ''
      finish = chunk.choices[0]?.finish_reason ?? finish
    }
    return { content, finish }
  }
  t.same(await streamed('this one is borderline', says('safe')), { content: 'this one is borderline ', finish: 'stop' })
  const stopped = await streamed('that one is borderline', unsafe)
  t.equal(stopped.finish, 'content_filter')
  t.ok(
    'that one is '.startsWith(stopped.content),
    `only what stands before the text in doubt has left: "${stopped.content}"`
  )
})

t.test('a client that leaves ends the question, and nothing is forwarded', async (t) => {
  const at = await place(t)
  at.guard.answer = stall
  for (const [path, body] of [
    ['/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'borderline' }] }],
    ['/api/v1/safety/evaluate', { input_text: 'borderline' }]
  ] as const) {
    const before = at.guard.requests.length
    const leaving = request(at.url + path, {
      method: 'POST',
      headers: { 'x-api-key': at.key, 'content-type': 'application/json' }
    })
    leaving.on('error', () => {})
    leaving.end(JSON.stringify(body))
    while (at.guard.requests.length === before) await new Promise(setImmediate)
    leaving.destroy()
    await at.guard.requests.at(-1)?.aborted
  }
  t.equal(at.backend.requests.length, 0)
  const { body } = await call(at.url, '/metrics', { key: at.key })
  t.match(body, /sluicegate_judge_requests_total\{judge="guard",outcome="cancelled"\} 2/)
})

t.test('outcomes as configured; neither texts nor keys in the log or in what a client gets', async (t) => {
  const at = await place(t, '{ judge: guard, on_failure: permit_local }', ', breaker: { failures: 1, open_for: 1h }')
  at.guard.answer = json({ error: { message: 'sk-canary-guard borderline' } }, 500)
  t.match(
    await evaluate(at, 'borderline canary text'),
    { decision: 'depends', missing_context: ['topic'] },
    'the local verdict'
  )
  t.match(await evaluate(at, 'borderline canary text'), { decision: 'depends' })
  t.equal(at.guard.requests.length, 1, 'left alone')
  t.equal(at.guard.requests[0]?.headers.authorization, 'Bearer sk-canary-guard')
  t.match(at.logs.join('\n'), /"judge":"guard".*left alone/)
  t.notMatch(at.logs.join('\n'), /canary|borderline/)
  const strict = await place(t, '{ judge: guard, on_failure: forbid }', ', timeout: 50ms')
  strict.guard.answer = stall
  t.match(await chat(strict, 'borderline'), { status: 400, body: { error: { code: 'content_filter' } } })
})
