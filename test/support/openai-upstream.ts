/** OpenAI's operations as a backend: each answers with the text that the prompt asks for by name, whole or in pieces. */
import type { ServerResponse } from 'node:http'
import type { Answer, Recorded } from './upstream.js'
import { chunks, completion, json, sse, sseText } from './upstream.js'

const usage = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 5
}

/** In pieces that are no words. */
function cut(text: string): string[] {
  return text.match(/.{1,7}/gs) ?? []
}

function responseOf(
  model: string,
  text: string
): { whole: Record<string, unknown>; events: Record<string, unknown>[] } {
  const part = { type: 'output_text', text, annotations: [], logprobs: [] }
  const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] }
  const base = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1
  }
  const open = { ...base, status: 'in_progress', output: [], usage: null }
  const whole = { ...base, status: 'completed', output: [item], usage }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const events = [
    { type: 'response.created', response: open },
    { type: 'response.in_progress', response: open },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] }
    },
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    ...cut(text).map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole }
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
  return { whole, events }
}

interface Body {
  model?: string
  stream?: boolean
  response_format?: { type?: string }
  text?: { format?: { type?: string } }
  tools?: { function?: { name: string } }[]
  tool_choice?: unknown
}

/** Where an object is asked for, by a schema or by a tool that must be called, it is one of one field. */
const fielded = (text: string) => JSON.stringify({ answer: text })

function callStream(name: string, args: string): string {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }
  const events = chunks(...cut(args)).map((chunk, i, { length }) => {
    const [choice] = chunk['choices'] as { delta: { content?: string }; finish_reason: string | null }[]
    const piece = choice!.delta.content ?? ''
    const calls = i === 0 ? [call] : [{ index: 0, function: { arguments: piece } }]
    const last = i === length - 1
    const delta = last ? {} : { ...(i === 0 && { role: 'assistant', content: null }), tool_calls: calls }
    return { ...chunk, choices: [{ index: 0, delta, finish_reason: last ? 'tool_calls' : null }] }
  })
  return sseText(events)
}

function callWhole(name: string, args: string): Record<string, unknown> {
  const tool_calls = [{ id: 'call_1', type: 'function', function: { name, arguments: args } }]
  const message = { role: 'assistant', content: null, refusal: null, tool_calls }
  return { ...completion(''), choices: [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }] }
}

function answerText(said: string, { url }: Recorded, body: Body, objects: boolean): Answer {
  const format = body.response_format?.type ?? body.text?.format?.type ?? 'text'
  const text = objects && format !== 'text' ? fielded(said) : said
  const path = url.split('?', 1)[0]!
  const stream = body.stream === true
  const model = body.model ?? 'm'
  if (path.endsWith('/embeddings')) {
    const embedding = Buffer.from(new Float32Array([0.5, 0.25]).buffer).toString('base64')
    return json({ object: 'list', model, data: [{ object: 'embedding', index: 0, embedding }], usage })
  }
  if (path.endsWith('/responses')) {
    const { whole, events } = responseOf(model, text)
    const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    return stream ? sse(frames.join(''), { piece: 300 }) : json(whole)
  }
  if (path.endsWith('/chat/completions')) {
    const tool = body.tools?.[0]?.function?.name
    if (objects && tool !== undefined && (body.tool_choice ?? 'auto') !== 'auto') {
      const args = fielded(said)
      return stream ? sse(callStream(tool, args), { piece: 300 }) : json(callWhole(tool, args))
    }
    return stream ? sse(sseText(chunks(...cut(text))), { piece: 300 }) : json(completion(text))
  }
  const choice = (piece: string, finish: string | null) => ({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, text: piece, logprobs: null, finish_reason: finish }]
  })
  return stream
    ? sse(sseText([...cut(text).map((piece) => choice(piece, null)), choice('', 'stop')]), { piece: 300 })
    : json(choice(text, 'stop'))
}

/**
 * @param texts by the word that a prompt has to hold; `permit` is the answer to any other
 * @param objects whether the text stands in the field of an object where one is asked for
 */
export function openaiAnswers(
  texts: Readonly<Record<string, string>> & { permit: string },
  { objects = false } = {}
): Answer {
  return (res: ServerResponse, request) => {
    const asked = request.body.toString()
    const name = Object.keys(texts).find((each) => asked.includes(`«${each}»`)) ?? 'permit'
    answerText(texts[name]!, request, JSON.parse(asked) as Body, objects)(res, request)
  }
}
