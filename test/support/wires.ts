/**
 * Every chat API that the gateway speaks, as bytes: how it is asked, how its backend answers a text, whole and streamed,
 * and where its clients read the code of an error and the end of a stream.
 */
import type { JsonObject } from '../../src/base/chat.js'
import { writeForm } from '../../src/dialects/form.js'
import { converseAnswer, converseFrames, invokeAnswer, invokeFrames } from './bedrock-upstream.js'
import { completion } from './upstream.js'

type Shape = Record<string, unknown>

export interface Wire {
  name: string
  /** A published path of the dialect. */
  path(stream: boolean): string
  ask(text: string, stream: boolean): Shape
  /** A whole answer: JSON, or a sound that has the text within it. */
  whole(text: string): Shape | Buffer
  /** The bytes of a streamed answer, the end marker last. */
  frames(pieces: readonly string[]): string[]
  /** Of streamed answers; of the sound. */
  type: string
  /** How the characters of a frame are bytes. Default: UTF-8. */
  encoding?: 'latin1'
  /** A streamed answer as it reads, where its events come encoded. */
  decoded?(streamed: string): string
  /** Where a request is a form: the fields of `ask` are its own. */
  isForm?: true
  /** Answers never come in pieces. */
  isWhole?: true
  /** The code in an error of this API, which its clients read. */
  codeOf(error: Shape): unknown
  /** Whether these bytes hold the marker with which a complete stream of this API ends, where it has one. */
  isComplete(streamed: string): boolean
}

// biome-ignore lint/suspicious/noExplicitAny: reads what the wire gave
type Any = any
const data = (event: Shape) => `data: ${JSON.stringify(event)}\n\n`
const named = (event: Shape) => `event: ${event['type']}\n${data(event)}`
const line = (event: Shape) => `${JSON.stringify(event)}\n`
const openaiCode = ({ error }: Any) => error.code
const codeBefore = (message: string) => message.split(':', 1)[0]
const said = (text: string) => [{ role: 'user', content: text }]

const chunk = (choice: Shape) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'm',
  choices: [{ index: 0, ...choice }]
})

const openaiChat: Wire = {
  name: 'openai-chat',
  path: () => '/v1/chat/completions',
  ask: (text, stream) => ({ model: 'm', stream, messages: said(text) }),
  whole: (text) => completion(text),
  frames: (pieces) => [
    ...pieces.map((content) => data(chunk({ delta: { content }, finish_reason: null }))),
    // A server may leave out `[DONE]`.
    `${data(chunk({ delta: {}, finish_reason: 'stop' }))}data: [DONE]\n\n`
  ],
  type: 'text/event-stream',
  codeOf: openaiCode,
  isComplete: (streamed) => streamed.includes('data: [DONE]')
}

const completions: Wire = {
  ...openaiChat,
  name: 'openai-completions',
  path: () => '/v1/completions',
  ask: (text, stream) => ({ model: 'm', stream, prompt: text }),
  whole: (text) => ({
    ...completion(''),
    object: 'text_completion',
    choices: [{ index: 0, text, finish_reason: 'stop' }]
  }),
  frames: (pieces) => [
    ...pieces.map((text) => data({ ...chunk({ text, finish_reason: null }), object: 'text_completion' })),
    `${data({ ...chunk({ text: '', finish_reason: 'stop' }), object: 'text_completion' })}data: [DONE]\n\n`
  ]
}

const outputText = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
const response = (text: string, status = 'completed') => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'm',
  status,
  output:
    status === 'completed'
      ? [{ id: 'msg_1', type: 'message', status, role: 'assistant', content: [outputText(text)] }]
      : []
})

const responses: Wire = {
  ...openaiChat,
  name: 'openai-responses',
  path: () => '/v1/responses',
  ask: (text, stream) => ({ model: 'm', stream, input: text }),
  whole: (text) => response(text),
  frames(pieces) {
    const text = pieces.join('')
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] }
    const done = { ...item, status: 'completed', content: [outputText(text)] }
    return [
      { type: 'response.created', response: response('', 'in_progress') },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.content_part.added', ...place, part: outputText('') },
      ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
      { type: 'response.output_text.done', ...place, text },
      { type: 'response.content_part.done', ...place, part: outputText(text) },
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.completed', response: response(text) }
    ].map((event, sequence_number) => named({ ...event, sequence_number }))
  },
  isComplete: (streamed) => /response\.(?:completed|incomplete)/.test(streamed)
}

const azure: Wire = {
  ...openaiChat,
  name: 'azure-openai',
  path: () => '/openai/deployments/m/chat/completions?api-version=2024-10-21'
}

const usage = { input_tokens: 3, output_tokens: 2 }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' }

const anthropic: Wire = {
  name: 'anthropic',
  path: () => '/v1/messages',
  ask: (text, stream) => ({ model: 'claude', max_tokens: 9, stream, messages: said(text) }),
  whole: (text) => ({
    ...message,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage
  }),
  frames: (pieces) =>
    [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: 'message_stop' }
    ].map(named),
  type: 'text/event-stream',
  codeOf: ({ error }: Any) => codeBefore(error.message),
  isComplete: (streamed) => streamed.includes('message_stop')
}

const candidate = (text: string, more: Shape = {}) => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
  modelVersion: 'gemini',
  responseId: 'r1'
})
const candidates = (pieces: readonly string[]) =>
  pieces.map((piece, i) => candidate(piece, i === pieces.length - 1 ? { finishReason: 'STOP' } : {}))

const gemini: Wire = {
  name: 'gemini, events',
  path: (stream) => `/v1beta/models/gemini:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  ask: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  whole: (text) => candidate(text, { finishReason: 'STOP' }),
  frames: (pieces) => candidates(pieces).map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`),
  type: 'text/event-stream',
  codeOf: (error: Any) => (Array.isArray(error) ? error[0] : error).error.details[0].reason,
  // The end of the connection is the only one.
  isComplete: () => false
}

const geminiArray: Wire = {
  ...gemini,
  name: 'gemini, array',
  path: (stream) => `/v1beta/models/gemini:${stream ? 'streamGenerateContent' : 'generateContent'}`,
  frames: (pieces) => [
    ...candidates(pieces).map((each, i) => `${i === 0 ? '[' : ',\r\n'}${JSON.stringify(each)}`),
    ']'
  ],
  type: 'application/json',
  isComplete: (streamed) => streamed.trimEnd().endsWith(']')
}

const ollama = (operation: 'chat' | 'generate'): Wire => {
  const answer = (text: string, done: boolean) => ({
    model: 'm',
    created_at: '2025-10-01T00:00:00Z',
    ...(operation === 'chat' ? { message: { role: 'assistant', content: text } } : { response: text }),
    done,
    ...(done && { done_reason: 'stop' })
  })
  return {
    name: `ollama, ${operation}`,
    path: () => `/api/${operation}`,
    ask: (text, stream) => ({
      model: 'm',
      stream,
      ...(operation === 'chat' ? { messages: said(text) } : { prompt: text })
    }),
    whole: (text) => answer(text, true),
    frames: (pieces) => [...pieces.map((piece) => line(answer(piece, false))), line(answer('', true))],
    type: 'application/x-ndjson',
    codeOf: ({ error }: Any) => codeBefore(error),
    isComplete: (streamed) => streamed.includes('"done":true')
  }
}

const cohere: Wire = {
  name: 'cohere',
  path: () => '/v2/chat',
  ask: (text, stream) => ({ model: 'command', stream, messages: said(text) }),
  whole: (text) => ({
    id: 'c1',
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    usage: { billed_units: usage, tokens: usage }
  }),
  // A server may leave out `[DONE]`: the message ends with its own event.
  frames: (pieces) =>
    [
      { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant', content: [] } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      ...pieces.map((text) => ({ type: 'content-delta', index: 0, delta: { message: { content: { text } } } })),
      { type: 'content-end', index: 0 },
      { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { tokens: usage } } }
    ].map(named),
  type: 'text/event-stream',
  // In mid-stream the last event tells it.
  codeOf: ({ message, delta }: Any) => codeBefore(message ?? delta.error),
  isComplete: (streamed) => streamed.includes('data: [DONE]')
}

const bedrock: Wire = {
  name: 'bedrock',
  path: (stream) => `/model/anthropic.claude-v2%3A0/${stream ? 'converse-stream' : 'converse'}`,
  ask: (text) => ({ messages: [{ role: 'user', content: [{ text }] }] }),
  whole: (text) => converseAnswer(text),
  // A server may leave out the counts, which come behind the end of the message.
  frames: (pieces) => converseFrames(pieces).slice(0, -1),
  type: 'application/vnd.amazon.eventstream',
  encoding: 'latin1',
  codeOf: ({ message }: Any) => codeBefore(message),
  // The end of the connection is the only one.
  isComplete: () => false
}

const invoke: Wire = {
  ...bedrock,
  name: 'bedrock, invoke',
  path: (stream) => `/model/anthropic.claude-v2%3A0/invoke${stream ? '-with-response-stream' : ''}`,
  ask: (text) => ({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages: said(text) }),
  whole: invokeAnswer,
  frames: invokeFrames,
  decoded: (streamed) => streamed.replace(/"bytes":"([^"]*)"/g, (_, bytes) => Buffer.from(bytes, 'base64').toString())
}

/** What never comes in pieces has no frames. */
const whole = { isWhole: true, frames: () => [], isComplete: () => false, codeOf: openaiCode } as const

const images: Wire = {
  ...whole,
  name: 'openai-images',
  path: () => '/v1/images/generations',
  ask: (text) => ({ model: 'm', prompt: text }),
  whole: (text) => ({ created: 5, data: [{ revised_prompt: text, url: 'https://pictures.example/1.png' }] }),
  type: 'application/json'
}

/** Bytes that nobody takes for a text, as an MP3 begins, and a text. */
function soundOf(text: string): Buffer {
  const noise = Buffer.from(Array.from({ length: 100 + 2 * text.length }, (_, i) => (i * 67 + 190) % 256))
  return Buffer.concat([Buffer.from('494433040000', 'hex'), noise, Buffer.from(text)])
}

const speech: Wire = {
  ...whole,
  name: 'openai-speech',
  path: () => '/v1/audio/speech',
  ask: (text) => ({ model: 'm', voice: 'alloy', input: text }),
  whole: soundOf,
  type: 'audio/mpeg'
}

const transcriptions: Wire = {
  ...openaiChat,
  name: 'openai-transcriptions',
  path: () => '/v1/audio/transcriptions',
  isForm: true,
  ask: (text, stream) => ({
    model: 'm',
    file: { filename: 'a.mp3', mime_type: 'audio/mpeg', data: soundOf('').toString('base64') },
    prompt: text,
    stream: String(stream)
  }),
  whole: (text) => ({ text, usage: { type: 'duration', seconds: 1 } }),
  frames: (pieces) =>
    [
      ...pieces.map((delta) => ({ type: 'transcript.text.delta', delta })),
      { type: 'transcript.text.done', text: pieces.join('') }
    ].map(data),
  isComplete: (streamed) => streamed.includes('transcript.text.done')
}

export const wires: readonly Wire[] = [
  openaiChat,
  completions,
  responses,
  azure,
  anthropic,
  gemini,
  geminiArray,
  ollama('chat'),
  ollama('generate'),
  cohere,
  bedrock,
  invoke,
  images,
  speech,
  transcriptions
]

/** A question as it is sent. */
export function sentBy(wire: Wire, text: string, stream: boolean): { type: string; bytes: Buffer } {
  const body = wire.ask(text, stream)
  return wire.isForm
    ? writeForm(body as JsonObject)
    : { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) }
}

/** Those whose answers are sound: nothing in them is judged. */
export function isSound({ type }: Wire): boolean {
  return type.startsWith('audio/')
}

/** The bytes of a whole answer, and their type. */
export function wholeOf(wire: Wire, text: string): { type: string; bytes: Buffer } {
  const answer = wire.whole(text)
  return Buffer.isBuffer(answer)
    ? { type: wire.type, bytes: answer }
    : { type: 'application/json', bytes: Buffer.from(JSON.stringify(answer)) }
}

/** The routes of a wire, their parameters in braces. */
export function templatesOf(wire: Wire): string[] {
  return [...new Set([false, true].map((stream) => templateOf(wire, stream)))]
}

export function templateOf(wire: Wire, stream: boolean): string {
  return wire
    .path(stream)
    .split('?', 1)[0]!
    .replace('models/gemini:', 'models/{model}:')
    .replace('deployments/m/', 'deployments/{deployment}/')
    .replace('model/anthropic.claude-v2%3A0/', 'model/{model}/')
}
