/**
 * The built-in chat backend: it stands in as upstream `default` until a real one is configured, so that a newcomer sees
 * forwarded chat at once. It speaks enough of OpenAI's chat completions for the official SDKs, needs no model, and says
 * what reached it. It listens on the loopback alone and asks for no key.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json, JsonObject } from '../base/chat.js'
import { type Clock, systemClock } from '../base/clock.js'

export interface Demo {
  /** `http://127.0.0.1:<port>` */
  url: string
  close(): Promise<void>
}

const modelId = 'demo'
/** Far above what the gateway lets through by default; a bound all the same. */
const maxBodyBytes = 64 * 1024 * 1024
const maxChoices = 8
/** UTF-16 units of the last message that are repeated. */
const echoLength = 160

class DemoError extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Record<string, string>
  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

export async function startDemo(clock: Clock = systemClock): Promise<Demo> {
  const started = seconds(clock)
  const server = http.createServer((request, response) => {
    handle(request, response, clock, started).catch((error: unknown) => sendError(response, error))
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
  const path = (request.url ?? '').split('?', 1)[0] ?? ''
  const model = { id: modelId, object: 'model', created: started, owned_by: 'sluicegate' }
  if (path === '/v1/chat/completions') {
    need(request, 'POST')
    answerChat(response, readChat(await readBody(request)), clock)
  } else if (path === '/v1/models') {
    need(request, 'GET')
    send(response, 200, { object: 'list', data: [model] })
  } else if (path.startsWith('/v1/models/')) {
    need(request, 'GET')
    if (path !== `/v1/models/${modelId}`)
      throw new DemoError(404, 'model_not_found', 'The demo backend has one model: demo.')
    send(response, 200, model)
  } else throw new DemoError(404, 'not_found', 'The demo backend does not know this path.')
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
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new DemoError(400, 'invalid_json', 'The body is not valid JSON.')
  }
}

interface Chat {
  model: string
  messages: Json[]
  choices: number
  stream: boolean
  includeUsage: boolean
  /** In words, which is what the demo counts as tokens. */
  maxTokens: number
}

function readChat(body: unknown): Chat {
  const { model, messages, n, stream, stream_options: options, ...rest } = (body ?? {}) as JsonObject
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new DemoError(400, 'invalid_messages', '"messages" must be a list of one or more messages.')
  }
  const limit = rest.max_completion_tokens ?? rest.max_tokens
  return {
    model: typeof model === 'string' ? model : modelId,
    messages,
    choices: typeof n === 'number' ? Math.min(Math.max(1, Math.trunc(n)), maxChoices) : 1,
    stream: stream === true,
    includeUsage: (options as JsonObject | null | undefined)?.include_usage === true,
    maxTokens: typeof limit === 'number' && limit >= 1 ? Math.trunc(limit) : Infinity
  }
}

function answerChat(response: ServerResponse, chat: Chat, clock: Clock): void {
  const all = splitTokens(reply(chat.messages))
  const tokens = all.slice(0, chat.maxTokens)
  const finish = tokens.length < all.length ? 'length' : 'stop'
  const prompt = chat.messages.reduce<number>((sum, message) => sum + splitTokens(textOf(message)).length, 0)
  const completion = tokens.length * chat.choices
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  const head = { id: `chatcmpl-demo-${randomUUID()}`, created: seconds(clock), model: chat.model }
  const indexes = [...Array(chat.choices).keys()]

  if (!chat.stream) {
    const message = { role: 'assistant', content: tokens.join(''), refusal: null }
    const choices = indexes.map((index) => ({ index, message, logprobs: null, finish_reason: finish }))
    send(response, 200, { ...head, object: 'chat.completion', choices, usage })
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  const chunk = (choices: object[], total: object | null = null) => {
    const data = { ...head, object: 'chat.completion.chunk', choices, ...(chat.includeUsage ? { usage: total } : {}) }
    response.write(`data: ${JSON.stringify(data)}\n\n`)
  }
  const each = (delta: object, reason: string | null = null) => {
    for (const index of indexes) chunk([{ index, delta, logprobs: null, finish_reason: reason }])
  }
  each({ role: 'assistant', content: '', refusal: null })
  for (const content of tokens) each({ content })
  each({}, finish)
  if (chat.includeUsage) chunk([], usage)
  response.end('data: [DONE]\n\n')
}

function reply(messages: readonly Json[]): string {
  const count = messages.length === 1 ? '1 message' : `${messages.length} messages`
  const last = messages.filter((message) => (message as JsonObject | null)?.role === 'user').at(-1)
  const said = last === undefined ? '' : shorten(textOf(last))
  const echo = said === '' ? 'None of them is a text of yours.' : `The last one from you reads: "${said}"`
  return `This is the built-in demo backend: no model is connected, but your chat was evaluated, permitted and forwarded. It holds ${count}. ${echo} Set SLUICEGATE_UPSTREAM to talk to a real model.`
}

/** A message's text: its content, or the text parts of it. */
function textOf(message: Json): string {
  const content = (message as JsonObject | null)?.content
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((part) => ((part as JsonObject | null)?.text as string | undefined) ?? []).join(' ')
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  // By code points: half of a surrogate pair is no text.
  return line.length <= echoLength
    ? line
    : `${Array.from(line.slice(0, echoLength + 1))
        .slice(0, -1)
        .join('')}…`
}

/** Words with the white space before them; joined they are the text again. */
function splitTokens(text: string): string[] {
  return text.match(/\s*\S+/g) ?? []
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...headers
  })
  response.end(text)
}

function sendError(response: ServerResponse, error: unknown): void {
  // The client went away, or the fault is our own after the head was sent: what is left is to cut the connection.
  if (!(error instanceof DemoError) || response.headersSent) {
    response.destroy()
    return
  }
  const type = 'invalid_request_error'
  send(
    response,
    error.status,
    { error: { message: error.message, type, param: null, code: error.code } },
    error.headers
  )
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
