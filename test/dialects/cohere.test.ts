/** Cohere's chat, version 2, as of 2025. */
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { names } from '../../src/dialects/cohere/names.js'
import { dialects, operationAt } from '../../src/dialects/index.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import { type Assembled, dialectSuite, facts, noTarget, recorded } from './dialect-suite.js'

const [chat] = dialects.cohere

const event = (data: { type: string } & JsonObject): WireEvent => ({ event: data.type, data: JSON.stringify(data) })
const content = (index: number, block: JsonObject) => ({ index, delta: { message: { content: block } } })
const called = (index: number, call: JsonObject) => ({ index, delta: { message: { tool_calls: call } } })
const opened = event({ type: 'message-start', id: 'c1', delta: { message: { role: 'assistant', content: [] } } })
const end = (finish_reason: string) => event({ type: 'message-end', delta: { finish_reason, usage: {} } })

function spell(pieces: readonly string[]): WireEvent[] {
  return [
    opened,
    ...pieces.map((tool_plan) => event({ type: 'tool-plan-delta', delta: { message: { tool_plan } } })),
    event({
      type: 'tool-call-start',
      ...called(0, { id: 'c', type: 'function', function: { name: 'f', arguments: '' } })
    }),
    event({ type: 'tool-call-delta', ...called(0, { function: { arguments: '{"city":"Bern"}' } }) }),
    event({ type: 'tool-call-end', index: 0 }),
    event({ type: 'content-start', ...content(0, { type: 'thinking', thinking: '' }) }),
    ...pieces.map((thinking) => event({ type: 'content-delta', ...content(0, { thinking }) })),
    event({ type: 'content-end', index: 0 }),
    event({ type: 'content-start', ...content(1, { type: 'text', text: '' }) }),
    ...pieces.map((text) => event({ type: 'content-delta', ...content(1, { text }) })),
    event({ type: 'content-end', index: 1 }),
    event({
      type: 'citation-start',
      index: 0,
      delta: { message: { citations: { start: 0, end: 1, text: 'x', sources: [] } } }
    }),
    event({ type: 'citation-end', index: 0 }),
    end('COMPLETE')
  ]
}

/** By the documentation: what is started is ended, what goes on is open, and nothing but the marker follows the end. */
function assemble(frames: string): Assembled {
  const texts: Record<string, string> = {}
  const open = new Set<string>()
  let finish: string | undefined
  let isBegun = false
  let isMarked = false
  const blocks = frames.split('\n\n')
  if (blocks.pop() !== '') throw new Error('a frame has no end')
  for (const block of blocks) {
    if (block === 'data: [DONE]') {
      if (finish === undefined || isMarked) throw new Error('the marker stands before the end')
      isMarked = true
      continue
    }
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
    const { type, index, delta } = JSON.parse(data!)
    if (type !== name || finish !== undefined || isBegun === (type === 'message-start'))
      throw new Error(`late: ${block}`)
    const [, kind, step] = /^(content|tool-call|citation)-(start|delta|end)$/.exec(type) ?? []
    const id = `${kind} ${index}`
    if (kind !== undefined && open.has(id) === (step === 'start')) throw new Error(`not open, or twice: ${block}`)
    if (step === 'start') open.add(id)
    if (step === 'end') open.delete(id)
    if (type === 'message-start') isBegun = true
    else if (type === 'message-end') {
      if (open.size > 0) throw new Error('something is open')
      finish = delta.finish_reason
    }
    const { tool_plan: plan, content: said } = delta?.message ?? {}
    const add = (pointer: string, text: string | undefined) => {
      if (text !== undefined) texts[pointer] = (texts[pointer] ?? '') + text
    }
    if (type === 'tool-plan-delta') add('/message/tool_plan', plan)
    if (kind === 'content') {
      add(`/message/content/${index}/text`, said?.text)
      add(`/message/content/${index}/thinking`, said?.thinking)
    }
  }
  // Without the marker it goes on.
  return { texts, finish: isMarked ? finish : undefined }
}

dialectSuite(t, {
  operation: chat,
  names,
  request: (hole) => ({
    model: 'm',
    messages: [
      { role: 'system', content: 'be kind', more: hole(0) },
      { role: 'user', content: [{ type: 'text', text: 'x', more: hole(1) }] },
      { role: 'assistant', tool_plan: hole(2), tool_calls: hole(3), citations: hole(4) },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'document', document: hole(0) }] }
    ],
    documents: hole(1),
    tools: hole(2),
    response_format: hole(3),
    other: hole(4)
  }),
  answer: (hole) => ({
    id: 'c1',
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: hole(0), tool_plan: hole(1), tool_calls: hole(2), citations: hole(3) },
    logprobs: [hole(4)],
    other: hole(1)
  }),
  stream: {
    spell,
    channels: ['/message/tool_plan', '/message/content/0/thinking', '/message/content/1/text'],
    assemble,
    filteredFinish: 'ERROR',
    refused: [
      event({ type: 'content-moved', index: 0 }),
      event({ type: 'citation-delta', index: 0 }),
      event({ type: 'content-delta', ...content(0, { text: 'x' }) }),
      event({ type: 'content-start', delta: { message: {} } }),
      event({ type: 'tool-call-end', index: 0 }),
      { event: 'message-start', data: '{"type":"message-end"}' },
      { data: '{"message":"internal error"}' }
    ]
  }
})

t.test('a recorded request: whose words each text is, and what is media', async (t) => {
  const { parts, joined, media, stream, model } = chat.readRequest(
    JSON.parse(recorded('cohere/request.json')),
    noTarget
  )
  t.same([stream, model], [false, 'command-a-03-2025'])
  const role = (pointer: string) => parts.find((part) => part.pointer === pointer && !part.isKey)?.role
  t.same(
    {
      system: role('/messages/0/content'),
      question: role('/messages/1/content/0/text'),
      plan: role('/messages/2/tool_plan'),
      argument: role('/messages/2/tool_calls/0/function/arguments'),
      result: role('/messages/3/content/0/document/data/weather'),
      document: role('/documents/1/data/snippet'),
      description: role('/tools/0/function/description'),
      schema: role('/response_format/json_schema/properties/answer/description'),
      stop: role('/stop_sequences/0')
    },
    {
      system: 'system',
      question: 'user',
      plan: 'assistant',
      argument: 'assistant',
      result: 'tool',
      document: 'tool',
      description: 'definition',
      schema: 'definition',
      stop: 'parameter'
    }
  )
  t.same(
    media.map(({ pointer, kind }) => [pointer, kind]),
    [['/messages/1/content/1', 'image']]
  )
  t.ok(joined.some((run) => run.map((i) => parts[i]!.text).join('|') === 'What is on it?|And now?'))
})

t.test('a recorded answer and the same as recorded events hold the same texts', async (t) => {
  const whole = chat.readReply(JSON.parse(recorded('cohere/answer.json')))!
  const held = chat.openStream(noTarget)
  let outcome: string | undefined
  for (const frame of recorded('cohere/stream.sse').split('\n\n').filter(Boolean)) {
    const lines = frame.split('\n')
    const named = lines.find((each) => each.startsWith('event: '))?.slice(7)
    outcome = held.push({ event: named, data: lines.at(-1)!.slice(6) })
  }
  t.equal(outcome, 'end')
  const { parts } = held.content()
  const text = (list: typeof parts, pointer: string) =>
    list.find((each) => each.pointer === pointer && !each.isKey)?.text
  for (const pointer of [
    '/message/tool_plan',
    '/message/tool_calls/0/function/arguments',
    '/message/content/0/thinking',
    '/message/content/1/text',
    '/message/citations/0/sources/0/tool_output/weather',
    '/logprobs'
  ]) {
    t.ok(text(whole.parts, pointer), pointer)
    t.equal(text(parts, pointer), text(whole.parts, pointer), pointer)
  }
})

t.test('a stream ends with its message, with the marker and without, and then goes on no more', async (t) => {
  const whole = (events: WireEvent[]) => {
    const held = chat.openStream(noTarget)
    for (const each of events) held.push(each)
    return held
  }
  t.equal(whole([opened]).complete, false)
  t.equal(whole([opened, end('COMPLETE')]).complete, true)
  t.equal(chat.openStream(noTarget).push({ data: '[DONE]' }), 'end')
  t.throws(() => whole([opened, end('COMPLETE'), opened]), { code: 'upstream_error' })
  const block = [
    event({ type: 'content-start', ...content(0, { text: '' }) }),
    event({ type: 'content-end', index: 0 })
  ]
  t.throws(() => whole([opened, ...block, ...block]), { code: 'upstream_error' }, 'a block is begun once')
})

t.test('a refusal of ours has the fields of a recorded answer', async (t) => {
  const theirs = JSON.parse(recorded('cohere/filtered.json'))
  const ours = chat.filtered(theirs, facts('forbid', noTarget, 'answer'))
  t.same(Object.keys(ours).sort(), Object.keys(theirs).sort())
  t.match(ours, {
    finish_reason: 'ERROR',
    message: { role: 'assistant', content: [{ type: 'text', text: /of the answer/ }] },
    usage: theirs.usage
  })
  t.match(chat.turn(facts('depends')), { finish_reason: 'COMPLETE' })
  const reply: JsonObject = { message: { role: 'assistant' }, logprobs: [{ text: 'x' }] }
  chat.forgetTokens(reply)
  t.same(reply, { message: { role: 'assistant' } }, 'what repeats a rewritten text is dropped')
  t.equal(operationAt('cohere', '/v2/chat'), chat)
})

t.test('requests of another shape are refused, and the field is named', async (t) => {
  for (const [body, field] of [
    [{}, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [5] }, 'messages.0'],
    [{ messages: [{ content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 5 }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
    [{ messages: [{ role: 'user', content: ['x'] }] }, 'messages.0.content.0'],
    [{ messages: [{ role: 'user', content: 'x' }], stream: 'true' }, 'stream'],
    [{ messages: [{ role: 'user', content: 'x' }], model: 5 }, 'model']
  ] as [JsonObject, string][]) {
    t.throws(
      () => chat.readRequest(body as Record<string, Json>, noTarget),
      { code: 'validation_error', fields: { details: { field } } },
      field
    )
  }
})
