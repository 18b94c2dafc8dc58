/** Amazon Bedrock as a backend: it answers with the text that the prompt asks for by name, whole or as an event stream. */
import { MessageReader, messageOf } from '../../src/dialects/event-stream.js'
import { type Answer, json } from './upstream.js'

/** In pieces that are no words. */
function cut(text: string): string[] {
  return text.match(/.{1,7}/gs) ?? []
}

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 }
const metrics = { latencyMs: 5 }

/** The messages of a whole answer, each as its bytes in `latin1`. */
export function converseFrames(pieces: readonly string[]): string[] {
  const events: [name: string, event: object][] = [
    ['messageStart', { role: 'assistant', p: 'abcd' }],
    ...pieces.map((text): [string, object] => [
      'contentBlockDelta',
      { contentBlockIndex: 0, delta: { text }, p: 'abcdefghijkl' }
    ]),
    ['contentBlockStop', { contentBlockIndex: 0, p: 'ab' }],
    ['messageStop', { stopReason: 'end_turn', p: 'a' }],
    ['metadata', { usage, metrics, p: 'abc' }]
  ]
  return events.map(([name, event]) => messageOf('event', name, JSON.stringify(event)))
}

/** Anthropic's events of a whole answer. */
function anthropicEvents(pieces: readonly string[]): object[] {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null }
  const metrics = { inputTokenCount: 3, outputTokenCount: 2, invocationLatency: 5, firstByteLatency: 1 }
  return [
    { type: 'message_start', message: { ...message, usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop', 'amazon-bedrock-invocationMetrics': metrics }
  ]
}

/** One event of InvokeModelWithResponseStream, as its bytes in `latin1`. */
export function chunkOf(event: object): string {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64')
  return messageOf('event', 'chunk', JSON.stringify({ bytes, p: 'abcdef' }))
}

export function invokeFrames(pieces: readonly string[]): string[] {
  return anthropicEvents(pieces).map(chunkOf)
}

export function invokeAnswer(text: string): Record<string, unknown> {
  const stop = { stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 2 } }
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text }],
    ...stop
  }
}

/** The same message with another object in it. */
export function withPayload(frame: string, body: object): string {
  const [message] = new MessageReader(1_000_000).feed(Buffer.from(frame, 'latin1'))
  return messageOf('event', message!.headers[':event-type']!, JSON.stringify(body))
}

export function converseAnswer(text: string): Record<string, unknown> {
  return {
    output: { message: { role: 'assistant', content: [{ text }] } },
    stopReason: 'end_turn',
    usage,
    metrics
  }
}

/**
 * @param texts by the word that a prompt has to hold; `permit` is the answer to any other
 * @param isCut the stream ends in the middle of its last message
 */
export function bedrockAnswers(
  texts: Readonly<Record<string, string>> & { permit: string },
  { isCut = false } = {}
): Answer {
  return (res, request) => {
    const asked = request.body.toString()
    const text = texts[Object.keys(texts).find((each) => asked.includes(`«${each}»`)) ?? 'permit']!
    if (request.url.endsWith('/converse')) return json(converseAnswer(text))(res, request)
    if (request.url.endsWith('/invoke')) return json(invokeAnswer(text))(res, request)
    const frames = request.url.endsWith('/converse-stream') ? converseFrames(cut(text)) : invokeFrames(cut(text))
    const bytes = Buffer.from(frames.join(''), 'latin1')
    res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    const sent = isCut ? bytes.subarray(0, -20) : bytes
    for (let at = 0; at < sent.length; at += 100) res.write(sent.subarray(at, at + 100))
    res.end()
  }
}
