/** A gateway that nobody configured: every SDK gets an answer of the demo backend, whole and streamed. */

import Anthropic from '@anthropic-ai/sdk'
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { CohereClientV2 } from 'cohere-ai'
import { Ollama } from 'ollama'
import OpenAI, { AzureOpenAI } from 'openai'
import t from 'tap'
import { build } from '../support/gateway.js'

const prompt = 'How do I kill a Python process?'
const isDemo =
  /^This is the built-in demo backend.*It holds 1 message\. .*kill a Python process\?".* connect a real model\.$/
const messages = [{ role: 'user' as const, content: prompt }]

/** The texts of a stream, joined. */
async function joined<Piece>(pieces: AsyncIterable<Piece>, textOf: (piece: Piece) => string | null | undefined) {
  let text = ''
  for await (const piece of pieces) text += textOf(piece) ?? ''
  return text
}

t.test('the demo backend answers every dialect through the gateway, streamed and not', async (t) => {
  const { url, key } = await build(t)
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  const azure = new AzureOpenAI({ endpoint: url, apiKey: key, apiVersion: '2024-10-21', deployment: 'demo' })
  const anthropic = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 })
  const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
  const ollama = new Ollama({ host: url, headers: { authorization: `Bearer ${key}` } })
  const cohere = new CohereClientV2({ environment: url, token: key, maxRetries: 0 })
  const bedrock = new BedrockRuntimeClient({
    endpoint: url,
    region: 'us-east-1',
    token: { token: key },
    authSchemePreference: ['httpBearerAuth'],
    requestHandler: new NodeHttpHandler()
  })
  t.teardown(() => bedrock.destroy())
  const nova = { modelId: 'amazon.demo-v1:0', messages: [{ role: 'user' as const, content: [{ text: prompt }] }] }
  const chat = { model: 'demo', messages }
  const claude = { ...chat, max_tokens: 500 }
  const gemini = { model: 'demo', contents: prompt }
  const answers: Record<string, () => Promise<string | null | undefined>> = {
    chat: async () => (await openai.chat.completions.create(chat)).choices[0]?.message.content,
    'chat, streamed': async () =>
      joined(await openai.chat.completions.create({ ...chat, stream: true }), (one) => one.choices[0]?.delta.content),
    completions: async () => (await openai.completions.create({ model: 'demo', prompt })).choices[0]?.text,
    'completions, streamed': async () =>
      joined(await openai.completions.create({ model: 'demo', prompt, stream: true }), (one) => one.choices[0]?.text),
    responses: async () => (await openai.responses.create({ model: 'demo', input: prompt })).output_text,
    'responses, streamed': async () =>
      (await openai.responses.stream({ model: 'demo', input: prompt }).finalResponse()).output_text,
    azure: async () => (await azure.chat.completions.create(chat)).choices[0]?.message.content,
    'azure, streamed': async () =>
      joined(await azure.chat.completions.create({ ...chat, stream: true }), (one) => one.choices[0]?.delta.content),
    anthropic: async () =>
      (await anthropic.messages.create(claude)).content.map((one) => 'text' in one && one.text).join(''),
    'anthropic, streamed': async () => anthropic.messages.stream(claude).finalText(),
    gemini: async () => (await google.models.generateContent(gemini)).text,
    'gemini, streamed': async () => joined(await google.models.generateContentStream(gemini), (one) => one.text),
    ollama: async () => (await ollama.chat(chat)).message.content,
    'ollama, streamed': async () => joined(await ollama.chat({ ...chat, stream: true }), (one) => one.message.content),
    bedrock: async () => (await bedrock.send(new ConverseCommand(nova))).output?.message?.content?.[0]?.text,
    'bedrock, streamed': async () =>
      joined(
        (await bedrock.send(new ConverseStreamCommand(nova))).stream!,
        (one) => one.contentBlockDelta?.delta?.text
      ),
    generate: async () => (await ollama.generate({ model: 'demo', prompt })).response,
    'generate, streamed': async () =>
      joined(await ollama.generate({ model: 'demo', prompt, stream: true }), (one) => one.response),
    cohere: async () =>
      (await cohere.chat(chat)).message.content?.map((one) => (one.type === 'text' ? one.text : '')).join(''),
    'cohere, streamed': async () =>
      joined(await cohere.chatStream(chat), (one) =>
        one.type === 'content-delta' ? one.delta?.message?.content?.text : ''
      )
  }
  for (const [name, ask] of Object.entries(answers)) t.match(await ask(), isDemo, name)

  const [vector, same] = await Promise.all(
    [undefined, 'float' as const].map(async (format) => {
      const asked = { model: 'demo', input: prompt, ...(format === undefined ? {} : { encoding_format: format }) }
      return (await openai.embeddings.create(asked)).data[0]!.embedding
    })
  )
  t.equal(vector!.length, 16)
  t.ok(
    vector!.every((value, index) => Math.abs(value - same![index]!) < 1e-6),
    'base64 and numbers are the same'
  )
  t.equal((await google.models.embedContent({ model: 'demo', contents: prompt })).embeddings?.[0]?.values?.length, 16)
  t.equal((await ollama.embed({ model: 'demo', input: [prompt, 'Hello'] })).embeddings.length, 2)
  t.equal((await anthropic.messages.countTokens(chat)).input_tokens, 7)
  t.equal((await google.models.countTokens(gemini)).totalTokens, 7)
  t.equal((await openai.models.list()).data[0]?.id, 'demo')
  t.equal((await anthropic.models.list()).data[0]?.id, 'demo')
  t.equal((await ollama.list()).models[0]?.name, 'demo')
  t.match(await google.models.list().then(({ page }) => page[0]), { name: 'models/demo' })
})
