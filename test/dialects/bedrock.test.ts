/** Amazon Bedrock: Converse and ConverseStream. */
import { EventStreamCodec } from '@smithy/core/event-streams'
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { names } from '../../src/dialects/bedrock/names.js'
import type { Dialect } from '../../src/dialects/dialect.js'
import { messageOf } from '../../src/dialects/event-stream.js'
import { dialects, operationAt } from '../../src/dialects/index.js'
import { compilePath, fillPath } from '../../src/dialects/path.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import { type Assembled, dialectSuite } from './dialect-suite.js'

const [converse, converseStream] = dialects.bedrock as unknown as readonly [Dialect, Dialect]
const target = { params: { model: 'anthropic.claude-v2%3A0' }, query: '' }
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
/** The reader that AWS's own SDK has. */
const codec = new EventStreamCodec(text, (written) => Buffer.from(written))

const event = (name: string, data: JsonObject): WireEvent => ({ event: name, data: JSON.stringify(data) })

/** A thought, a text and a tool's input, each spelled out by the pieces. Only the call is begun by an event of its own. */
function spell(pieces: readonly string[]): WireEvent[] {
  const block = (contentBlockIndex: number, start: JsonObject | undefined, delta: (piece: string) => JsonObject) => [
    ...(start === undefined ? [] : [event('contentBlockStart', { contentBlockIndex, start, p: 'abc' })]),
    ...pieces.map((piece) => event('contentBlockDelta', { contentBlockIndex, delta: delta(piece), p: 'abcdefgh' })),
    event('contentBlockStop', { contentBlockIndex, p: 'a' })
  ]
  return [
    event('messageStart', { role: 'assistant', p: 'ab' }),
    ...block(0, undefined, (piece) => ({ reasoningContent: { text: piece } })),
    ...block(1, undefined, (piece) => ({ text: piece })),
    ...block(2, { toolUse: { toolUseId: 'tooluse_1', name: 'f' } }, (input) => ({ toolUse: { input } })),
    event('messageStop', { stopReason: 'end_turn' }),
    event('metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, metrics: { latencyMs: 5 } })
  ]
}

const channels = [
  '/output/message/content/0/reasoningContent/reasoningText/text',
  '/output/message/content/1/text',
  '/output/message/content/2/toolUse/input'
]

/** Strict where clients rely on it: order of events, open and closed blocks, nothing after the end. */
function assemble(frames: string): Assembled {
  const bytes = Buffer.from(frames, 'latin1')
  const texts: Record<string, string> = {}
  const ended = new Set<number>()
  let state: 'before' | 'inside' | 'stopped' | 'counted' = 'before'
  let open: number | undefined
  let finish: string | undefined
  const expect = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`not a legal run of events: ${what}`)
  }
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const { headers, body } = codec.decode(bytes.subarray(at, at + length))
    at += length
    expect(headers[':message-type']?.value === 'event', 'an exception')
    expect(headers[':content-type']?.value === 'application/json', 'no JSON')
    const value = JSON.parse(text(body))
    const index = value.contentBlockIndex as number
    switch (headers[':event-type']?.value) {
      case 'messageStart':
        expect(state === 'before' && value.role === 'assistant', 'messageStart')
        state = 'inside'
        break
      case 'contentBlockStart':
        expect(state === 'inside' && open === undefined && !ended.has(index), 'contentBlockStart')
        open = index
        break
      case 'contentBlockDelta': {
        expect(state === 'inside' && (open ?? index) === index && !ended.has(index), 'contentBlockDelta')
        open = index
        const { delta } = value
        const [place, piece] =
          delta.text !== undefined
            ? ['text', delta.text]
            : delta.toolUse !== undefined
              ? ['toolUse/input', delta.toolUse.input]
              : ['reasoningContent/reasoningText/text', delta.reasoningContent.text]
        const pointer = `/output/message/content/${index}/${place}`
        texts[pointer] = (texts[pointer] ?? '') + piece
        break
      }
      case 'contentBlockStop':
        expect(open === index, 'contentBlockStop')
        open = undefined
        ended.add(index)
        break
      case 'messageStop':
        expect(state === 'inside' && open === undefined, 'messageStop')
        state = 'stopped'
        finish = value.stopReason
        break
      default:
        expect(state === 'stopped' && headers[':event-type']?.value === 'metadata', 'another event')
        state = 'counted'
    }
  }
  return { texts, finish: state === 'stopped' || state === 'counted' ? finish : undefined }
}

const request = (hole: (n: number) => Json): JsonObject => ({
  system: [{ text: 'be kind', more: hole(0) }, { cachePoint: { type: 'default' } }],
  messages: [
    {
      role: 'user',
      extra: hole(1),
      content: [
        { text: 'x', more: hole(2) },
        { toolResult: { toolUseId: 't', content: [{ text: 'a result' }, { json: hole(3) }], status: 'success' } },
        { toolResult: { toolUseId: 't', content: hole(4) } },
        { guardContent: { text: { text: 'a guarded text', qualifiers: hole(0) } } },
        { document: { format: 'txt', name: 'a name', source: { text: 'a text' }, context: hole(1) } },
        { document: { format: 'pdf', name: 'another name', source: hole(2) } },
        { image: { format: 'png', source: { bytes: hole(3) } } },
        { searchResult: { source: 's', title: 't', content: [{ text: 'found' }] } }
      ]
    },
    {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'hm', signature: hole(1) } } },
        { reasoningContent: { redactedContent: hole(0) } },
        { toolUse: { toolUseId: 't', name: 'f', input: hole(2) } },
        { ofTomorrow: hole(3) }
      ]
    }
  ],
  toolConfig: { tools: [{ toolSpec: { name: 'f', inputSchema: { json: hole(4) } } }], toolChoice: hole(0) },
  outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: '{"x": 1}' } } } },
  inferenceConfig: { stopSequences: ['stop here'] },
  additionalModelRequestFields: hole(1),
  requestMetadata: { topic: 'programming' },
  other: hole(2)
})

const answer = (hole: (n: number) => Json): JsonObject => ({
  output: {
    message: {
      role: 'assistant',
      content: [
        { text: 'x', more: hole(0) },
        { toolUse: { toolUseId: 't', name: 'f', input: hole(1) } },
        { citationsContent: { content: [{ text: 'said' }], citations: hole(2) } }
      ]
    }
  },
  stopReason: 'end_turn',
  trace: hole(3),
  additionalModelResponseFields: hole(4)
})

t.test('Converse', async (t) => dialectSuite(t, { operation: converse, target, names, request, answer }))

t.test('ConverseStream', async (t) =>
  dialectSuite(t, {
    operation: converseStream,
    target,
    names,
    request,
    answer,
    stream: {
      spell,
      channels,
      assemble,
      filteredFinish: 'guardrail_intervened',
      refused: [
        { data: '{"role":"assistant"}' },
        event('ofTomorrow', { text: 'x' }),
        event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'before the start' } }),
        event('messageStop', { stopReason: 'end_turn' })
      ]
    }
  })
)

t.test('what a stream may not hold once it has begun', async (t) => {
  const refused: (readonly [before: WireEvent[], after: WireEvent])[] = [
    [[], event('messageStart', { role: 'assistant' })],
    [[], event('contentBlockDelta', { contentBlockIndex: '0', delta: { text: 'x' } })],
    [[], event('contentBlockDelta', { contentBlockIndex: 0, delta: 'x' })],
    [[], event('contentBlockStart', { contentBlockIndex: 0 })],
    [[], event('contentBlockStop', { contentBlockIndex: 0 })],
    [[], event('messageStop', {})],
    [
      [event('messageStop', { stopReason: 'end_turn' })],
      event('contentBlockDelta', { contentBlockIndex: 0, delta: {} })
    ]
  ]
  for (const [before, after] of refused) {
    const stream = converseStream.openStream(target)
    for (const each of [event('messageStart', { role: 'assistant' }), ...before]) stream.push(each)
    t.throws(() => stream.push(after), { code: 'upstream_error' }, `${after.event} ${after.data}`)
  }
})

t.test('whose words each text is, and what is media', async (t) => {
  const png = `iVBORw0KGgo${'A'.repeat(53)}`
  const body: JsonObject = {
    system: [{ text: 'be kind' }],
    messages: [
      {
        role: 'user',
        content: [
          { text: 'what is it?' },
          { image: { format: 'png', source: { bytes: png } } },
          { document: { format: 'pdf', name: 'report', source: { bytes: 'JVBERi0xLjQ=' } } },
          { document: { format: 'txt', name: 'notes', source: { text: 'the notes' } } },
          { video: { format: 'mp4', source: { s3Location: { uri: 's3://a/b' } } } },
          { toolResult: { toolUseId: 't', content: [{ text: 'it rains' }, { json: { a: 'b' } }] } }
        ]
      },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'f', input: { city: 'Rome' } } }] }
    ],
    toolConfig: { tools: [{ toolSpec: { name: 'f', description: 'looks', inputSchema: { json: {} } } }] },
    outputConfig: { textFormat: { structure: { jsonSchema: { schema: '{"title":"b\\u006fmb"}' } } } },
    requestMetadata: { topic: 'programming' },
    additionalModelRequestFields: { top_k: 'hidden words' }
  }
  const { parts, media, model, metadata, stream, joined } = converseStream.readRequest(body, target)
  t.same([model, stream, metadata], ['anthropic.claude-v2:0', true, { topic: 'programming' }])
  const roles = Object.fromEntries(parts.map(({ role, text }) => [text, role]))
  t.match(roles, {
    'be kind': 'system',
    'what is it?': 'user',
    report: 'tool',
    'the notes': 'tool',
    's3://a/b': 'user',
    'it rains': 'tool',
    b: 'tool',
    Rome: 'assistant',
    looks: 'definition',
    bomb: 'definition',
    'hidden words': 'parameter',
    'anthropic.claude-v2:0': 'parameter'
  })
  t.notOk(Object.hasOwn(roles, png), 'a picture is no text')
  t.same(
    media.map(({ pointer, kind }) => `${kind} ${pointer}`),
    ['image /messages/0/content/1/image', 'file /messages/0/content/2/document', 'video /messages/0/content/4/video']
  )
  const runs = joined.map((run) => run.map((i) => parts[i]!.text).join('|'))
  t.ok(
    runs.some((run) => /be kind\|what is it\?\|.*the notes\|.*it rains\|b$/.test(run)),
    'system, user and results are read as one'
  )
  const variables = { promptVariables: { name: { text: 'bomb' } } }
  t.equal(converse.readRequest(variables, target).parts.find((part) => part.text === 'bomb')?.role, 'user')
  t.throws(() => converse.readRequest({}, target), { code: 'validation_error' })
})

t.test('a model has one spelling', async (t) => {
  const [template] = converse.paths
  const read = compilePath(template!, converse)
  const arn = 'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-v2%3A0'
  for (const model of [
    'claude',
    'anthropic.claude-v2%3A0',
    arn,
    'arn%3Aaws%3Abedrock%3Aeu-west-1%3A%3Afoundation-model%2Fa.b'
  ]) {
    t.same(read(fillPath(template!, { model })), { model })
  }
  const odd = 'a:b a%3ab a%2fb a%2F..%2Fb a%2F.b a%2F%2Fb a%2F a%2E%2E .. .a a%253Ab a%00 a%2 a%3 a%41 a/b'
  for (const model of [...odd.split(' '), '', 'a'.repeat(2000)])
    t.equal(read(`/model/${model}/converse`), undefined, model)
  t.equal(operationAt('bedrock', '/model/{model}/converse-stream'), converseStream)
  t.equal(operationAt('bedrock', '/model/{model}/converse'), converse)
})

t.test('errors name their type where the SDKs look for it', async (t) => {
  t.same(converse.errorHeaders?.(403), { 'x-amzn-errortype': 'AccessDeniedException' })
  t.same(converse.errorHeaders?.(422), { 'x-amzn-errortype': 'ValidationException' })
  t.ok(messageOf('exception', 'throttlingException', '{}').includes('throttlingException'))
})
