/** The operations of Anthropic, Gemini, Ollama and Cohere on the demo backend. */
import { randomUUID } from 'node:crypto'
import type { Json, JsonObject } from '../../base/chat.js'
import { isObject } from '../../dialects/rewrite.js'
import { type Call, DemoError, send, sendEvents, sendLines } from './wire.js'
import { answerTo, countTokens, objectOf, type Turn, textOf, turnsOf, vectorOf } from './words.js'

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

function needTurns(turns: Turn[], field: string): Turn[] {
  if (turns.length === 0)
    throw new DemoError(400, 'invalid_request', `"${field}" must be a list of one or more messages.`)
  return turns
}

const withSystem = (system: string, turns: Turn[]): Turn[] =>
  system === '' ? turns : [{ role: 'system', text: system }, ...turns]

const anthropicTurns = ({ system, messages }: JsonObject) =>
  withSystem(textOf(system), needTurns(turnsOf(listOf(messages)), 'messages'))

/** An answer, and the events that spell it. */
export function anthropicAnswer({ body, model }: Call): { answer: JsonObject; events: JsonObject[] } {
  const said = answerTo(anthropicTurns(body), body.max_tokens)
  const usage = { input_tokens: said.promptTokens, output_tokens: said.tokens.length }
  const head = { id: `msg_demo${randomUUID().replaceAll('-', '')}`, type: 'message', role: 'assistant', model }
  const stop = { stop_reason: said.isCut ? 'max_tokens' : 'end_turn', stop_sequence: null }
  const answer = { ...head, content: [{ type: 'text', text: said.text }], ...stop, usage }
  const begun = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } }
  const events = [
    { type: 'message_start', message: begun },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...said.tokens.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage: { output_tokens: said.tokens.length } },
    { type: 'message_stop' }
  ]
  return { answer, events }
}

export function messages(call: Call): void {
  const { answer, events } = anthropicAnswer(call)
  if (call.body.stream === true) sendEvents(call.response, events, { isNamed: true })
  else send(call.response, 200, answer)
}

export function countMessages({ body, response }: Call): void {
  send(response, 200, { input_tokens: countTokens(anthropicTurns(body)) })
}

/** A list of Gemini's, in which one element may stand without its list. */
const elementsOf = (value: Json | undefined): Json[] => (isObject(value) ? [value] : listOf(value))
const partsOf = (content: Json | undefined): Json[] => elementsOf(objectOf(content).parts)

/** `contents` without a role are the user's. */
function geminiTurns({ contents, systemInstruction, system_instruction: other }: JsonObject): Turn[] {
  const all = elementsOf(contents).map((content) => ({ ...objectOf(content), parts: partsOf(content) }))
  const turns = turnsOf(all).map(({ role, text }) => ({ role: role === '' ? 'user' : role, text }))
  return withSystem(textOf(partsOf(systemInstruction ?? other)), needTurns(turns, 'contents'))
}

export function generateContent(call: Call): void {
  const { said, chunk } = gemini(call)
  send(call.response, 200, chunk(said.text, true))
}

/** Server-sent events, or without `alt=sse` one list. */
export function streamGenerateContent(call: Call): void {
  const { said, chunk } = gemini(call)
  const chunks = said.tokens.map((token, index) => chunk(token, index === said.tokens.length - 1))
  if (call.query.get('alt') === 'sse') sendEvents(call.response, chunks)
  else send(call.response, 200, chunks)
}

function gemini({ body, model }: Call) {
  const said = answerTo(geminiTurns(body), objectOf(body.generationConfig).maxOutputTokens)
  const usageMetadata = {
    promptTokenCount: said.promptTokens,
    candidatesTokenCount: said.tokens.length,
    totalTokenCount: said.promptTokens + said.tokens.length
  }
  const responseId = `demo${randomUUID().replaceAll('-', '')}`
  const finish = { finishReason: said.isCut ? 'MAX_TOKENS' : 'STOP' }
  const chunk = (text: string, isLast: boolean) => ({
    candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...(isLast ? finish : {}) }],
    usageMetadata,
    modelVersion: model,
    responseId
  })
  return { said, chunk }
}

export function countContent({ body, response }: Call): void {
  const { generateContentRequest } = body
  const asked = generateContentRequest === undefined ? body : objectOf(generateContentRequest)
  send(response, 200, { totalTokens: countTokens(geminiTurns(asked)) })
}

const geminiVector = ({ content, outputDimensionality }: JsonObject) => ({
  values: vectorOf(textOf(partsOf(content)), outputDimensionality)
})

export function embedContent({ body, response }: Call): void {
  send(response, 200, { embedding: geminiVector(body) })
}

export function batchEmbedContents({ body, response }: Call): void {
  send(response, 200, { embeddings: listOf(body.requests).map((request) => geminiVector(objectOf(request))) })
}

export function ollamaChat(call: Call): void {
  const turns = needTurns(turnsOf(listOf(call.body.messages)), 'messages')
  ollama(call, turns, (content) => ({ message: { role: 'assistant', content } }))
}

export function ollamaGenerate(call: Call): void {
  const turns = withSystem(textOf(call.body.system), [{ role: 'user', text: textOf(call.body.prompt) }])
  ollama(call, turns, (said) => ({ response: said }))
}

/** Streamed unless it is said otherwise, as Ollama does. */
function ollama({ body, model, now, response }: Call, turns: Turn[], written: (text: string) => object): void {
  const said = answerTo(turns, objectOf(body.options).num_predict)
  const head = { model, created_at: new Date(now).toISOString() }
  const end = {
    done: true,
    done_reason: said.isCut ? 'length' : 'stop',
    total_duration: 1,
    load_duration: 0,
    prompt_eval_count: said.promptTokens,
    prompt_eval_duration: 0,
    eval_count: said.tokens.length,
    eval_duration: 1
  }
  if (body.stream === false) {
    send(response, 200, { ...head, ...written(said.text), ...end })
    return
  }
  const pieces = said.tokens.map((token) => ({ ...head, ...written(token), done: false }))
  sendLines(response, [...pieces, { ...head, ...written(''), ...end }])
}

export function ollamaEmbed({ body, model, response }: Call): void {
  const texts = [body.input ?? ''].flat().map(String)
  const embeddings = texts.map((text) => vectorOf(text, body.dimensions))
  const tokens = countTokens(texts.map((text) => ({ role: 'user', text })))
  send(response, 200, { model, embeddings, total_duration: 1, load_duration: 0, prompt_eval_count: tokens })
}

export function ollamaEmbeddings({ body, response }: Call): void {
  send(response, 200, { embedding: vectorOf(textOf(body.prompt), undefined) })
}

export function cohereChat({ body, response }: Call): void {
  const said = answerTo(needTurns(turnsOf(listOf(body.messages)), 'messages'), body.max_tokens)
  const id = randomUUID()
  const counts = { input_tokens: said.promptTokens, output_tokens: said.tokens.length }
  const end = { finish_reason: said.isCut ? 'MAX_TOKENS' : 'COMPLETE', usage: { billed_units: counts, tokens: counts } }
  if (body.stream !== true) {
    send(response, 200, { id, message: { role: 'assistant', content: [{ type: 'text', text: said.text }] }, ...end })
    return
  }
  const block = (content: object) => ({ index: 0, delta: { message: { content } } })
  const events = [
    { type: 'message-start', id, delta: { message: { role: 'assistant', content: [] } } },
    { type: 'content-start', ...block({ type: 'text', text: '' }) },
    ...said.tokens.map((text) => ({ type: 'content-delta', ...block({ text }) })),
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: end }
  ]
  sendEvents(response, events, { isNamed: true, end: 'data: [DONE]\n\n' })
}
