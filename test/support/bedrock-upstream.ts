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
 * @param isCut the stream ends in the middle of a message
 */
export function bedrockAnswers(
  texts: Readonly<Record<string, string>> & { permit: string },
  { isCut = false } = {}
): Answer {
  return (res, request) => {
    const asked = request.body.toString()
    const text = texts[Object.keys(texts).find((each) => asked.includes(`«${each}»`)) ?? 'permit']!
    if (request.url.endsWith('/converse')) return json(converseAnswer(text))(res, request)
    const bytes = Buffer.from(converseFrames(cut(text)).join(''), 'latin1')
    res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    for (let at = 0; at < bytes.length; at += 100) res.write(bytes.subarray(at, at + 100))
    if (isCut) res.write(bytes.subarray(0, 20))
    res.end()
  }
}
