/** Amazon Bedrock: InvokeModel and InvokeModelWithResponseStream, for Anthropic's models. */
import { EventStreamCodec } from '@smithy/core/event-streams'
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { names } from '../../src/dialects/anthropic/names.js'
import type { Dialect } from '../../src/dialects/dialect.js'
import { dialects, operationAt } from '../../src/dialects/index.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import * as anthropic from './anthropic-events.js'
import { dialectSuite } from './dialect-suite.js'

const [, , invoke, invokeStream] = dialects.bedrock as unknown as readonly [Dialect, Dialect, Dialect, Dialect]
const target = { params: { model: 'anthropic.claude-v2%3A0' }, query: '' }
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
/** The reader that AWS's own SDK has. */
const codec = new EventStreamCodec(text, (written) => Buffer.from(written))

const inBase64 = (said: string | Buffer) => Buffer.from(said).toString('base64')
const chunk = (more: JsonObject): WireEvent => ({ event: 'chunk', data: JSON.stringify(more) })
const chunkOf = (event: JsonObject): WireEvent => chunk({ bytes: inBase64(JSON.stringify(event)), p: 'abcdef' })

/** The events in the chunks, as Anthropic would have sent them. */
function unwrapped(frames: string): string {
  const bytes = Buffer.from(frames, 'latin1')
  let out = ''
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const { headers, body } = codec.decode(bytes.subarray(at, at + length))
    at += length
    const [kind, name] = [':message-type', ':event-type'].map((each) => headers[each]?.value)
    if (kind !== 'event' || name !== 'chunk') throw new Error(`no chunk: ${kind} ${name}`)
    const data = Buffer.from(JSON.parse(text(body)).bytes, 'base64').toString()
    out += `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`
  }
  return out
}

const request = (hole: (n: number) => Json): JsonObject => ({
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 10,
  system: [{ type: 'text', text: 'be kind', more: hole(0) }],
  messages: [
    {
      role: 'user',
      extra: hole(1),
      content: [
        { type: 'text', text: 'x' },
        { type: 'tool_result', content: hole(2) }
      ]
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: hole(3) }] }
  ],
  tools: [{ name: 'f', input_schema: hole(4) }],
  other: hole(0)
})
const answer = (hole: (n: number) => Json): JsonObject => ({
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'text', text: 'x', citations: hole(0) },
    { type: 'tool_use', name: 'f', input: hole(1) }
  ],
  stop_reason: 'end_turn',
  other: hole(2)
})

t.test('InvokeModel', async (t) => dialectSuite(t, { operation: invoke, target, names, request, answer }))

t.test('InvokeModelWithResponseStream', async (t) =>
  dialectSuite(t, {
    operation: invokeStream,
    target,
    names,
    request,
    answer,
    stream: {
      spell: (pieces) => anthropic.spell(pieces).map(({ data }) => chunkOf(JSON.parse(data) as JsonObject)),
      channels: anthropic.channels,
      assemble: (frames) => anthropic.assemble(unwrapped(frames)),
      decoded: unwrapped,
      filteredFinish: 'refusal',
      refused: [
        { event: 'messageStart', data: '{"role":"assistant"}' },
        { data: JSON.stringify({ bytes: inBase64('{"type":"ping"}') }) },
        chunk({}),
        chunk({ bytes: 5 }),
        chunk({ bytes: 'no base64' }),
        chunk({ bytes: inBase64('{"type":"ping"}').replace(/=*$/, 'A') }),
        chunk({ bytes: inBase64('nonsense') }),
        chunk({ bytes: inBase64(Buffer.from('7b22ff227d', 'hex')) }),
        chunk({ bytes: inBase64('{"type":"ping","type":"ping"}') }),
        chunk({ bytes: inBase64('{"type":"ping"}'), p: 'say this' }),
        chunk({ bytes: inBase64('{"type":"ping"}'), more: 'words' }),
        chunkOf({ type: 'of tomorrow', text: 'x' }),
        chunkOf({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
      ]
    }
  })
)

t.test('the credential is found within a chunk', async (t) => {
  const secret = 'upstream-secret-of-good-length'
  const events = anthropic.spell([`it is ${secret.slice(0, 12)}`, secret.slice(12)])
  const stream = invokeStream.openStream(target)
  stream.watch(secret)
  t.throws(() => events.forEach(({ data }) => void stream.push(chunkOf(JSON.parse(data) as JsonObject))), {
    code: 'upstream_error'
  })
})

t.test('what is asked: the model of the path, and a body of Anthropic’s', async (t) => {
  const messages = [{ role: 'user', content: 'Hello' }]
  const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 5, messages, metadata: { user_id: 'u' } }
  const { parts, model, stream } = invokeStream.readRequest(body, target)
  t.same([model, stream], ['anthropic.claude-v2:0', true])
  t.equal(invoke.readRequest({ ...body, stream: true }, target).stream, false, 'the path alone says it')
  t.match(
    parts.find(({ pointer }) => pointer === 'path.model'),
    { role: 'parameter', text: 'anthropic.claude-v2:0' }
  )
  for (const [other, field] of [
    [{ inputText: 'Hello' }, 'anthropic_version'],
    [{ messages }, 'anthropic_version'],
    [{ ...body, anthropic_version: 5 }, 'anthropic_version'],
    [{ anthropic_version: 'bedrock-2023-05-31' }, 'messages']
  ] as [JsonObject, string][]) {
    t.throws(
      () => invoke.readRequest(other, target),
      { code: 'validation_error', fields: { details: { field } } },
      field
    )
  }
  t.equal(operationAt('bedrock', '/model/{model}/invoke'), invoke)
  t.equal(operationAt('bedrock', '/model/{model}/invoke-with-response-stream'), invokeStream)
})
