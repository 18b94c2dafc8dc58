/** Anthropic, Gemini, Ollama and Cohere as one backend: each answers with the text that the prompt asks for by name, whole or in pieces. */
import { type Answer, json, sse } from './upstream.js'

/** In pieces that are no words. */
function cut(text: string): string[] {
  return text.match(/.{1,7}/gs) ?? []
}

function anthropic(text: string, stream: boolean): Answer {
  const usage = { input_tokens: 3, output_tokens: 2 }
  const base = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' }
  const stop = { stop_reason: 'end_turn', stop_sequence: null }
  if (!stream) return json({ ...base, content: [{ type: 'text', text }], ...stop, usage })
  const message = { ...base, content: [], stop_reason: null, stop_sequence: null, usage }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    ...cut(text).map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: piece }
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage: { output_tokens: 2 } },
    { type: 'message_stop' }
  ]
  return sse(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''), { piece: 300 })
}

function gemini(text: string, url: string): Answer {
  const chunk = (said: string, more: object) => ({
    candidates: [{ content: { parts: [{ text: said }], role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    modelVersion: 'gemini',
    responseId: 'r1'
  })
  const pieces = cut(text)
  const chunks = pieces.map((piece, i) => chunk(piece, i === pieces.length - 1 ? { finishReason: 'STOP' } : {}))
  if (url.includes(':countTokens')) return json({ totalTokens: 3 })
  if (url.includes('alt=sse'))
    return sse(chunks.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join(''), { piece: 300 })
  return json(url.includes(':stream') ? chunks : chunk(text, { finishReason: 'STOP' }))
}

function ollama(text: string, url: string, stream: boolean): Answer {
  const line = (said: string, done: boolean) => ({
    model: 'm',
    created_at: '2025-10-01T00:00:00Z',
    ...(url.endsWith('/chat') ? { message: { role: 'assistant', content: said } } : { response: said }),
    done,
    ...(done && { done_reason: 'stop', eval_count: 2 })
  })
  if (!stream) return json(line(text, true))
  const lines = [...cut(text).map((piece) => line(piece, false)), line('', true)]
  const wire = sse(lines.map((each) => `${JSON.stringify(each)}\n`).join(''), {
    piece: 100,
    type: 'application/x-ndjson'
  })
  return wire
}

function cohere(text: string, stream: boolean): Answer {
  const end = { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 3, output_tokens: 2 } } }
  if (!stream) return json({ id: 'c1', message: { role: 'assistant', content: [{ type: 'text', text }] }, ...end })
  const block = (content: object) => ({ index: 0, delta: { message: { content } } })
  const events = [
    { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant', content: [] } } },
    { type: 'content-start', ...block({ type: 'text', text: '' }) },
    ...cut(text).map((piece) => ({ type: 'content-delta', ...block({ text: piece }) })),
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: end }
  ]
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return sse(`${frames.join('')}data: [DONE]\n\n`, { piece: 300 })
}

/** @param texts by the word that a prompt has to hold; `permit` is the answer to any other */
export function otherAnswers(texts: Readonly<Record<string, string>> & { permit: string }): Answer {
  return (res, request) => {
    const { url } = request
    if (request.method === 'GET') return json(lists[url.split('?', 1)[0]!] ?? { error: 'unknown' })(res, request)
    const asked = request.body.toString()
    const text = texts[Object.keys(texts).find((each) => asked.includes(`«${each}»`)) ?? 'permit']!
    const { stream } = JSON.parse(asked) as { stream?: boolean }
    if (url.startsWith('/v1/messages/count_tokens')) return json({ input_tokens: 3 })(res, request)
    if (url.startsWith('/v1/messages')) return anthropic(text, stream === true)(res, request)
    if (url.startsWith('/v2/')) return cohere(text, stream === true)(res, request)
    if (url.startsWith('/api/')) return ollama(text, url, stream !== false)(res, request)
    return gemini(text, url)(res, request)
  }
}

/** Lists of models, as each API gives them. */
const lists: Readonly<Record<string, unknown>> = {
  '/v1/models': {
    data: [{ type: 'model', id: 'claude', display_name: 'Claude', created_at: '2025-01-01T00:00:00Z' }],
    has_more: false,
    first_id: 'claude',
    last_id: 'claude'
  },
  '/v1beta/models': { models: [{ name: 'models/gemini', displayName: 'Gemini' }] },
  '/api/tags': { models: [{ name: 'qwen3:8b', model: 'qwen3:8b' }] },
  '/api/version': { version: '0.12.0' }
}
