/** What application code sees of each outcome through the SDKs that speak OpenAI's dialects, in front of a real gateway. */
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { APICallError, embed } from 'ai'
import OpenAI, { APIError, AzureOpenAI } from 'openai'
import t from 'tap'
import { openaiAnswers } from '../support/openai-upstream.js'
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

const openai = ({ url, key }: Client) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
const azure = ({ url, key }: Client) =>
  new AzureOpenAI({ endpoint: url, apiKey: key, apiVersion: '2024-10-21', deployment: 'gpt', maxRetries: 0 })

async function viaChat(client: OpenAI, prompt: string, stream: boolean): Promise<Seen> {
  const body = { model: 'gpt', messages: [{ role: 'user' as const, content: prompt }] }
  if (!stream) {
    const { message, finish_reason: finish } = (await client.chat.completions.create(body)).choices[0]!
    return { text: message.content ?? '', refusal: message.refusal ?? '', finish }
  }
  const seen = { text: '', refusal: '', finish: '' }
  for await (const { choices } of await client.chat.completions.create({ ...body, stream: true })) {
    const [choice] = choices
    seen.text += choice?.delta.content ?? ''
    seen.refusal += choice?.delta.refusal ?? ''
    seen.finish = choice?.finish_reason ?? seen.finish
  }
  return seen
}

async function viaResponses(client: OpenAI, prompt: string, stream: boolean): Promise<Seen> {
  const body = { model: 'gpt', input: prompt }
  const response = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body)
  const parts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.refusal] : [])).join('')
  return { text: response.output_text, refusal, finish: response.incomplete_details?.reason ?? response.status ?? '' }
}

async function viaCompletions(client: OpenAI, prompt: string, stream: boolean): Promise<Seen> {
  const body = { model: 'gpt', prompt }
  if (!stream) {
    const { text, finish_reason: finish } = (await client.completions.create(body)).choices[0]!
    return { text, finish }
  }
  const seen = { text: '', finish: '' }
  for await (const { choices } of await client.completions.create({ ...body, stream: true })) {
    seen.text += choices[0]?.text ?? ''
    seen.finish = choices[0]?.finish_reason ?? seen.finish
  }
  return seen
}

async function viaLangChain(model: ChatOpenAI, prompt: string, stream: boolean): Promise<Seen> {
  if (!stream) {
    const { text, response_metadata: meta } = await model.invoke(prompt)
    return { text, finish: finishOf(meta) }
  }
  const seen = { text: '', finish: '' }
  for await (const { text, response_metadata: meta } of await model.stream(prompt)) {
    seen.text += text
    seen.finish = finishOf(meta) ?? seen.finish
  }
  return seen
}

// biome-ignore lint/suspicious/noExplicitAny: LangChain leaves it open
function finishOf(meta: Record<string, any>): string {
  return meta.finish_reason ?? meta.incomplete_details?.reason ?? meta.status
}

const langchain = ({ url, key }: Client, useResponsesApi: boolean) =>
  new ChatOpenAI({
    model: 'gpt',
    apiKey: key,
    maxRetries: 0,
    useResponsesApi,
    configuration: { baseURL: `${url}/v1` }
  })
const vercel = ({ url, key }: Client) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key })

const sdks: Record<string, Ask> = {
  'openai, chat': (to, prompt, stream) => viaChat(openai(to), prompt, stream),
  'openai, responses': (to, prompt, stream) => viaResponses(openai(to), prompt, stream),
  'openai, completions': (to, prompt, stream) => viaCompletions(openai(to), prompt, stream),
  'AzureOpenAI, chat': (to, prompt, stream) => viaChat(azure(to), prompt, stream),
  'AzureOpenAI, responses': (to, prompt, stream) => viaResponses(azure(to), prompt, stream),
  'AzureOpenAI, completions': (to, prompt, stream) => viaCompletions(azure(to), prompt, stream),
  '@ai-sdk/openai, chat': (to, prompt, stream) => viaVercel(vercel(to).chat('gpt'), prompt, stream),
  '@ai-sdk/openai, responses': (to, prompt, stream) => viaVercel(vercel(to).responses('gpt'), prompt, stream),
  '@ai-sdk/openai-compatible, chat': (to, prompt, stream) => {
    const provider = createOpenAICompatible({ name: 'x', baseURL: `${to.url}/v1`, apiKey: to.key })
    return viaVercel(provider('gpt'), prompt, stream)
  },
  '@langchain/openai, chat': (to, prompt, stream) => viaLangChain(langchain(to, false), prompt, stream),
  '@langchain/openai, responses': (to, prompt, stream) => viaLangChain(langchain(to, true), prompt, stream)
}

async function see(ask: Ask, client: Client, prompt: string, stream: boolean): Promise<Seen> {
  try {
    return await ask(client, prompt, stream)
  } catch (thrown) {
    const error = (thrown as { lastError?: unknown }).lastError ?? thrown
    if (error instanceof APIError) return { error: error.constructor.name, status: error.status, code: error.code }
    if (APICallError.isInstance(error)) {
      const { code } = JSON.parse(error.responseBody ?? '{}').error
      return { error: 'APICallError', status: error.statusCode ?? 0, code }
    }
    const { status, code, name } = thrown as { status?: number; code?: string; name: string }
    if (status === undefined) throw thrown
    return { error: name, status, code }
  }
}

const finishes = ['content_filter', 'content-filter']

t.test('every SDK × streamed or not × decision × direction × respond', async (t) => {
  const upstream = await fakeUpstream(t, openaiAnswers(answers))
  const operations = [
    ['/v1/chat/completions', 'openai-chat'],
    ['/v1/responses', 'openai-responses'],
    ['/v1/completions', 'openai-completions'],
    ['/v1/embeddings', 'openai-embeddings'],
    ['/openai/deployments/{deployment}/chat/completions', 'azure-openai'],
    ['/openai/deployments/{deployment}/completions', 'azure-openai'],
    ['/openai/deployments/{deployment}/embeddings', 'azure-openai'],
    ['/openai/responses', 'azure-openai']
  ]
  const gateway = await gatewayFor(t, upstream, operations)
  const { client, said } = gateway
  const { url, key } = client
  await everyOutcome(t, sdks, gateway, see, ({ finish }) => finishes.includes(finish ?? ''))

  t.test('embeddings: numbers or an error, whatever the route says of turns', async (t) => {
    const asks: Record<string, (to: Client, input: string) => Promise<readonly number[]>> = {
      openai: async (to, input) => (await openai(to).embeddings.create({ model: 'e', input })).data[0]!.embedding,
      AzureOpenAI: async (to, input) => (await azure(to).embeddings.create({ model: 'e', input })).data[0]!.embedding,
      '@langchain/openai': (to, input) =>
        new OpenAIEmbeddings({ apiKey: to.key, maxRetries: 0, configuration: { baseURL: `${to.url}/v1` } }).embedQuery(
          input
        )
    }
    for (const [sdk, ask] of Object.entries(asks)) {
      for (const to of [client, said]) {
        t.same(await ask(to, prompts.permit), [0.5, 0.25], sdk)
        for (const [prompt, [status, code]] of Object.entries(statuses) as [Stopped, (typeof statuses)['forbid']][]) {
          const seen = await see(async () => ({ text: String(await ask(to, prompts[prompt])) }), to, '', false)
          t.match(seen, { status, code }, `${sdk}, ${prompt}`)
        }
      }
    }
    await t.rejects(openai(client).embeddings.create({ model: 'e', input: [1, 2, 3] }), { code: 'unscannable_content' })
    const provider = createOpenAICompatible({ name: 'x', baseURL: `${url}/v1`, apiKey: key })
    const ask = async () => {
      const { embedding } = await embed({ model: provider.embeddingModel('e'), value: prompts.forbid, maxRetries: 0 })
      return { text: String(embedding) }
    }
    t.match(await see(ask, client, '', false), { status: 400, code: 'content_filter' }, '@ai-sdk/openai-compatible')
  })

  t.test('what Azure’s own client sends reaches Azure’s own path with Azure’s own credential', async (t) => {
    await azure(client).chat.completions.create({ model: 'gpt', messages: [{ role: 'user', content: 'Hello' }] })
    const { url: asked, headers } = upstream.requests.at(-1)!
    t.equal(asked, '/openai/deployments/gpt/chat/completions?api-version=2024-10-21')
    t.match(headers, { 'api-key': 'upstream-secret' })
    t.notOk(headers.authorization)
    t.notMatch(JSON.stringify(upstream.requests.map(({ rawHeaders }) => rawHeaders)), key, 'no key of a client')
  })
})
