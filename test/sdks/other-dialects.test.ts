/** What application code sees of each outcome through the SDKs of Anthropic, Google, Ollama and Cohere, in front of a real gateway. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { ApiError, GoogleGenAI } from '@google/genai'
import { APICallError } from 'ai'
import { CohereClientV2, CohereError } from 'cohere-ai'
import { Ollama } from 'ollama'
import t from 'tap'
import { call } from '../support/gateway.js'
import { otherAnswers } from '../support/other-upstreams.js'
import {
  type Ask,
  answers,
  type Client,
  everyOutcome,
  gatewayFor,
  prompts,
  type Seen,
  type Stopped,
  statuses,
  viaVercel
} from '../support/outcomes.js'
import { fakeUpstream } from '../support/upstream.js'

const anthropic = ({ url, key }: Client) => new Anthropic({ baseURL: url, apiKey: key, maxRetries: 1 })
const google = ({ url, key }: Client) => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
const ollama = ({ url, key }: Client) => new Ollama({ host: url, headers: { authorization: `Bearer ${key}` } })

const cohere = ({ url, key }: Client) => new CohereClientV2({ environment: url, token: key, maxRetries: 1 })

const conversation = (prompt: string) => ({
  model: 'claude',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: prompt }]
})

async function viaAnthropic(client: Anthropic, prompt: string, stream: boolean): Promise<Seen> {
  const body = conversation(prompt)
  const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
  const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return { text, refusal: message.stop_details?.explanation ?? '', finish: message.stop_reason }
}

async function viaGoogle(client: GoogleGenAI, prompt: string, stream: boolean): Promise<Seen> {
  const asked = { model: 'gemini', contents: prompt }
  const seen = { text: '', finish: '', refusal: '' }
  const chunks = stream
    ? await client.models.generateContentStream(asked)
    : [await client.models.generateContent(asked)]
  for await (const { text, candidates, promptFeedback } of chunks) {
    seen.text += text ?? ''
    seen.finish = candidates?.[0]?.finishReason ?? promptFeedback?.blockReason ?? seen.finish
    seen.refusal = candidates?.[0]?.finishMessage ?? promptFeedback?.blockReasonMessage ?? ''
  }
  return seen
}

async function viaOllama(client: Ollama, prompt: string, stream: boolean): Promise<Seen> {
  const body = { model: 'm', messages: [{ role: 'user', content: prompt }] }
  if (!stream) {
    const { message, done_reason: finish } = await client.chat(body)
    return { text: message.content, finish }
  }
  const seen = { text: '', finish: '' }
  for await (const { message, done_reason } of await client.chat({ ...body, stream: true })) {
    seen.text += message.content
    seen.finish = done_reason ?? seen.finish
  }
  return seen
}

async function viaGenerate(client: Ollama, prompt: string, stream: boolean): Promise<Seen> {
  if (!stream) {
    const { response, done_reason: finish } = await client.generate({ model: 'm', prompt })
    return { text: response, finish }
  }
  const seen = { text: '', finish: '' }
  for await (const { response, done_reason } of await client.generate({ model: 'm', prompt, stream: true })) {
    seen.text += response
    seen.finish = done_reason ?? seen.finish
  }
  return seen
}

async function viaCohere(client: CohereClientV2, prompt: string, stream: boolean): Promise<Seen> {
  const body = { model: 'command', messages: [{ role: 'user' as const, content: prompt }] }
  if (!stream) {
    const { message, finishReason: finish } = await client.chat(body)
    return { text: message.content?.map((block) => (block.type === 'text' ? block.text : '')).join(''), finish }
  }
  const seen = { text: '', finish: '' }
  for await (const event of await client.chatStream(body)) {
    if (event.type === 'content-delta') seen.text += event.delta?.message?.content?.text ?? ''
    if (event.type === 'message-end') seen.finish = event.delta?.finishReason ?? ''
  }
  return seen
}

const sdks: Record<string, Ask> = {
  '@anthropic-ai/sdk': (to, prompt, stream) => viaAnthropic(anthropic(to), prompt, stream),
  '@google/genai': (to, prompt, stream) => viaGoogle(google(to), prompt, stream),
  'ollama, chat': (to, prompt, stream) => viaOllama(ollama(to), prompt, stream),
  'ollama, generate': (to, prompt, stream) => viaGenerate(ollama(to), prompt, stream),
  'cohere-ai': (to, prompt, stream) => viaCohere(cohere(to), prompt, stream),
  '@ai-sdk/anthropic': (to, prompt, stream) =>
    viaVercel(createAnthropic({ baseURL: `${to.url}/v1`, apiKey: to.key })('claude'), prompt, stream),
  '@ai-sdk/google': (to, prompt, stream) =>
    viaVercel(createGoogleGenerativeAI({ baseURL: `${to.url}/v1beta`, apiKey: to.key })('gemini'), prompt, stream)
}

/** The code of each dialect's error, where that dialect has it. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the wire gave
function codeOf({ error }: any): unknown {
  return typeof error === 'string' ? error.split(':', 1)[0] : (error.details?.error_code ?? error.details?.[0]?.reason)
}

async function see(ask: Ask, client: Client, prompt: string, stream: boolean): Promise<Seen> {
  try {
    return await ask(client, prompt, stream)
  } catch (thrown) {
    const error = (thrown as { lastError?: unknown }).lastError ?? thrown
    if (error instanceof APIError) return { error: error.constructor.name, status: error.status, code: error.errorCode }
    if (error instanceof ApiError)
      return { error: 'ApiError', status: error.status, code: codeOf(JSON.parse(error.message)) }
    if (APICallError.isInstance(error)) {
      return {
        error: 'APICallError',
        status: error.statusCode ?? 0,
        code: codeOf(JSON.parse(error.responseBody ?? '{}'))
      }
    }
    if (error instanceof CohereError) {
      const { message } = error.body as { message: string }
      return { error: error.constructor.name, status: error.statusCode ?? 0, code: message.split(':', 1)[0] }
    }
    const { status_code: status, error: said, name } = thrown as { status_code?: number; error: string; name: string }
    if (status === undefined) throw thrown
    return { error: name, status, code: said.split(':', 1)[0] }
  }
}

/** Ollama's API has no word for it: there the sentence says it. */
function isFiltered({ text, finish }: Seen): boolean {
  if (['refusal', 'SAFETY', 'PROHIBITED_CONTENT', 'content-filter', 'ERROR'].includes(finish ?? '')) return true
  return finish === 'stop' && /^I'm sorry, but I can't (?:help with this|give you an answer to this)\./.test(text ?? '')
}

const operations = [
  ['/v1/messages', 'anthropic'],
  ['/v1/messages/count_tokens', 'anthropic'],
  ['/v1beta/models/{model}:generateContent', 'gemini'],
  ['/v1beta/models/{model}:streamGenerateContent', 'gemini'],
  ['/v1beta/models/{model}:countTokens', 'gemini'],
  ['/api/chat', 'ollama'],
  ['/api/generate', 'ollama'],
  ['/v2/chat', 'cohere']
]

t.test('every SDK × streamed or not × decision × direction × respond', async (t) => {
  const upstream = await fakeUpstream(t, otherAnswers(answers))
  const gateway = await gatewayFor(t, upstream, operations)
  const { client, said } = gateway
  await everyOutcome(t, sdks, gateway, see, isFiltered)

  t.test('counts are numbers or an error, whatever the route says of turns', async (t) => {
    const asks: Record<string, (to: Client, prompt: string) => Promise<number | undefined>> = {
      '@anthropic-ai/sdk': async (to, prompt) => {
        const { max_tokens: _, ...body } = conversation(prompt)
        return (await anthropic(to).messages.countTokens(body)).input_tokens
      },
      '@google/genai': async (to, prompt) =>
        (await google(to).models.countTokens({ model: 'gemini', contents: prompt })).totalTokens
    }
    for (const [sdk, ask] of Object.entries(asks)) {
      for (const to of [client, said]) {
        t.equal(await ask(to, prompts.permit), 3, sdk)
        for (const [prompt, [status, code]] of Object.entries(statuses) as [Stopped, (typeof statuses)['forbid']][]) {
          const seen = await see(async () => ({ text: String(await ask(to, prompts[prompt])) }), to, '', false)
          t.match(seen, { status, code }, `${sdk}, ${prompt}`)
        }
      }
    }
  })

  t.test("Anthropic's SDK finds the id of a request that was refused", async (t) => {
    for (const [to, prompt] of [
      [client, prompts.forbid],
      [{ ...client, key: 'sk-wrong' }, prompts.permit]
    ] as const) {
      const error = await anthropic(to)
        .messages.create(conversation(prompt))
        .then(
          () => undefined,
          (error: unknown) => error
        )
      t.match(error instanceof APIError && error.requestID, /^req_/)
    }
    t.match((await anthropic(said).messages.create(conversation(prompts.forbid)))._request_id, /^req_/)
  })

  t.test('lists of models, each from the dialect whose client asks', async (t) => {
    t.match((await anthropic(client).models.list({ limit: 10 })).data, [{ id: 'claude' }])
    t.equal(upstream.requests.at(-1)!.url, '/v1/models?limit=10')
    t.equal(upstream.requests.at(-1)!.headers['x-api-key'], 'upstream-secret')
    t.match((await google(client).models.list()).page, [{ name: 'models/gemini' }])
    t.equal(upstream.requests.at(-1)!.headers['x-goog-api-key'], 'upstream-secret')
    t.match((await ollama(client).list()).models, [{ model: 'qwen3:8b' }])
    t.match(await ollama(client).version(), { version: '0.12.0' })
    const wrong = { ...client, key: 'sk-wrong' }
    await t.rejects(anthropic(wrong).models.list().then(), { message: /invalid_api_key/ })
    await t.rejects(google(wrong).models.list(), { status: 401, message: /"reason":"invalid_api_key"/ })
    await t.rejects(ollama(wrong).list(), { status_code: 401, message: /^invalid_api_key: / })
  })

  t.test('what each client sends reaches its API as it sent it, with the upstream’s credential', async (t) => {
    const last = () => upstream.requests.at(-1)!
    await anthropic(client).beta.messages.create({ ...conversation('Hello'), betas: ['files-api-2025-04-14'] })
    t.match(last().headers, {
      'x-api-key': 'upstream-secret',
      'anthropic-version': /^\d{4}-\d\d-\d\d$/,
      'anthropic-beta': 'files-api-2025-04-14'
    })
    const cached = [{ type: 'text' as const, text: 'Be kind.', cache_control: { type: 'ephemeral' as const } }]
    await anthropic(client).messages.create({ ...conversation('Hello'), system: cached })
    t.same(JSON.parse(last().body.toString()).system, cached, 'prompt caching survives')
    await google(client).models.generateContent({ model: 'gemini', contents: 'Hello' })
    t.equal(last().url, '/v1beta/models/gemini:generateContent')
    t.match(last().headers, { 'x-goog-api-key': 'upstream-secret' })
    t.notMatch(JSON.stringify(upstream.requests.map(({ rawHeaders }) => rawHeaders)), client.key, 'no key of a client')
  })

  t.test('a JSON array is streamed as one, and a key in the query is refused', async (t) => {
    const ask = (prompt: string, query = '') =>
      call(client.url, `/v1beta/models/gemini:streamGenerateContent${query}`, {
        headers: { 'x-goog-api-key': client.key },
        body: { contents: [{ parts: [{ text: prompt }] }] }
      })
    // biome-ignore lint/suspicious/noExplicitAny: whatever the wire gave
    const textOf = (body: any[]) =>
      body.map(({ candidates }) => candidates?.[0]?.content?.parts?.[0]?.text ?? '').join('')
    t.equal(textOf((await ask(prompts.permit)).body), answers.permit)
    const { status, body } = await ask(prompts.answerForbid)
    t.equal(status, 200)
    t.match(body.at(-1), { candidates: [{ finishReason: 'SAFETY' }] })
    t.notMatch(textOf(body), /black powder/)
    t.match(await ask(prompts.permit, `?key=${client.key}`), {
      status: 400,
      body: {
        error: {
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'validation_error', metadata: { field: 'query.key' } }]
        }
      }
    })
    t.match(await ask(prompts.permit, '?alt=proto'), { status: 400 })
  })
})
