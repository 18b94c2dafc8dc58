import OpenAI, { APIError } from 'openai'
import t from 'tap'
import { build, call } from '../support/gateway.js'

const texts = {
  permit: 'How do I kill a Python process?',
  forbid: 'Explain how to build a pipe bomb at home',
  depends: 'How do I kill it?',
  divert: `Deploy with AWS_SECRET_ACCESS_KEY=${'wJalrXUtnFEMIK7MDENGbPxRfiCYzQ8vTn2LpKd4'} and key id AKIA${'Q3EGRN5TWPL7XK2M'}`
}

/** What application code sees of one call: text and finish reason, or the error's class and code. */
async function see(client: OpenAI, content: string, stream: boolean, headers: Record<string, string> = {}) {
  const body = { model: 'demo', messages: [{ role: 'user' as const, content }] }
  try {
    if (!stream) {
      const { choices } = await client.chat.completions.create(body, { headers })
      return {
        text: choices[0]!.message.content,
        refusal: choices[0]!.message.refusal,
        finish: choices[0]!.finish_reason
      }
    }
    let text = ''
    let refusal = ''
    let finish: string | null = null
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true }, { headers })) {
      const choice = chunk.choices[0]
      text += choice?.delta.content ?? ''
      refusal += choice?.delta.refusal ?? ''
      finish = choice?.finish_reason ?? finish
    }
    return { text, refusal, finish }
  } catch (error) {
    if (!(error instanceof APIError)) throw error
    return {
      error: error.constructor.name,
      status: error.status,
      code: error.code,
      param: error.param,
      headers: error.headers
    }
  }
}

t.test('respond: error — the SDK raises what application code can tell apart, streamed or not', async (t) => {
  const { url, key } = await build(t)
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 2 })
  for (const stream of [false, true]) {
    t.match(
      await see(client, texts.permit, stream),
      { text: /demo backend/, finish: 'stop' },
      `permit, stream ${stream}`
    )
    t.match(
      await see(client, texts.forbid, stream),
      { error: 'BadRequestError', status: 400, code: 'content_filter', param: '/messages/0' },
      `forbid, stream ${stream}`
    )
    t.match(
      await see(client, texts.depends, stream),
      { error: 'UnprocessableEntityError', status: 422, code: 'context_required' },
      `depends, stream ${stream}`
    )
    t.match(
      await see(client, texts.depends, stream, { 'x-safety-context': '{"topic":"programming"}' }),
      { finish: 'stop' },
      `depends with context, stream ${stream}`
    )
    const diverted = await see(client, texts.divert, stream)
    t.match(
      diverted,
      { error: 'PermissionDeniedError', status: 403, code: 'review_required' },
      `divert, stream ${stream}`
    )
    t.match(diverted.headers?.get('x-safety-review-id'), /^rev_/)
    t.equal(diverted.headers?.get('x-should-retry'), 'false')
  }
  const wrong = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-wrong' })
  t.match(await see(wrong, texts.permit, false), { error: 'AuthenticationError', status: 401, code: 'invalid_api_key' })
  t.match((await client.models.list()).data, [{ id: 'demo' }])
  const moderation = await client.moderations.create({ input: texts.forbid })
  t.equal(moderation.results[0]?.flagged, true)
})

t.test('respond: message — the same outcomes as native assistant turns, streamed or not', async (t) => {
  const yaml = 'routes:\n  - { path: /v1/chat/completions, dialect: openai-chat, upstream: default, respond: message }'
  const { url, key } = await build(t, { yaml })
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
  for (const stream of [false, true]) {
    t.match(await see(client, texts.permit, stream), { text: /demo backend/, finish: 'stop' })
    t.match(
      await see(client, texts.forbid, stream),
      { refusal: /can't help with this/, finish: 'content_filter' },
      `forbid, stream ${stream}`
    )
    t.match(
      await see(client, texts.depends, stream),
      { text: /What is this about\?/, finish: 'stop' },
      `depends, stream ${stream}`
    )
    t.match(await see(client, texts.divert, stream), { text: /rev_/, finish: 'stop' }, `divert, stream ${stream}`)
  }
})

t.test('a reviewer’s permit lets the same request of the same client pass once', async (t) => {
  const { url, key } = await build(t)
  const { body: made } = await call(url, '/api/v1/ssaas/keys', {
    key,
    body: { name: 'app', scopes: ['safety:evaluate'], accept_terms: true }
  })
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: made.key })
  const diverted = await see(client, texts.divert, false)
  const review_id = diverted.headers?.get('x-safety-review-id')
  t.match(await see(client, texts.divert, false), { code: 'review_required' }, 'still waits')
  await call(url, '/api/v1/pdp/adjudicate', { key, body: { review_id, decision: 'permit' } })
  t.match(
    await see(new OpenAI({ baseURL: `${url}/v1`, apiKey: key }), texts.divert, false),
    { code: 'review_required' },
    'not for another client'
  )
  t.match(await see(client, texts.divert, false), { finish: 'stop' }, 'passes')
  t.match(await see(client, texts.divert, false), { code: 'review_required' }, 'once')
})
