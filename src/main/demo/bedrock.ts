/** The operations of Amazon Bedrock on the demo backend. */
import type { JsonObject } from '../../base/chat.js'
import { messageOf } from '../../dialects/event-stream.js'
import { anthropicAnswer } from './others.js'
import { type Call, DemoError, send } from './wire.js'
import { answerTo, objectOf, type Said, textOf, turnsOf } from './words.js'

function answerOf({ body }: Call) {
  const turns = turnsOf(Array.isArray(body.messages) ? body.messages : [])
  if (turns.length === 0)
    throw new DemoError(400, 'invalid_request', '"messages" must be a list of one or more messages.')
  const system = textOf(body.system)
  const all = system === '' ? turns : [{ role: 'system', text: system }, ...turns]
  const said = answerTo(all, objectOf(body.inferenceConfig).maxTokens)
  return { said, stop: { stopReason: said.isCut ? 'max_tokens' : 'end_turn' }, counts: countsOf(said) }
}

function countsOf({ promptTokens, tokens }: Said) {
  const usage = {
    inputTokens: promptTokens,
    outputTokens: tokens.length,
    totalTokens: promptTokens + tokens.length
  }
  return { usage, metrics: { latencyMs: 1 } }
}

export function converse(call: Call): void {
  const { said, stop, counts } = answerOf(call)
  const message = { role: 'assistant', content: [{ text: said.text }] }
  send(call.response, 200, { output: { message }, ...stop, ...counts })
}

export function converseStream(call: Call): void {
  const { said, stop, counts } = answerOf(call)
  const events: (readonly [name: string, event: JsonObject])[] = [
    ['messageStart', { role: 'assistant' }],
    ...said.tokens.map((text) => ['contentBlockDelta', { contentBlockIndex: 0, delta: { text } }] as const),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['messageStop', stop],
    ['metadata', counts]
  ]
  sendMessages(call, events)
}

function sendMessages({ response }: Call, events: Iterable<readonly [name: string, event: JsonObject]>): void {
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
  for (const [name, event] of events) response.write(messageOf('event', name, JSON.stringify(event)), 'latin1')
  response.end()
}

export function invoke(call: Call): void {
  send(call.response, 200, anthropicAnswer(call).answer)
}

export function invokeStream(call: Call): void {
  const chunks = anthropicAnswer(call).events.map((event) => {
    const bytes = Buffer.from(JSON.stringify(event)).toString('base64')
    return ['chunk', { bytes }] as const
  })
  sendMessages(call, chunks)
}
