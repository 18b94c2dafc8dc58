/** OpenAI's operations on the demo backend: chat completions, completions, responses, embeddings, pictures, speech. */
import { randomUUID } from 'node:crypto'
import type { Json } from '../../base/chat.js'
import { type Call, DemoError, send, sendEvents } from './wire.js'
import { answerTo, countTokens, objectOf, type Said, type Turn, textOf, turnsOf, vectorOf } from './words.js'

export const modelId = 'demo'
const maxChoices = 8
const maxInputs = 2048

const seconds = (now: number) => Math.floor(now / 1000)
const nameOf = (model: Json | undefined) => (typeof model === 'string' ? model : modelId)
const choicesOf = (n: Json | undefined) =>
  typeof n === 'number' ? Math.min(Math.max(1, Math.trunc(n)), maxChoices) : 1

function usageOf({ promptTokens, tokens }: Said, choices: number) {
  const completion = tokens.length * choices
  return { prompt_tokens: promptTokens, completion_tokens: completion, total_tokens: promptTokens + completion }
}

export function chat({ body, now, response }: Call): void {
  const { messages } = body
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new DemoError(400, 'invalid_messages', '"messages" must be a list of one or more messages.')
  }
  const said = answerTo(turnsOf(messages), body.max_completion_tokens ?? body.max_tokens)
  const message = { role: 'assistant', content: said.text, refusal: null }
  answerChoices({ body, now, response }, said, {
    id: 'chatcmpl',
    object: 'chat.completion',
    chunk: 'chat.completion.chunk',
    whole: { message },
    begin: { delta: { role: 'assistant', content: '', refusal: null } },
    piece: (content) => ({ delta: { content } }),
    end: { delta: {} }
  })
}

export function completions({ body, now, response }: Call): void {
  const prompt = [body.prompt ?? ''].flat().filter((text) => typeof text === 'string')
  const said = answerTo([{ role: 'user', text: prompt.join(' ') }], body.max_tokens)
  answerChoices({ body, now, response }, said, {
    id: 'cmpl',
    object: 'text_completion',
    chunk: 'text_completion',
    whole: { text: said.text },
    begin: undefined,
    piece: (text) => ({ text }),
    end: { text: '' }
  })
}

interface ChoiceShape {
  id: string
  object: string
  chunk: string
  whole: object
  begin: object | undefined
  piece(text: string): object
  end: object
}

/** The common part of chat completions and completions. */
function answerChoices(
  { body, now, response }: Pick<Call, 'body' | 'now' | 'response'>,
  said: Said,
  shape: ChoiceShape
) {
  const indexes = [...Array(choicesOf(body.n)).keys()]
  const usage = usageOf(said, indexes.length)
  const finish = said.isCut ? 'length' : 'stop'
  const head = { id: `${shape.id}-demo-${randomUUID()}`, created: seconds(now), model: nameOf(body.model) }
  if (body.stream !== true) {
    const choices = indexes.map((index) => ({ index, ...shape.whole, logprobs: null, finish_reason: finish }))
    send(response, 200, { ...head, object: shape.object, choices, usage })
    return
  }
  const includeUsage = objectOf(body.stream_options).include_usage === true
  const chunk = (choices: object[], total: object | null = null) => ({
    ...head,
    object: shape.chunk,
    choices,
    ...(includeUsage ? { usage: total } : {})
  })
  const each = (part: object, reason: string | null = null) =>
    indexes.map((index) => chunk([{ index, ...part, logprobs: null, finish_reason: reason }]))
  const events = [
    ...(shape.begin === undefined ? [] : each(shape.begin)),
    ...said.tokens.flatMap((token) => each(shape.piece(token))),
    ...each(shape.end, finish),
    ...(includeUsage ? [chunk([], usage)] : [])
  ]
  sendEvents(response, events, { end: 'data: [DONE]\n\n' })
}

export function responses({ body, now, response }: Call): void {
  const turns = inputOf(body.input, body.instructions)
  const said = answerTo(turns, body.max_output_tokens)
  const id = randomUUID().replaceAll('-', '')
  const itemId = `msg_demo${id}`
  const status = said.isCut ? 'incomplete' : 'completed'
  const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
  const item = (text: string | undefined, state: string) => ({
    id: itemId,
    type: 'message',
    status: state,
    role: 'assistant',
    content: text === undefined ? [] : [part(text)]
  })
  const head = { id: `resp_demo${id}`, object: 'response', created_at: seconds(now), model: nameOf(body.model) }
  const settings = { error: null, instructions: null, metadata: {}, parallel_tool_calls: true, tools: [] }
  const begun = { ...head, status: 'in_progress', incomplete_details: null, output: [], ...settings, usage: null }
  const whole = {
    ...begun,
    status,
    incomplete_details: said.isCut ? { reason: 'max_output_tokens' } : null,
    output: [item(said.text, status)],
    usage: {
      input_tokens: said.promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: said.tokens.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: said.promptTokens + said.tokens.length
    }
  }
  if (body.stream !== true) {
    send(response, 200, whole)
    return
  }
  const place = { item_id: itemId, output_index: 0, content_index: 0 }
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: item(undefined, 'in_progress') },
    { type: 'response.content_part.added', ...place, part: part('') },
    ...said.tokens.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text: said.text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: part(said.text) },
    { type: 'response.output_item.done', output_index: 0, item: item(said.text, status) },
    { type: `response.${status}`, response: whole }
  ]
  sendEvents(
    response,
    events.map((event, index) => ({ ...event, sequence_number: index })),
    { isNamed: true }
  )
}

/** A text, or items of which the messages are read. */
function inputOf(input: Json | undefined, instructions: Json | undefined): Turn[] {
  const turns =
    typeof input === 'string'
      ? [{ role: 'user', text: input }]
      : Array.isArray(input)
        ? turnsOf(input).filter(({ role }) => role !== '')
        : []
  if (turns.length === 0) throw new DemoError(400, 'invalid_input', '"input" must be a text or a list of messages.')
  const before = textOf(instructions)
  return before === '' ? turns : [{ role: 'system', text: before }, ...turns]
}

export function embeddings({ body, response }: Call): void {
  const { input } = body
  const texts = typeof input === 'string' ? [input] : Array.isArray(input) ? input : []
  if (texts.length === 0 || texts.length > maxInputs || texts.some((text) => typeof text !== 'string')) {
    throw new DemoError(400, 'invalid_input', `"input" must be a text, or a list of 1 to ${maxInputs} texts.`)
  }
  const written = (values: number[]) =>
    body.encoding_format === 'base64' ? Buffer.from(Float32Array.from(values).buffer).toString('base64') : values
  const data = texts.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: written(vectorOf(String(text), body.dimensions))
  }))
  const tokens = countTokens(texts.map((text) => ({ role: 'user', text: String(text) })))
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  send(response, 200, { object: 'list', data, model: nameOf(body.model), usage })
}

/** One transparent pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const maxPictures = 10

export function images({ body, now, response }: Call): void {
  const { prompt, n } = body
  if (typeof prompt !== 'string') throw new DemoError(400, 'invalid_prompt', '"prompt" must be a text.')
  const count = typeof n === 'number' ? Math.min(Math.max(1, Math.trunc(n)), maxPictures) : 1
  send(response, 200, { created: seconds(now), data: Array.from({ length: count }, () => ({ b64_json: pixel })) })
}

/** A second of silence as WAV: 8 kHz, 8 bits, one channel. */
export function speech({ body, response }: Call): void {
  if (typeof body.input !== 'string') throw new DemoError(400, 'invalid_input', '"input" must be a text.')
  const rate = 8000
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + rate, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(rate, 40)
  response.writeHead(200, { 'content-type': 'audio/wav' }).end(Buffer.concat([head, Buffer.alloc(rate, 128)]))
}
