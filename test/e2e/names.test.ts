/** Names are found where they are asked for, replaced where a route says so, and stop nothing. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fixture } from '../encoder/support.js'
import { source } from '../policy/support.js'
import { type Built, build, call, tempDir } from '../support/gateway.js'
import { chunks, completion, fakeUpstream, json, sse, sseText } from '../support/upstream.js'

const rules = '\n  - { name: mail, category: personal_data, detector: personal_data, kinds: [email], weight: 0.9 }\n'
/** What the configuration says, not what tests of other things start with. */
const itself = { SLUICEGATE_ENCODER: '' }

async function place(t: Test, encoder: string, redact = '[names]') {
  const backend = await fakeUpstream(t, json(completion('Anna Smith moved to Berlin.')))
  const file = join(tempDir(t), 'default.yaml')
  writeFileSync(file, source({ rules, posture: { personal_data: '{ middle: permit, high: permit }' } }))
  const yaml = [
    `constitutions: { default: ${file} }`,
    `encoder: ${encoder}`,
    `upstreams: { default: { url: "${backend.url}" } }`,
    `routes: [{ path: /v1/chat/completions, dialect: openai-chat, redact: ${redact} }]`
  ].join('\n')
  return { ...(await build(t, { env: itself, yaml })), backend }
}

const weights = `{ use: required, folder: ${fixture} }`
const evaluate = ({ url, key }: Built, body: object) => call(url, '/api/v1/safety/evaluate', { key, body })
const chat = ({ url, key }: Built, content: string, more: object = {}) =>
  call(url, '/v1/chat/completions', { key, body: { model: 'm', messages: [{ role: 'user', content }], ...more } })

t.test('evaluate shows names where it is asked for them', async (t) => {
  const at = await place(t, weights)
  const input_text = '🎉 Anna Smith of Acme Corp, Berlin'
  const { body } = await evaluate(at, { input_text, detect: ['names'] })
  const { decision, is_blocked, matched_rules, detections, scores } = body.evaluation
  t.match({ decision, is_blocked, matched_rules }, { decision: 'permit', is_blocked: false, matched_rules: [] })
  t.equal(scores.personal_data, 0, 'they count in no score')
  const shape = { type: 'personal_data', category: 'personal_data', rule: 'names', layer: 'plain' }
  t.match(detections, [
    { ...shape, kind: 'person', span: { start: 3, end: 13 } },
    { ...shape, kind: 'organisation', span: { start: 17, end: 26 } },
    { ...shape, kind: 'place', span: { start: 28, end: 34 } }
  ])
  t.equal(detections.length, 3)
  t.same((await evaluate(at, { input_text })).body.evaluation.detections, [])
  t.match(await evaluate(at, { input_text, detect: ['ships'] }), {
    status: 400,
    body: { error: 'validation_error', details: { field: 'detect.0' } }
  })
  t.match(await evaluate(at, { input_text: 'a '.repeat(40_000), detect: ['names'] }), {
    status: 422,
    body: { error: 'too_complex', details: { field: 'names' } }
  })
})

t.test('a route replaces names in requests and answers', async (t) => {
  const at = await place(t, weights, '[names, personal_data]')
  const answer = await chat(at, 'tell Anna Smith, anna@example.com, of Acme Corp')
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('x-safety-redacted'), '5')
  t.equal(answer.headers.get('x-safety-decision'), 'permit')
  t.equal(answer.body.choices[0].message.content, '<PERSON> moved to <PLACE>.')
  const sent = JSON.parse(String(at.backend.requests[0]!.body))
  t.match(sent, {
    model: 'm',
    messages: [{ content: 'tell <PERSON>, <PERSONAL_DATA>, of <ORGANISATION>' }]
  })
  const tools = [{ type: 'function', function: { name: 'weather', description: 'the weather in Berlin' } }]
  await chat(at, 'explain', { tools })
  t.match(JSON.parse(String(at.backend.requests[1]!.body)), { tools }, 'what programs read stays as it is')
})

t.test('in a stream too, however it is cut', async (t) => {
  const at = await place(t, weights)
  const said = 'the weather is plain. Anna Smith moved to Berlin. Acme Corp and Dr. Anna Smith'
  const wanted = 'the weather is plain. <PERSON> moved to <PLACE>. <ORGANISATION> and Dr. <PERSON>'
  for (const size of [1, 3, 7, 200]) {
    const pieces = said.match(new RegExp(`[^]{1,${size}}`, 'g'))!
    at.backend.answer = sse(sseText(chunks(...pieces)), { piece: 60 })
    const answer = await chat(at, 'explain', { stream: true })
    const events = String(answer.body).matchAll(/^data: (\{.*)$/gm)
    const text = [...events].map(([, data]) => JSON.parse(data!).choices[0]?.delta.content ?? '').join('')
    t.equal(text, wanted, `in pieces of ${size}`)
  }
})

t.test('what cannot be read for names does not pass', async (t) => {
  const at = await place(t, `{ use: required, folder: ${fixture}, deadline: 1ms }`)
  t.match(await chat(at, 'Anna Smith '.repeat(3000)), {
    status: 503,
    body: { error: { code: 'evaluator_unavailable' } }
  })
  t.equal(at.backend.requests.length, 0)
})

t.test('without an encoder, or one that finds names, nothing pretends to', async (t) => {
  await t.rejects(place(t, 'off'), /routes\[0\]\.redact\[0\]: cannot be replaced/)
  const off = await place(t, 'off', '[]')
  t.match(await evaluate(off, { input_text: 'Anna', detect: ['names'] }), {
    status: 400,
    body: { error: 'validation_error', details: { field: 'detect', reason: 'unknown_value' } }
  })
  const folder = tempDir(t)
  for (const name of readdirSync(fixture)) copyFileSync(join(fixture, name), join(folder, name))
  const { names: _, ...manifest } = JSON.parse(readFileSync(join(fixture, 'encoder.json'), 'utf8'))
  writeFileSync(join(folder, 'encoder.json'), JSON.stringify(manifest))
  const older = `{ use: required, folder: ${folder} }`
  await t.rejects(place(t, older), /encoder\.json: has no names, and route \/v1\/chat\/completions: redact lists names/)
  t.match(await evaluate(await place(t, older, '[]'), { input_text: 'Anna', detect: ['names'] }), {
    status: 503,
    body: { error: 'evaluator_unavailable' }
  })
})
