/** What a client is told where a person would have to decide and the queue takes no more: on every surface, in its shape. */
import t from 'tap'
import { build, call } from '../support/gateway.js'

/** Secrets at high confidence go to people in the shipped policy; the key below is made up and has a valid shape only. */
const diverted = (i: number) =>
  `Deploy ${i} with AWS_SECRET_ACCESS_KEY=${'wJalrXUtnFEMIK7MDENGbPxRfiCYzQ8vTn2LpKd4'} and key id AKIA${'Q3EGRN5TWPL7XK2M'}`
let count = 0
const text = () => diverted(++count)

// biome-ignore lint/suspicious/noExplicitAny: tests read what the wire gave
const dialects: [string, () => unknown, (body: any) => unknown, unknown][] = [
  [
    '/v1/chat/completions',
    () => ({ model: 'm', messages: [{ role: 'user', content: text() }] }),
    (body) => [body.error.code, body.error.innererror, body.error.review_id],
    { choices: [{ finish_reason: 'content_filter' }] }
  ],
  [
    '/v1/responses',
    () => ({ model: 'm', input: text() }),
    (body) => [body.error.code, body.error.innererror, body.error.review_id],
    { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
  ],
  [
    '/v1/messages',
    () => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: text() }] }),
    (body) => [body.error.details.error_code, undefined, body.error.details.review_id],
    { stop_reason: 'refusal' }
  ],
  [
    '/v1beta/models/m:generateContent',
    () => ({ contents: [{ role: 'user', parts: [{ text: text() }] }] }),
    (body) => [body.error.details[0].reason, undefined, body.error.details[0].metadata.review_id],
    { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }
  ],
  [
    '/api/chat',
    () => ({ model: 'm', stream: false, messages: [{ role: 'user', content: text() }] }),
    (body) => [body.error.split(':')[0], undefined, body.review_id],
    { done_reason: 'stop', message: { content: /can't be checked at the moment/ } }
  ]
]

t.test('a full queue refuses with its own reason, forwards and stores nothing, and is counted', async (t) => {
  const { url, key } = await build(t, { yaml: 'review: { max_open_per_key: 1 }\nlimits: { live_per_minute: 10000 }' })
  const evaluate = async () =>
    (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: text() } })).body.evaluation
  t.match(await evaluate(), { decision: 'divert', review_id: /^rev_/, review_error: undefined })
  const refused = await evaluate()
  t.match(refused, { decision: 'divert', is_blocked: false, review_error: 'review_queue_full' })
  t.equal(refused.review_id, undefined)
  for (const [path, body, read] of dialects) {
    const answer = await call(url, path, { key, body: body() })
    t.equal(answer.status, 403, path)
    t.same(read(answer.body), ['review_queue_full', undefined, undefined], path)
    t.equal(answer.headers.get('x-safety-code'), 'review_queue_full', path)
    t.equal(answer.headers.get('x-safety-decision'), 'divert', path)
    t.equal(answer.headers.get('x-safety-review-id'), null, path)
    t.match(JSON.stringify(answer.body), /the queue of reviews is full/, path)
  }
  const flat = await call(url, '/guards/flat', { key, body: { text: text() } })
  t.match(flat.body, { is_blocked: true, code: 'review_queue_full', decision: 'divert' })
  t.equal(flat.body.review_id, undefined)
  const [path, body] = dialects[0]!
  t.match(await call(url, `/guards/ext-authz${path}`, { key, body: body() }), {
    status: 403,
    body: { error: { code: 'review_queue_full' } }
  })
  t.equal((await call(url, '/api/v1/pdp/reviews', { key })).body.reviews.length, 1)
  const { body: metrics } = await call(url, '/metrics', { key })
  t.match(metrics, /^sluicegate_review_queue_full_total\{bound="key"\} 8$/m)

  const [{ review_id }] = (await call(url, '/api/v1/pdp/reviews', { key })).body.reviews
  await call(url, '/api/v1/pdp/adjudicate', { key, body: { review_id, decision: 'forbid' } })
  t.match(await evaluate(), { review_id: /^rev_/ }, 'a decision makes room')
})

t.test('the same as a turn of the conversation', async (t) => {
  const { url, key } = await build(t, {
    yaml: 'review: { max_open: 1 }\ndefaults: { respond: message }\nlimits: { live_per_minute: 10000 }'
  })
  await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: text() } })
  for (const [path, body, , turn] of dialects) {
    const answer = await call(url, path, { key, body: body() })
    t.match(answer, { status: 200, body: turn as object }, path)
    t.equal(answer.headers.get('x-safety-code'), 'review_queue_full', path)
  }
})
