/** Ollama's API as of 0.12. */
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { dialects, operationAt } from '../../src/dialects/index.js'
import { names } from '../../src/dialects/ollama/names.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import { type Assembled, dialectSuite, facts, noTarget, recorded } from './dialect-suite.js'

const at = (operation: string) => operationAt('ollama', `/api/${operation}`)!
const chat = at('chat')
const generate = at('generate')

const head = { model: 'm', created_at: '2025-10-01T00:00:00Z' }
const event = (data: JsonObject): WireEvent => ({ data: JSON.stringify({ ...head, ...data }) })
const last = { done: true, done_reason: 'stop', eval_count: 3 }

function spellChat(pieces: readonly string[]): WireEvent[] {
  const message = (content: string, more: JsonObject = {}) => ({ message: { role: 'assistant', content, ...more } })
  return [
    ...pieces.map((thinking) => event({ ...message('', { thinking }), done: false })),
    ...pieces.map((content) => event({ ...message(content), done: false })),
    event({
      ...message('', { tool_calls: [{ function: { name: 'f', arguments: { city: 'Bern' } } }] }),
      done: false
    }),
    event({ ...message(''), ...last })
  ]
}

function spellGenerate(pieces: readonly string[]): WireEvent[] {
  return [
    ...pieces.map((thinking) => event({ response: '', thinking, done: false })),
    ...pieces.map((response) => event({ response, done: false })),
    event({ response: '', ...last, context: [1, 2, 3] })
  ]
}

/** The last line of an upstream says nothing; one that does was written by the gateway. */
function assemble(frames: string): Assembled {
  const texts: Record<string, string> = {}
  let finish: string | undefined
  const lines = frames.split('\n')
  if (lines.pop() !== '') throw new Error('a line has no end')
  for (const line of lines) {
    const value = JSON.parse(line)
    if (finish !== undefined || typeof value.done !== 'boolean') throw new Error(`not a legal line: ${line}`)
    const said = {
      '/message/thinking': value.message?.thinking,
      '/message/content': value.message?.content,
      '/thinking': value.thinking,
      '/response': value.response
    }
    if (value.done) {
      finish = value.done_reason
      if (Object.values(said).some((text) => text !== undefined && text !== '')) finish += ', with a sentence'
      continue
    }
    for (const [pointer, text] of Object.entries(said)) {
      if (text !== undefined) texts[pointer] = (texts[pointer] ?? '') + text
    }
  }
  return { texts, finish }
}

const filteredFinish = 'stop, with a sentence'
const refused = [
  { data: '{"message":{"content":"x"}}' },
  { data: '{"message":"x","done":false}' },
  event({ message: { tool_calls: [5] }, done: false })
]

t.test('chat', async (t) => {
  dialectSuite(t, {
    operation: chat,
    names,
    request: (hole) => ({
      model: 'm',
      messages: [
        { role: 'system', content: 'be kind', more: hole(0) },
        { role: 'assistant', content: 'y', thinking: hole(1), tool_calls: hole(2) },
        { role: 'tool', content: 'z', tool_name: hole(3) }
      ],
      tools: hole(4),
      format: hole(0),
      options: hole(1),
      other: hole(2)
    }),
    answer: (hole) => ({
      ...head,
      message: { role: 'assistant', content: hole(0), thinking: hole(1), tool_calls: hole(2), more: hole(3) },
      other: hole(4),
      done: true
    }),
    stream: {
      spell: spellChat,
      channels: ['/message/thinking', '/message/content'],
      assemble,
      filteredFinish,
      refused
    }
  })
})

t.test('generate', async (t) => {
  dialectSuite(t, {
    operation: generate,
    names,
    request: (hole) => ({
      model: 'm',
      prompt: 'x',
      system: 'y',
      suffix: 'z',
      template: '{{ .Prompt }}',
      format: hole(0),
      other: hole(1)
    }),
    answer: (hole) => ({ ...head, response: 'x', thinking: hole(0), context: hole(1), other: hole(2), done: true }),
    stream: { spell: spellGenerate, channels: ['/thinking', '/response'], assemble, filteredFinish, refused }
  })
})

t.test('embed, embeddings', async (t) => {
  dialectSuite(t, {
    operation: at('embed'),
    names,
    request: (hole) => ({ model: 'm', input: ['x', 'y'], options: hole(0), other: hole(1) }),
    answer: (hole) => ({ model: 'm', embeddings: [[0.1, 1]], other: hole(0) })
  })
  dialectSuite(t, {
    operation: at('embeddings'),
    names,
    request: (hole) => ({ model: 'm', prompt: 'x', options: hole(0) }),
    answer: (hole) => ({ embedding: [0.1], other: hole(0) })
  })
  t.equal(at('embed').readReply({ embeddings: [['x']] }), undefined, 'a text is no vector')
  for (const operation of dialects.ollama) {
    for (const path of operation.paths) t.equal(operationAt('ollama', path), operation, path)
  }
})

t.test(
  'a recorded request: whose words each text is, what is media, and that it streams unless told not to',
  async (t) => {
    const body = JSON.parse(recorded('ollama/request.json'))
    const { parts, joined, media, stream, model } = chat.readRequest(body, noTarget)
    t.same([stream, model], [true, 'qwen3:8b'])
    t.equal(chat.readRequest({ ...body, stream: false }, noTarget).stream, false)
    t.equal(chat.readRequest({ ...body, stream: null }, noTarget).stream, true)
    const role = (pointer: string) => parts.find((part) => part.pointer === pointer && !part.isKey)?.role
    t.same(
      {
        system: role('/messages/0/content'),
        question: role('/messages/1/content'),
        thought: role('/messages/2/thinking'),
        argument: role('/messages/2/tool_calls/0/function/arguments/city'),
        tool: role('/messages/3/content'),
        description: role('/tools/0/function/description'),
        schema: role('/format/properties/answer/description'),
        stop: role('/options/stop/0')
      },
      {
        system: 'system',
        question: 'user',
        thought: 'assistant',
        argument: 'assistant',
        tool: 'tool',
        description: 'definition',
        schema: 'definition',
        stop: 'parameter'
      }
    )
    t.same(
      media.map(({ pointer, kind }) => [pointer, kind]),
      [['/messages/1/images/0', 'image']]
    )
    t.ok(joined.some((run) => run.map((i) => parts[i]!.text).join('|') === 'What is on it?|And now?'))
  }
)

t.test(
  'a generation: prompts by their roles, images, and the conversation as numbers, which nobody can read',
  async (t) => {
    const body = {
      model: 'm',
      prompt: 'p',
      system: 's',
      suffix: 'x',
      template: '{{ .Prompt }}',
      images: ['aW1n'],
      context: [1, 2]
    }
    const { parts, media } = generate.readRequest(body, noTarget)
    const roles = Object.fromEntries(parts.filter(({ isKey }) => !isKey).map(({ pointer, role }) => [pointer, role]))
    t.match(roles, { '/prompt': 'user', '/system': 'system', '/suffix': 'user', '/template': 'system' })
    t.same(
      media.map(({ pointer, kind }) => [pointer, kind]),
      [
        ['/images/0', 'image'],
        ['/context', 'file']
      ]
    )
    t.same(generate.readRequest({ prompt: 'p', context: [] }, noTarget).media, [])
    const reply: JsonObject = { response: 'x', context: [1, 2], logprobs: [{ token: 'x' }] }
    generate.forgetTokens(reply)
    t.same(reply, { response: 'x' }, 'what repeats a rewritten text is dropped')
  }
)

t.test('a recorded answer and the same as recorded lines hold the same texts', async (t) => {
  const whole = chat.readReply(JSON.parse(recorded('ollama/answer.json')))!
  const held = chat.openStream(noTarget)
  let outcome: string | undefined
  for (const data of recorded('ollama/stream.ndjson').split('\n').filter(Boolean)) outcome = held.push({ data })
  t.equal(outcome, 'end')
  const { parts } = held.content()
  const text = (list: typeof parts, pointer: string) =>
    list.find((each) => each.pointer === pointer && !each.isKey)?.text
  for (const pointer of ['/message/thinking', '/message/content', '/message/tool_calls/0/function/arguments/city']) {
    t.ok(text(whole.parts, pointer), pointer)
    t.equal(text(parts, pointer), text(whole.parts, pointer), pointer)
  }
})

t.test('a refusal of ours has the fields of a recorded answer', async (t) => {
  const theirs = JSON.parse(recorded('ollama/filtered.json'))
  const ours = chat.filtered(theirs, facts('forbid', noTarget, 'answer'))
  t.same(Object.keys(ours).sort(), Object.keys(theirs).sort())
  t.match(ours, { message: { role: 'assistant', content: /of the answer/ }, done: true, done_reason: 'stop' })
})

t.test('a chat without messages, by which clients have a model loaded, is read', (t) => {
  const { parts, stream } = chat.readRequest({ model: 'qwen3:8b', messages: [], keep_alive: '5m' }, noTarget)
  t.same(
    parts.map(({ text }) => text),
    ['qwen3:8b', '5m']
  )
  t.equal(stream, true)
  t.end()
})

t.test('requests of another shape are refused, and the field is named', async (t) => {
  for (const [operation, body, field] of [
    [chat, {}, 'messages'],
    [chat, { messages: [5] }, 'messages.0'],
    [chat, { messages: [{ content: 'x' }] }, 'messages.0.role'],
    [chat, { messages: [{ role: 'user', content: ['x'] }] }, 'messages.0.content'],
    [chat, { messages: [{ role: 'user', content: 'x', images: 'x' }] }, 'messages.0.images'],
    [chat, { messages: [{ role: 'user', content: 'x' }], stream: 'false' }, 'stream'],
    [generate, { prompt: ['x'] }, 'prompt'],
    [generate, { prompt: 'x', model: 5 }, 'model'],
    [at('embed'), {}, 'input'],
    [at('embed'), { input: [1, 2] }, 'input']
  ] as [typeof chat, JsonObject, string][]) {
    t.throws(
      () => operation.readRequest(body, noTarget),
      { code: 'validation_error', fields: { details: { field } } },
      field
    )
  }
})
