import { OpenAI } from 'openai'
import t from 'tap'
import { startDemo } from '../../src/main/demo.js'

const clock = { now: () => 1_700_000_000_500, monotonic: () => 0 }

t.test('the official SDK reads whole answers, streams, models and errors', async (t) => {
  const demo = await startDemo(clock)
  t.teardown(() => demo.close())
  t.match(demo.url, /^http:\/\/127\.0\.0\.1:\d+$/, 'it listens on the loopback alone')
  const client = new OpenAI({ baseURL: `${demo.url}/v1`, apiKey: 'none', maxRetries: 0 })
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is  a\nsluice?' }] }
  ] as OpenAI.ChatCompletionMessageParam[]

  const whole = await client.chat.completions.create({ model: 'demo', messages })
  t.match(whole, {
    id: /^chatcmpl-demo-/,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'demo',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', refusal: null } }]
  })
  const text = whole.choices[0]?.message.content ?? ''
  t.match(text, /demo backend.*2 messages.*"What is a sluice\?"/, 'it says what it is and what reached it')
  const words = text.split(' ').length
  t.same(whole.usage, { prompt_tokens: 6, completion_tokens: words, total_tokens: 6 + words })

  let streamed = ''
  const finishes: unknown[] = []
  const usages: unknown[] = []
  let chunks = 0
  const options = { stream: true, stream_options: { include_usage: true }, n: 2 } as const
  for await (const chunk of await client.chat.completions.create({ model: 'demo', messages, ...options })) {
    chunks++
    t.equal(chunk.object, 'chat.completion.chunk')
    for (const { index, delta, finish_reason } of chunk.choices) {
      if (index === 1) streamed += delta.content ?? ''
      if (finish_reason !== null) finishes.push(finish_reason)
    }
    if (chunk.usage) usages.push(chunk.usage)
  }
  t.equal(streamed, text, 'a stream says the same')
  t.ok(chunks > 10, 'in many pieces')
  t.same(finishes, ['stop', 'stop'])
  t.same(usages, [{ prompt_tokens: 6, completion_tokens: 2 * words, total_tokens: 6 + 2 * words }])

  const cut = await client.chat.completions.create({ model: 'demo', messages, max_tokens: 3, n: 100 })
  t.equal(cut.choices.length, 8, 'choices are bounded')
  t.match(cut.choices[7], { index: 7, finish_reason: 'length', message: { content: 'This is the' } })

  const { data } = await client.models.list()
  t.match(data, [{ id: 'demo', object: 'model', owned_by: 'sluicegate' }])
  t.match(await client.models.retrieve('demo'), { id: 'demo' })
  await t.rejects(client.models.retrieve('other'), {
    status: 404,
    code: 'model_not_found',
    type: 'invalid_request_error'
  })
  await t.rejects(client.chat.completions.create({ model: 'demo', messages: [] }), {
    status: 400,
    code: 'invalid_messages'
  })
})

t.test('what is not a chat gets an error in OpenAI’s shape, and the next request is served', async (t) => {
  const demo = await startDemo(clock)
  t.teardown(() => demo.close())
  const chat = '/v1/chat/completions'
  const table: [method: string, path: string, body: string | undefined, status: number, code: string][] = [
    ['GET', chat, undefined, 405, 'method_not_allowed'],
    ['POST', '/v1/models', '{}', 405, 'method_not_allowed'],
    ['DELETE', '/v1/models/demo', undefined, 405, 'method_not_allowed'],
    ['POST', '/', '{}', 404, 'not_found'],
    ['POST', `${chat}/`, '{}', 404, 'not_found'],
    ['GET', '/v1/models/other', undefined, 404, 'model_not_found'],
    ['POST', chat, '{', 400, 'invalid_json'],
    ['POST', chat, '', 400, 'invalid_json'],
    ['POST', chat, 'null', 400, 'invalid_messages'],
    ['POST', chat, '"text"', 400, 'invalid_messages'],
    ['POST', chat, '{"messages":"text"}', 400, 'invalid_messages']
  ]
  for (const [method, path, body, status, code] of table) {
    const response = await fetch(demo.url + path, { method, ...(body === undefined ? {} : { body }) })
    t.equal(response.status, status, `${method} ${path} ${body}`)
    t.match(await response.json(), { error: { message: String, type: 'invalid_request_error', param: null, code } })
  }
  const odd: [messages: unknown[], says: RegExp][] = [
    [[null, 1, 'x', {}, { role: 'user' }], /holds 5 messages\. None of them is a text of yours/],
    [[{ role: 'user', content: [{ type: 'image_url' }] }], /holds 1 message\. None/],
    [[{ role: 'user', content: `${'x'.repeat(159)}😀${'y'.repeat(50)}` }], /"x{159}…"/]
  ]
  for (const [messages, says] of odd) {
    const response = await fetch(demo.url + chat, { method: 'POST', body: JSON.stringify({ messages }) })
    const { choices } = (await response.json()) as OpenAI.ChatCompletion
    t.match(choices[0]?.message.content, says)
  }
})

t.test("Gemini's lists may hold one element without its list, in both spellings", async (t) => {
  const demo = await startDemo(clock)
  t.teardown(() => demo.close())
  const body = { system_instruction: { parts: { text: 'Be brief.' } }, contents: { parts: { text: 'Hello there' } } }
  const ask = async (verb: string) =>
    (
      await fetch(`${demo.url}/v1beta/models/demo:${verb}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })
    ).json() as Promise<{ candidates?: [{ content: { parts: [{ text: string }] } }]; totalTokens?: number }>
  t.match((await ask('generateContent')).candidates?.[0].content.parts[0].text, /2 messages.*"Hello there"/)
  t.equal((await ask('countTokens')).totalTokens, 4)
})
