/**
 * The built-in chat backend: it stands in as upstream `default` until a real one is configured or connected, so that a
 * newcomer sees forwarded chat at once, with any SDK. It speaks every dialect that the gateway guards by HTTP, streamed and
 * not, needs no model, and says what reached it. It listens on the loopback alone and asks for no key.
 */
import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, systemClock } from '../base/clock.js'
import { boundaryOf, readForm } from '../dialects/form.js'
import { dialects } from '../dialects/index.js'
import { converse, converseStream, invoke, invokeStream } from './demo/bedrock.js'
import { chat, completions, embeddings, images, modelId, responses, speech } from './demo/openai.js'
import {
  batchEmbedContents,
  cohereChat,
  countContent,
  countMessages,
  embedContent,
  generateContent,
  messages,
  ollamaChat,
  ollamaEmbed,
  ollamaEmbeddings,
  ollamaGenerate,
  streamGenerateContent
} from './demo/others.js'
import { transcriptions } from './demo/sound.js'
import { type Call, DemoError, send } from './demo/wire.js'
import { objectOf } from './demo/words.js'

export interface Demo {
  /** `http://127.0.0.1:<port>` */
  url: string
  close(): Promise<void>
}

/** Far above what the gateway lets through by default; a bound all the same. */
const maxBodyBytes = 64 * 1024 * 1024

const openaiOperations: Readonly<Record<string, (call: Call) => void>> = {
  '/chat/completions': chat,
  '/completions': completions,
  '/responses': responses,
  '/embeddings': embeddings,
  '/images/generations': images,
  '/images/edits': images,
  '/audio/speech': speech,
  '/audio/transcriptions': transcriptions,
  '/audio/translations': transcriptions
}
/** The files of all forms. */
const formFiles = Object.assign({}, ...Object.values(dialects).flatMap((each) => each.map(({ form }) => form ?? {})))

const operations: Readonly<Record<string, (call: Call) => void>> = {
  ...Object.fromEntries(Object.entries(openaiOperations).map(([path, answer]) => [`/v1${path}`, answer])),
  '/v1/messages': messages,
  '/v1/messages/count_tokens': countMessages,
  '/api/chat': ollamaChat,
  '/api/generate': ollamaGenerate,
  '/api/embed': ollamaEmbed,
  '/api/embeddings': ollamaEmbeddings,
  '/v2/chat': cohereChat
}
const geminiOperations: Readonly<Record<string, (call: Call) => void>> = {
  generateContent,
  streamGenerateContent,
  countTokens: countContent,
  embedContent,
  batchEmbedContents
}
const bedrockOperations: Readonly<Record<string, (call: Call) => void>> = {
  converse,
  'converse-stream': converseStream,
  invoke,
  'invoke-with-response-stream': invokeStream
}
/** Azure's paths are OpenAI's behind a prefix, Gemini's and Bedrock's name the model. */
const azurePath = /^\/openai(?:\/v1|\/deployments\/[^/]+)?(\/.+)$/
const bedrockPath = /^\/model\/([^/]+)\/([a-z-]+)$/
const geminiPath = /^\/v1(?:beta)?\/models\/([^/:]+):([A-Za-z]+)$/

export async function startDemo(clock: Clock = systemClock): Promise<Demo> {
  const started = clock.now()
  const server = http.createServer((request, response) => {
    handle(request, response, clock, started).catch((error: unknown) => sendError(request, response, error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
  started: number
): Promise<void> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://demo')
  const list = lists(path, request, started)
  if (list !== undefined) {
    need(request, 'GET')
    send(response, 200, list)
    return
  }
  const [, named, geminiOperation] = geminiPath.exec(path) ?? []
  const azure = azurePath.exec(path)?.[1]
  const bedrock = bedrockPath.exec(path)?.[2]
  const operation =
    geminiOperation !== undefined
      ? own(geminiOperations, geminiOperation)
      : azure !== undefined
        ? own(openaiOperations, azure)
        : bedrock !== undefined
          ? own(bedrockOperations, bedrock)
          : own(operations, path)
  if (operation === undefined) throw new DemoError(404, 'not_found', 'The demo backend does not know this path.')
  need(request, 'POST')
  const body = objectOf(await readBody(request))
  const model = named ?? (typeof body.model === 'string' ? body.model : modelId)
  operation({ body, now: clock.now(), model, query, response })
}

function own<V>(table: Readonly<Record<string, V>>, name: string): V | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** The one model, as each API lists it; undefined where the path lists none. */
function lists(path: string, { headers }: IncomingMessage, started: number): object | undefined {
  const since = new Date(started).toISOString()
  const anthropic = { type: 'model', id: modelId, display_name: 'Demo', created_at: since }
  const openai = { id: modelId, object: 'model', created: Math.floor(started / 1000), owned_by: 'sluicegate' }
  const gemini = { name: `models/${modelId}`, displayName: 'Demo', supportedGenerationMethods: ['generateContent'] }
  const isAnthropic = headers['anthropic-version'] !== undefined
  if (path === '/v1/models') {
    return isAnthropic
      ? { data: [anthropic], has_more: false, first_id: modelId, last_id: modelId }
      : { object: 'list', data: [openai] }
  }
  if (path === '/v1beta/models') return { models: [gemini] }
  if (path === '/api/tags') return { models: [{ name: modelId, model: modelId, modified_at: since, size: 0 }] }
  if (path === '/api/version') return { version: '0.0.0-demo' }
  const [, version, model] = /^\/(v1|v1beta)\/models\/([^:/]*)$/.exec(path) ?? []
  if (version === undefined) return undefined
  if (model !== modelId) throw new DemoError(404, 'model_not_found', 'The demo backend has one model: demo.')
  return version === 'v1beta' ? gemini : isAnthropic ? anthropic : openai
}

function need(request: IncomingMessage, method: string): void {
  if (request.method !== method) {
    throw new DemoError(405, 'method_not_allowed', `This path takes ${method} only.`, { allow: method })
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBodyBytes) throw new DemoError(413, 'payload_too_large', 'The body is too large.')
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const boundary = boundaryOf(request.headers['content-type'] ?? '')
  try {
    return boundary === undefined ? JSON.parse(bytes.toString()) : readForm(bytes, boundary, formFiles)
  } catch {
    if (boundary !== undefined) throw new DemoError(400, 'invalid_form', 'The body is not a valid form.')
    throw new DemoError(400, 'invalid_json', 'The body is not valid JSON.')
  }
}

function sendError({ url = '' }: IncomingMessage, response: ServerResponse, error: unknown): void {
  // The client went away, or the fault is our own after the head was sent: the connection can only be cut.
  if (!(error instanceof DemoError) || response.headersSent) {
    response.destroy()
    return
  }
  const { status, code, message, headers } = error
  const type = 'invalid_request_error'
  const body = url.startsWith('/api/')
    ? { error: message }
    : url.startsWith('/v2/') || url.startsWith('/model/')
      ? { message }
      : url.startsWith('/v1/messages')
        ? { type: 'error', error: { type, message } }
        : { error: { message, type, param: null, code } }
  send(response, status, body, headers)
}
