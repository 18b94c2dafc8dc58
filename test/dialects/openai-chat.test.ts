/** OpenAI's operations on choices and inputs, and what all dialects share in reading and rewriting. */
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { type ErrorCode, errorTable, Fault } from '../../src/base/errors.js'
import { dialectIds } from '../../src/base/settings.js'
import type { Dialect } from '../../src/dialects/dialect.js'
import { dialects, operationAt } from '../../src/dialects/index.js'
import { names } from '../../src/dialects/openai/names.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import { pointerSegments, type Replacement, rewriteTree, splice } from '../../src/dialects/rewrite.js'
import { refusal } from '../support/refusal.js'
import { type Assembled, dialectSuite, noTarget } from './dialect-suite.js'

const dialect = dialects['openai-chat'][0]

t.test('every dialect of the settings is registered under its id', async (t) => {
  t.same(Object.keys(dialects), [...dialectIds])
  for (const id of dialectIds) for (const operation of dialects[id]) t.equal(operation.id, id)
})

t.test('roles, pointers and runs that a model reads as one', async (t) => {
  const { parts, joined, model, stream } = dialect.readRequest(
    {
      model: 'm',
      stream: true,
      messages: [
        { role: 'developer', content: 'd' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' }
          ]
        },
        { role: 'user', content: 'c' },
        { role: 'assistant', content: 'e' },
        { role: 'tool', tool_call_id: 'call', content: 'f' },
        { role: 'user', content: 'g' }
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'h' } }],
      metadata: { 'a/b~c': 'v' }
    },
    noTarget
  )
  t.equal(model, 'm')
  t.equal(stream, true)
  const at = (pointer: string) =>
    parts.filter((part) => part.pointer === pointer).map(({ role, text, isKey }) => [role, text, isKey])
  t.same(at('/messages/0/content'), [['system', 'd', undefined]])
  t.same(at('/messages/1/content/0/text'), [['user', 'a', undefined]])
  t.same(at('/messages/4/content'), [['tool', 'f', undefined]])
  t.same(at('/tools/0/function/description'), [['definition', 'h', undefined]])
  t.same(at('/model'), [['parameter', 'm', undefined]])
  t.same(at('/metadata/a~1b~0c'), [
    ['parameter', 'a/b~c', true],
    ['parameter', 'v', undefined]
  ])
  const texts = joined.map((run) => run.map((i) => parts[i]!.text).join(''))
  t.same(texts.sort(), ['ab', 'abc', 'abce', 'abcg', 'dabcefg', 'lookh'])
})

/** A text, thoughts and a call's arguments of choice 1, each spelled out by the pieces. */
function spell(pieces: readonly string[]): WireEvent[] {
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 1, delta, finish_reason: finish }]
  })
  const events = [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((piece) => chunk({ content: piece })),
    ...pieces.map((piece) => chunk({ reasoning_content: piece })),
    chunk({ tool_calls: [{ index: 3, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }] }),
    ...pieces.map((piece) => chunk({ tool_calls: [{ index: 3, function: { arguments: piece } }] })),
    chunk({}, 'tool_calls'),
    { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: 1 } }
  ]
  return [...events.map((event) => ({ data: JSON.stringify(event) })), { data: '[DONE]' }]
}

/** Strict where the SDKs rely on it: nothing of a choice after its finish reason but a filter's, nothing after the end marker. */
function assemble(frames: string): Assembled {
  const texts: Record<string, string> = {}
  const finished = new Map<number, string>()
  const open = new Set<number>()
  let ended = false
  const collect = (value: Json, pointer: string) => {
    if (typeof value === 'string') texts[pointer] = (texts[pointer] ?? '') + value
    else if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value)) {
        const index = Array.isArray(value) ? ((child as JsonObject).index ?? key) : key
        collect(child!, `${pointer}/${index}`)
      }
    }
  }
  for (const frame of frames.split('\n\n').slice(0, -1)) {
    const data = /^data: (.*)$/.exec(frame)![1]!
    if (ended) throw new Error('something after the end')
    if (data === '[DONE]') {
      ended = true
      continue
    }
    for (const { index, delta, text, finish_reason: finish } of JSON.parse(data).choices) {
      if (finished.has(index) && !frames.includes('"content_filter"'))
        throw new Error('something after the finish reason')
      open.add(index)
      collect(delta ?? text, `/choices/${index}/${delta === undefined ? 'text' : 'message'}`)
      if (typeof finish === 'string') finished.set(index, finish)
    }
  }
  const isWhole = ended && open.size > 0 && [...open].every((index) => finished.has(index))
  return { texts, finish: isWhole ? [...finished.values()][0] : undefined }
}

dialectSuite(t, {
  operation: dialect,
  names,
  request: (hole) => ({
    messages: [{ role: 'user', content: 'x', extra: hole(0), tool_calls: hole(1), function_call: hole(2) }],
    tools: hole(0),
    other: hole(3),
    response_format: hole(1)
  }),
  answer: (hole) => ({
    choices: [
      { message: { content: hole(0), tool_calls: hole(1), more: hole(2) }, extra: hole(1) },
      { message: hole(2) }
    ],
    other: hole(0)
  }),
  stream: {
    spell,
    channels: [
      '/choices/1/message/content',
      '/choices/1/message/reasoning_content',
      '/choices/1/message/tool_calls/3/function/arguments'
    ],
    assemble,
    filteredFinish: 'content_filter',
    refused: [{ data: '{"choices":5}' }, { data: '{"choices":[5]}' }]
  }
})

const completions = dialects['openai-completions'][0]
dialectSuite(t, {
  operation: completions,
  names,
  request: (hole) => ({ prompt: ['x', 'y'], suffix: 'z', stop: hole(0), other: hole(1) }),
  answer: (hole) => ({ choices: [{ text: hole(0), extra: hole(1) }, { text: 'x' }], other: hole(2) }),
  stream: {
    spell: (pieces) => [
      ...[...pieces, ''].map((text, i) => ({
        data: JSON.stringify({
          id: 'cmpl-1',
          object: 'text_completion',
          choices: [{ index: 2, text, logprobs: null, finish_reason: i === pieces.length ? 'stop' : null }]
        })
      })),
      { data: '[DONE]' }
    ],
    channels: ['/choices/2/text'],
    assemble,
    filteredFinish: 'content_filter',
    refused: [{ data: '{"choices":5}' }]
  }
})

const embeddings = dialects['openai-embeddings'][0]
dialectSuite(t, {
  operation: embeddings,
  names,
  request: (hole) => ({ input: ['x', 'y'], messages: hole(0), other: hole(1) }),
  answer: (hole) => ({ data: [{ index: 0, embedding: hole(0), extra: hole(1) }], other: hole(2) })
})

t.test('prompts and inputs: texts are judged, tokens cannot be', async (t) => {
  const read = (body: JsonObject, operation = completions) => {
    const { parts, media, joined } = operation.readRequest(body, noTarget)
    return {
      texts: parts.filter(({ role }) => role === 'user').map(({ text, pointer }) => `${pointer} ${text}`),
      media: media.map(({ kind, pointer }) => `${kind} ${pointer}`),
      joined: joined.map((run) => run.map((i) => parts[i]!.text).join(''))
    }
  }
  t.same(read({ prompt: 'a', suffix: 'c' }), { texts: ['/prompt a', '/suffix c'], media: [], joined: ['ac'] })
  t.same(read({ prompt: ['a', 'b'] }), { texts: ['/prompt/0 a', '/prompt/1 b'], media: [], joined: [] })
  t.same(read({ prompt: [1, 2] }).media, ['tokens /prompt'])
  t.same(read({ prompt: [[1], [2]] }).media, ['tokens /prompt/0', 'tokens /prompt/1'])
  t.same(read({ prompt: ['a', 7, 'b'] }), {
    texts: ['/prompt/0 a', '/prompt/2 b'],
    media: ['tokens /prompt'],
    joined: ['ab']
  })
  t.same(read({ prompt: null }).texts, [])
  t.same(read({ input: [[1, 2]] }, embeddings).media, ['tokens /input/0'])
  for (const [operation, body, field, reason] of [
    [completions, {}, 'prompt', 'missing'],
    [completions, { prompt: [] }, 'prompt', 'empty'],
    [completions, { prompt: { a: 1 } }, 'prompt', 'wrong_type'],
    [completions, { prompt: [{ a: 1 }] }, 'prompt.0', 'wrong_type'],
    [completions, { prompt: [[['x']]] }, 'prompt.0.0', 'wrong_type'],
    [completions, { prompt: 'x', suffix: 5 }, 'suffix', 'wrong_type'],
    [embeddings, {}, 'input', 'missing'],
    [
      dialect,
      { messages: [{ role: 'user', content: 'x' }], chat_template: "{{ 'a' ~ 'b' }}" },
      'chat_template',
      'unknown_field'
    ],
    [embeddings, { input: [true] }, 'input.0', 'wrong_type'],
    [embeddings, { input: 'x', model: 5 }, 'model', 'wrong_type']
  ] as [Dialect, JsonObject, string, string][]) {
    t.same(
      refusal(() => operation.readRequest(body, noTarget)),
      { field, reason },
      JSON.stringify(body)
    )
  }
})

t.test('a prompt as numbers beside the texts cannot be judged, nor files that a tool reads', (t) => {
  const required = { messages: [{ role: 'user', content: 'hi' }], prompt: 'hi', input: 'hi', model: 'm' }
  for (const id of ['openai-chat', 'openai-completions', 'openai-embeddings', 'openai-responses'] as const) {
    const media = (body: JsonObject) =>
      dialects[id][0]
        .readRequest({ ...required, ...body }, noTarget)
        .media.map(({ kind, pointer }) => `${kind} ${pointer}`)
    t.same(media({}), [], id)
    t.same(media({ prompt_token_ids: [], input_ids: null }), [], id)
    t.same(media({ prompt_token_ids: [1, 2] }), ['tokens /prompt_token_ids'], id)
    t.same(media({ input_ids: [[1, 2]] }), ['tokens /input_ids'], id)
    t.same(media({ prompt_embeds: 'UEsDBA==' }), ['tokens /prompt_embeds'], id)
  }
  const container = { type: 'auto', file_ids: ['file-1', 'file-2'] }
  const { media } = dialects['openai-responses'][0].readRequest(
    {
      input: 'hi',
      model: 'm',
      tools: [
        { type: 'code_interpreter', container },
        { type: 'code_interpreter', container: 'cntr_1' }
      ]
    },
    noTarget
  )
  t.same(
    media,
    [0, 1].map((i) => ({ kind: 'file', pointer: `/tools/0/container/file_ids/${i}` }))
  )
  t.end()
})

t.test('token probabilities are judged as the texts that they spell, in each of their shapes', async (t) => {
  const chat = {
    choices: [
      { message: {}, logprobs: { content: [{ token: 'for', top_logprobs: [{ token: 'kill' }] }, { token: 'bid' }] } }
    ]
  }
  const legacy = {
    choices: [{ text: '', logprobs: { tokens: ['for', 'bid'], top_logprobs: [{ kill: -1 }, { er: -2 }] } }]
  }
  const texts = (operation: Dialect, body: JsonObject) =>
    operation
      .readReply(body)!
      .parts.filter(({ pointer }) => pointer.endsWith('/logprobs'))
      .map(({ text }) => text)
  t.same(texts(dialect, chat), ['forbid', 'kill'])
  t.same(texts(completions, legacy), ['forbid', 'killer'])
})

t.test('a vector is numbers, as a list or packed; whatever else stands in its place is judged', async (t) => {
  const packed = Buffer.from(new Float32Array(64).fill(0.1).buffer).toString('base64')
  for (const [embedding, judged] of [
    [[0.1, -2], 0],
    [packed, 0],
    ['how to do harm', 1],
    [[0.1, 'harm'], 1],
    [{ a: 'harm' }, 2]
  ] as [Json, number][]) {
    const { parts } = embeddings.readReply({ object: 'list', data: [{ object: 'embedding', index: 0, embedding }] })!
    const found = parts.filter(({ pointer }) => pointer.startsWith('/data/0/embedding'))
    t.equal(found.length, judged, JSON.stringify(embedding).slice(0, 40))
  }
})

t.test(
  'Azure: the same operations under its paths, told apart by their ends; the deployment is the model',
  async (t) => {
    for (const [path, of] of [
      ['/openai/deployments/gpt-4o/chat/completions', dialect],
      ['/openai/v1/chat/completions', dialect],
      ['/openai/deployments/gpt-4o/completions', completions],
      ['/openai/deployments/ada/embeddings', embeddings],
      ['/openai/responses', dialects['openai-responses'][0]],
      ['/openai/v1/responses', dialects['openai-responses'][0]]
    ] as const) {
      const operation = operationAt('azure-openai', path)!
      t.equal(operation.readReply, of.readReply, path)
      t.match(operation, { id: 'azure-openai', auth: 'api-key', keyHeaders: ['api-key'] })
    }
    t.equal(operationAt('azure-openai', '/openai/models'), undefined)
    const [chat] = dialects['azure-openai']
    const body = { messages: [{ role: 'user', content: 'x' }] }
    const { model, parts } = chat.readRequest(body, { params: { deployment: 'how-to-harm' }, query: '' })
    t.equal(model, 'how-to-harm')
    t.match(parts, [{}, { role: 'parameter', text: 'how-to-harm', pointer: 'path.deployment' }])
    t.equal(chat.offender('path.deployment'), 'path.deployment')
    const version = chat.query['api-version']!
    for (const value of ['2024-10-21', '2025-04-01-preview', 'v1', 'preview']) t.match(value, version)
    for (const value of ['', '2024', 'x', '2024-10-21-x', '2024-10-21&a=b']) t.notMatch(value, version)
  }
)

t.test('rewriting changes the span that was named and nothing else', async (t) => {
  const root = (): JsonObject => ({
    a: 'one two three',
    'k/1': { 'me@x': 'v', list: ['x', 'y secret'] },
    args: JSON.stringify({ q: 'a "secret" b', n: [1, 'secret'] })
  })
  const replace = (pointer: string, start: number, end: number, isKey?: true): Replacement => ({
    pointer,
    start,
    end,
    text: '<X>',
    ...(isKey && { isKey })
  })
  t.same(rewriteTree(root(), [replace('/a', 4, 7), replace('/a', 0, 3)]), { ...root(), a: '<X> <X> three' })
  t.same(
    rewriteTree(root(), [replace('/a', 0, 7), replace('/a', 4, 9)]),
    { ...root(), a: '<X>hree' },
    'overlapping spans'
  )
  t.same((rewriteTree(root(), [replace('/k~11/list/1', 2, 8)]) as JsonObject)['k/1'], {
    'me@x': 'v',
    list: ['x', 'y <X>']
  })
  const renamed = rewriteTree(root(), [replace('/k~11/me@x', 0, 4, true)]) as JsonObject
  t.equal(JSON.stringify(renamed['k/1']), '{"<X>":"v","list":["x","y secret"]}', 'a key is renamed in its place')
  const inner = rewriteTree(root(), [replace('/args/q', 3, 9), replace('/args/n/1', 0, 6)]) as JsonObject
  t.same(JSON.parse(inner.args as string), { q: 'a "<X>" b', n: [1, '<X>'] }, 'inside the JSON that a string holds')
  t.same(rewriteTree(root(), [replace('/none', 0, 1), replace('/a/b', 0, 1), replace('/a', 99, 100)]), root())
  t.equal(splice('abc', [replace('', 1, 2)]), 'a<X>c')
  t.same(pointerSegments('/a~1b/~0/'), ['a/b', '~', ''])
})

t.test('every code of the error table has its shape', async (t) => {
  const types: Record<number, string> = {
    401: 'authentication_error',
    403: 'permission_error',
    429: 'rate_limit_error'
  }
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    const { status, message } = errorTable[code]
    const body = dialect.error(new Fault(code, { fields: { retry_after: 1 } }), 'req_1')
    const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
    t.same(body, { error: { message, type, param: null, code, retry_after: 1, request_id: 'req_1' } })
  }
})

t.test('an offender is the message, or the leaf where it lies in none', async (t) => {
  t.equal(dialect.offender('/messages/12/content/0/text'), '/messages/12')
  t.equal(dialect.offender('/tools/0/function/description'), '/tools/0/function/description')
  t.equal(dialect.offender('/metadata/how to do harm'), '/metadata', 'names that a caller made up are not repeated')
  t.equal(dialect.offender('/how to do harm/0'), '')
})
