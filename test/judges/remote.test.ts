import t from 'tap'
import type { Opinion } from '../../src/policy/escalate/judges.js'
import { type Answer, fakeUpstream, json, raw, reset, stall } from '../support/upstream.js'
import { openOne, question, says } from './support.js'

const scored = (scores: Record<string, unknown>, flagged: unknown = false): Record<string, unknown> => ({
  flagged,
  categories: {},
  category_scores: scores
})
const moderation = (...results: unknown[]) => json({ id: 'modr-1', model: 'omni', results })

t.test('a moderations endpoint: what is sent, and how its scores are read', async (t) => {
  const server = await fakeUpstream(
    t,
    moderation(scored({ violence: 0.1, 'violence/graphic': 0.7, hate: 0.02 }), scored({ violence: 0.2 }))
  )
  const { ask } = await openOne(t, server.url, { type: 'openai-moderation' })
  const texts = [
    { role: 'user' as const, text: 'one' },
    { role: 'tool' as const, text: 'two' }
  ]
  t.same(await ask(question(texts)), { unsafe: { violence: 0.7 }, safe: {} })
  const [request] = server.requests
  t.match(request, { method: 'POST', url: '/v1/moderations' })
  t.match(request?.headers, {
    authorization: 'Bearer sk-canary-key',
    'content-type': 'application/json',
    'accept-encoding': 'identity'
  })
  t.same(JSON.parse(String(request?.body)), { model: 'guard-1', input: ['one', 'two'] })

  const answers: [string, Answer, Opinion | { failure: string }][] = [
    ['clear', moderation(scored({ violence: 0.1 })), { unsafe: {}, safe: { violence: 0.1 } }],
    ['between the thresholds', moderation(scored({ violence: 0.3 })), { unsafe: {}, safe: {} }],
    ['low, and yet flagged', moderation(scored({ violence: 0.1 }, true)), { unsafe: {}, safe: {} }],
    ['another category', moderation(scored({ violence: 0.1, hate: 0.9 })), { unsafe: { hate: 0.9 }, safe: {} }],
    [
      'a category that has no name here',
      moderation(scored({ violence: 0.1, extra: 0.9 })),
      { unsafe: {}, safe: { violence: 0.1 } }
    ],
    ['not scored', moderation(scored({ violence: null })), { failure: 'invalid_answer' }],
    ['missing', moderation(scored({ hate: 0.1 })), { failure: 'invalid_answer' }],
    ['a score that is text', moderation(scored({ violence: '0.1' })), { failure: 'invalid_response' }],
    ['a score out of range', moderation(scored({ violence: -1 })), { failure: 'invalid_response' }],
    ['no flag', moderation({ category_scores: { violence: 0 } }), { failure: 'invalid_response' }],
    ['too few results', moderation(), { failure: 'invalid_response' }],
    ['too many results', moderation(scored({ violence: 0 }), scored({ violence: 0 })), { failure: 'invalid_response' }]
  ]
  for (const [name, answer, expected] of answers) {
    server.answer = answer
    const fresh = await openOne(t, server.url, { type: 'openai-moderation' })
    t.same(await fresh.ask(question('text')), expected, name)
  }
})

t.test(
  'a picture goes with the texts of its message, in one input or one turn, and is part of what is remembered',
  async (t) => {
    const picture = { pointer: '/messages/0/content/1', role: 'user' as const, type: 'image/png', data: 'iVBORw0KGgo=' }
    const url = 'data:image/png;base64,iVBORw0KGgo='
    const server = await fakeUpstream(t, moderation(scored({ violence: 0.7 })))
    const sees = { sees: true, cache: { size: 10, ttlMs: 60_000 } }
    const { ask, judges } = await openOne(t, server.url, { type: 'openai-moderation', ...sees })
    t.same([...judges.sees], ['it'])
    t.same(await ask({ ...question('look'), picture }), { unsafe: { violence: 0.7 }, safe: {} })
    t.same(JSON.parse(String(server.requests[0]?.body)).input, [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url } }
    ])
    await ask({ ...question('look'), picture })
    t.equal(server.requests.length, 1, 'remembered')
    await ask({ ...question('look'), picture: { ...picture, data: 'iVBORw0KGgp=' } })
    t.equal(server.requests.length, 2, 'another picture is another question')

    const chat = await fakeUpstream(t, says('unsafe\nS1'))
    const guard = await openOne(t, chat.url, { type: 'llama-guard', ...sees })
    await guard.ask({ ...question('look'), picture })
    await guard.ask({ ...question([]), picture, direction: 'answer' })
    const sent = chat.requests.map(({ body }) => JSON.parse(String(body)).messages)
    t.same(sent, [
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url } }
          ]
        }
      ],
      [
        { role: 'user', content: '' },
        { role: 'assistant', content: [{ type: 'image_url', image_url: { url } }] }
      ]
    ])
  }
)

t.test('Llama Guard: plain messages, no sampling, and its answer', async (t) => {
  const server = await fakeUpstream(t, says('\n\nunsafe\nS9'))
  const { ask } = await openOne(t, server.url, { type: 'llama-guard' })
  t.same(await ask(question('text')), { unsafe: { weapons: 1 }, safe: {} })
  t.equal(server.requests[0]?.url, '/v1/chat/completions')
  t.same(JSON.parse(String(server.requests[0]?.body)), {
    model: 'guard-1',
    messages: [{ role: 'user', content: 'text' }],
    max_tokens: 80,
    temperature: 0,
    stream: false
  })
  server.answer = says('safe')
  t.same(await ask(question('text', 'violence', 'hate')), { unsafe: {}, safe: { violence: 0, hate: 0 } })
  server.answer = says('unsafe\nS6')
  t.same(await ask(question('text')), { unsafe: {}, safe: {} }, 'a hazard of no category clears nothing')
  server.answer = says('safe', undefined, 'length')
  t.same(await ask(question('text')), { failure: 'invalid_answer' }, 'cut')
})

t.test('ShieldGemma: one request for each policy that the doubt touches, by the template of the model', async (t) => {
  const server = await fakeUpstream(t, says('No', { No: 0.9, Yes: 0.1 }))
  const { ask } = await openOne(t, server.url, { type: 'shieldgemma' })
  const { safe } = (await ask(question('text', 'violence', 'hate'))) as Opinion
  t.same(safe, { hate: 0.1, violence: 0.1 })
  const bodies = server.requests.map(({ body }) => JSON.parse(String(body)))
  t.equal(bodies.length, 2)
  t.match(bodies[0], {
    messages: [{ role: 'user', content: 'text' }],
    logprobs: true,
    top_logprobs: 10,
    temperature: 0
  })
  t.same(
    bodies
      .map(({ chat_template_kwargs: { guideline } }) => /^"No ([\w ]+)": The prompt shall not/.exec(guideline)?.[1])
      .sort(),
    ['Dangerous Content', 'Hate Speech']
  )
  await ask({ ...question([{ role: 'assistant', text: 'answer' }], 'sexual'), direction: 'answer' })
  t.match(JSON.parse(String(server.requests[2]?.body)), {
    messages: [
      { role: 'user', content: '' },
      { role: 'assistant', content: 'answer' }
    ],
    chat_template_kwargs: { guideline: /The chatbot shall not generate/ }
  })
  const own = await openOne(t, server.url, {
    type: 'shieldgemma',
    labels: { fraud: ['illicit'] },
    guidelines: { fraud: '"No Fraud": …' }
  })
  t.match(await own.ask(question('text', 'illicit')), { safe: { illicit: 0.1 } })
  t.match(JSON.parse(String(server.requests[3]?.body)), { chat_template_kwargs: { guideline: '"No Fraud": …' } })
})

t.test('Granite Guardian: the risk by the template of the model, or as the system message', async (t) => {
  const server = await fakeUpstream(t, says('Yes', { Yes: 0.8, No: 0.2 }))
  const byTemplate = await openOne(t, server.url, { type: 'granite-guardian' })
  t.match(await byTemplate.ask(question('text', 'jailbreak')), { unsafe: { jailbreak: 0.8, prompt_injection: 0.8 } })
  t.match(JSON.parse(String(server.requests[0]?.body)), {
    messages: [{ role: 'user', content: 'text' }],
    chat_template_kwargs: { guardian_config: { risk_name: 'jailbreak', criteria_id: 'jailbreak' }, think: false }
  })
  server.answer = says('<score> no </score>')
  const bySystem = await openOne(t, server.url, { type: 'granite-guardian', criteria: 'system' })
  t.same(await bySystem.ask(question('text', 'profanity')), { unsafe: {}, safe: { profanity: 0 } })
  const body = JSON.parse(String(server.requests[1]?.body))
  t.same(body.messages, [
    { role: 'system', content: 'profanity' },
    { role: 'user', content: 'text' }
  ])
  t.equal(body.chat_template_kwargs, undefined)
})

const truncated =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"results":[{"flagged":false'
/** What goes wrong, the failure that comes of it, and whether the breaker counts it. */
const faults: [string, Answer, string, boolean][] = [
  ['a connection that is reset', reset, 'connection', true],
  ['an answer that is cut', raw(truncated), 'connection', true],
  ['a status of 500', json({ error: {} }, 500), 'status', true],
  ['a status of 429', json({ error: {} }, 429), 'status', true],
  ['a status of 401', json({ error: {} }, 401), 'status', true],
  ['a redirect, which is not followed', json({}, 307, { location: '/elsewhere' }), 'status', true],
  ['a refusal of this text', json({ error: {} }, 400), 'rejected', false],
  ['a text too large for it', json({ error: {} }, 413), 'rejected', false],
  [
    'no JSON',
    raw('HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\n<html></h'),
    'invalid_response',
    true
  ],
  [
    'an empty answer',
    raw('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
    'invalid_response',
    true
  ],
  ['JSON of another kind', json([1, 2]), 'invalid_response', true],
  ['JSON of another shape', json({ ok: true }), 'invalid_response', true],
  [
    'equal keys, of which readers take one or the other',
    raw('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"choices":[],"choices":[]}'),
    'invalid_response',
    true
  ],
  ['an answer without end', json({ filler: 'x'.repeat(2 * 1024 * 1024) }), 'connection', true],
  ['words that are no verdict', says('I am sorry, but'), 'invalid_answer', false],
  ['a label that nobody knows', says('unsafe\nS99'), 'invalid_answer', false]
]

t.test('whatever goes wrong is a failure with a name, never a permit; a text cannot open the breaker', async (t) => {
  const server = await fakeUpstream(t, stall)
  for (const [name, answer, failure, counts] of faults) {
    server.answer = answer
    const { ask, judges, outcomes } = await openOne(t, server.url, {
      type: 'llama-guard',
      breaker: { failures: 1, openMs: 1000 }
    })
    t.same(await ask(question('text')), { failure }, name)
    t.same(outcomes, [failure], name)
    t.equal(judges.states()[0]?.state, counts ? 'open' : 'closed', name)
  }
  const closed = await openOne(t, 'http://127.0.0.1:1', { type: 'llama-guard' })
  t.same(await closed.ask(question('text')), { failure: 'connection' }, 'nobody listens')
  t.same(await closed.judges.consult('other', question('text')), { failure: 'unknown_judge' })
})

t.test('a judge that is slow is not waited for beyond its time, and its connection is given up', async (t) => {
  const server = await fakeUpstream(t, stall)
  const { ask, outcomes, durations } = await openOne(t, server.url, { type: 'llama-guard', timeoutMs: 50 })
  t.same(await ask(question('text')), { failure: 'timeout' })
  await server.requests[0]?.aborted
  t.same(outcomes, ['timeout'])
  t.equal(durations.length, 1)
})

t.test('no more at once than configured: the next one fails at once, and a place is free again', async (t) => {
  const held: (() => void)[] = []
  const server = await fakeUpstream(t, (res, request) => held.push(() => says('safe')(res, request)))
  const { ask, outcomes } = await openOne(t, server.url, { type: 'llama-guard', maxConcurrent: 2 })
  const running = [ask(question('a')), ask(question('b'))]
  t.same(await ask(question('c')), { failure: 'overloaded' })
  while (held.length < 2) await new Promise(setImmediate)
  for (const answer of held) answer()
  t.same(await Promise.all(running), [
    { unsafe: {}, safe: { violence: 0 } },
    { unsafe: {}, safe: { violence: 0 } }
  ])
  server.answer = says('safe')
  t.match(await ask(question('c')), { safe: { violence: 0 } })
  t.same(outcomes, ['overloaded', 'safe', 'safe', 'safe'])
})

t.test('a judge that keeps failing is left alone, tried again by one call, and taken back', async (t) => {
  const server = await fakeUpstream(t, json({}, 500))
  const { ask, clock, states } = await openOne(t, server.url, {
    type: 'llama-guard',
    breaker: { failures: 2, openMs: 30_000 }
  })
  for (let i = 0; i < 2; i++) t.same(await ask(question('text')), { failure: 'status' })
  t.same(await ask(question('text')), { failure: 'breaker_open' })
  t.equal(server.requests.length, 2, 'nothing is sent')
  clock.advance(30_000)
  server.answer = says('safe')
  t.match(await ask(question('text')), { safe: { violence: 0 } })
  t.same(states, ['open', 'half_open', 'closed'])
})

t.test('the same question is asked once, until it is another one or an old one', async (t) => {
  const server = await fakeUpstream(t, says('safe'))
  const { ask, clock, outcomes } = await openOne(t, server.url, {
    type: 'llama-guard',
    cache: { size: 10, ttlMs: 60_000 }
  })
  const first = await ask(question('text'))
  t.same(await ask(question('text')), first)
  t.equal(server.requests.length, 1)
  await ask(question('Text'))
  await ask(question('text', 'hate'))
  await ask({ ...question('text'), policy: 'default@2' })
  await ask({ ...question('text'), direction: 'answer' })
  await ask(question([{ role: 'tool', text: 'text' }]))
  t.equal(server.requests.length, 6, 'another text, category, policy, direction or role is another question')
  clock.advance(60_001)
  await ask(question('text'))
  t.equal(server.requests.length, 7)
  server.answer = says('hm')
  t.match(await ask(question('new')), { failure: 'invalid_answer' })
  server.answer = says('safe')
  t.match(await ask(question('new')), { safe: {} }, 'a failure is not remembered')
  t.same(outcomes.filter((outcome) => outcome === 'cached').length, 1)
})

t.test('a text that is too long for it is not sent', async (t) => {
  const server = await fakeUpstream(t, says('safe'))
  const { ask } = await openOne(t, server.url, { type: 'llama-guard', maxChars: 10 })
  const half = { role: 'user' as const, text: '123456' }
  t.same(await ask(question([half, half])), { failure: 'too_long' })
  t.equal(server.requests.length, 0)
})

t.test('when the caller leaves, the judge is told at once and nothing is counted against it', async (t) => {
  const server = await fakeUpstream(t, stall)
  const { ask, outcomes, states } = await openOne(t, server.url, {
    type: 'llama-guard',
    breaker: { failures: 1, openMs: 1 }
  })
  const listeners = new Set<(reason: Error) => void>()
  const cancel = {
    reason: undefined as Error | undefined,
    onCancel(listener: (reason: Error) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
  const pending = ask({ ...question('text'), cancel })
  while (server.requests.length === 0) await new Promise(setImmediate)
  cancel.reason = new Error('gone')
  for (const listener of listeners) listener(cancel.reason)
  await t.rejects(pending, cancel.reason)
  await server.requests[0]?.aborted
  t.same([outcomes, states, listeners.size], [['cancelled'], [], 0])
  await t.rejects(ask({ ...question('text'), cancel }), cancel.reason)
  t.equal(server.requests.length, 1, 'who has left already has nothing asked')
})
