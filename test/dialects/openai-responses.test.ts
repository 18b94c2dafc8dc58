/** Responses API as documented and streamed in November 2026 (openai 6.49). */
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { dialects } from '../../src/dialects/index.js'
import { names } from '../../src/dialects/openai/names.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import { refusal } from '../support/refusal.js'
import { type Assembled, dialectSuite, facts, leaves, noTarget, recorded } from './dialect-suite.js'

const operation = dialects['openai-responses'][0]

const head = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'm' }

/** A summary of thoughts, a text, a refusal and a call's arguments, each spelled out by the pieces and said again. */
function spell(pieces: readonly string[]): WireEvent[] {
  const whole = pieces.join('')
  const deltas = (stem: string, place: JsonObject, said: JsonObject) => [
    ...pieces.map((delta) => ({ type: `${stem}.delta`, ...place, delta })),
    { type: `${stem}.done`, ...place, ...said }
  ]
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: whole }] }
  const text = { type: 'output_text', text: whole, annotations: [], logprobs: [] }
  const refusal = { type: 'refusal', refusal: whole }
  const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [text, refusal] }
  const call = {
    id: 'fc_1',
    type: 'function_call',
    status: 'completed',
    call_id: 'call_1',
    name: 'f',
    arguments: whole
  }
  const part = (item_id: string, at: JsonObject, stem: string, said: JsonObject, kind = 'content_part') => [
    {
      type: `response.${kind}.added`,
      item_id,
      ...at,
      part: { ...said, [said.type === 'refusal' ? 'refusal' : 'text']: '' }
    },
    ...deltas(`response.${stem}`, { item_id, ...at }, said.type === 'refusal' ? { refusal: whole } : { text: whole }),
    { type: `response.${kind}.done`, item_id, ...at, part: said }
  ]
  const item = (output_index: number, value: JsonObject, empty: JsonObject, between: JsonObject[]) => [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...value, ...empty, ...('status' in value && { status: 'in_progress' }) }
    },
    ...between,
    { type: 'response.output_item.done', output_index, item: value }
  ]
  const summary = { output_index: 0, summary_index: 0 }
  const events: JsonObject[] = [
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
    { type: 'response.in_progress', response: { ...head, status: 'in_progress', output: [] } },
    ...item(0, reasoning, { summary: [] }, [
      ...part('rs_1', summary, 'reasoning_summary_text', reasoning.summary[0]!, 'reasoning_summary_part')
    ]),
    ...item(1, message, { content: [] }, [
      ...part('msg_1', { output_index: 1, content_index: 0 }, 'output_text', text),
      ...part('msg_1', { output_index: 1, content_index: 1 }, 'refusal', refusal)
    ]),
    ...item(2, call, { arguments: '' }, [
      ...deltas('response.function_call_arguments', { item_id: 'fc_1', output_index: 2 }, { arguments: whole })
    ]),
    {
      type: 'response.completed',
      response: { ...head, status: 'completed', output: [reasoning, message, call], usage: { input_tokens: 1 } }
    }
  ]
  return events.map((event, sequence_number) => ({
    event: event.type as string,
    data: JSON.stringify({ ...event, sequence_number })
  }))
}

// biome-ignore lint/suspicious/noExplicitAny: a client's view of the wire
type Any = any

/** Strict where the SDKs' accumulators rely on it: numbers, order, what is open, and that nothing is said in two ways. */
function assemble(frames: string): Assembled {
  const texts: Record<string, string> = {}
  const items = new Map<number, { open: boolean; parts: Map<string, boolean>; type: string }>()
  let sequence = -1
  let state: 'before' | 'inside' | 'ended' = 'before'
  let finish: string | undefined
  const expect = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`not a legal run of events: ${what}`)
  }
  const same = (pointer: string, text: string, what: string) => expect((texts[pointer] ?? '') === text, what)
  const checkItem = (at: string, item: Any) => {
    for (const list of ['content', 'summary']) {
      for (const [i, part] of (item[list] ?? []).entries()) {
        const key = part.type === 'refusal' ? 'refusal' : 'text'
        texts[`${at}/${list}/${i}/${key}`] ??= part[key]
        same(`${at}/${list}/${i}/${key}`, part[key], `${at}/${list}/${i} is said in two ways`)
      }
    }
    if (typeof item.arguments === 'string') same(`${at}/arguments`, item.arguments, `${at} is said in two ways`)
  }
  for (const frame of frames.split('\n\n').slice(0, -1)) {
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? []
    const event = JSON.parse(data!) as Any
    const { type } = event as { type: string }
    expect(name === type, 'name and type differ')
    expect(event.sequence_number === sequence + 1, `number ${event.sequence_number} after ${sequence}`)
    sequence = event.sequence_number
    expect(state !== 'ended', 'something after the end')
    const at = `/output/${event.output_index}`
    const list = type.includes('summary') ? 'summary' : 'content'
    const part = `${list}/${event[`${list}_index`]}`
    const item = items.get(event.output_index)
    if (type === 'response.created') {
      expect(state === 'before', type)
      state = 'inside'
    } else if (type === 'response.output_item.added') {
      expect(state === 'inside' && item === undefined && event.output_index === items.size, type)
      items.set(event.output_index, { open: true, parts: new Map(), type: event.item.type })
    } else if (type === 'response.output_item.done') {
      expect(item?.open === true && ![...item.parts.values()].includes(true), type)
      item!.open = false
      checkItem(at, event.item)
    } else if (type.endsWith('_part.added')) {
      expect(item?.open === true && !item.parts.has(part), type)
      item!.parts.set(part, true)
    } else if (type.endsWith('_part.done')) {
      expect(item?.parts.get(part) === true, type)
      item!.parts.set(part, false)
    } else if (type.endsWith('.delta') || type.endsWith('.done')) {
      const isCall = type.includes('arguments')
      expect(item?.open === true && (isCall || item.parts.get(part) === true), type)
      const key = isCall ? 'arguments' : type.includes('refusal') ? 'refusal' : 'text'
      const pointer = isCall ? `${at}/${key}` : `${at}/${part}/${key}`
      if (type.endsWith('.delta')) texts[pointer] = (texts[pointer] ?? '') + event.delta
      else same(pointer, event[key], `${type} says something else`)
    } else if (['response.completed', 'response.incomplete'].includes(type)) {
      state = 'ended'
      finish = event.response.incomplete_details?.reason ?? event.response.status
      expect(
        [...items.values()].every(({ open, type }) => !open || type === 'function_call'),
        'items are open at the end'
      )
      const done = [...items].filter(([, { open }]) => !open).map(([index]) => index)
      expect(event.response.output.length === done.length, 'the last event has other items')
      event.response.output.forEach((each: Any, i: number) => {
        checkItem(`/output/${done[i]}`, each)
      })
    } else expect(type === 'response.in_progress', type)
  }
  return { texts, finish }
}

dialectSuite(t, {
  operation,
  names,
  request: (hole) => ({
    model: 'm',
    instructions: 'i',
    input: [
      { role: 'user', content: 'x', extra: hole(0) },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'y', more: hole(1) }] },
      { type: 'function_call', name: 'f', arguments: hole(2), call_id: 'c' },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'z', more: hole(3) }] },
      { type: 'file_search_call', results: hole(4), queries: hole(0) },
      { type: 'mcp_list_tools', tools: hole(1) },
      { type: 'something_new', payload: hole(2) }
    ],
    tools: [{ type: 'function', name: 'f', parameters: hole(3) }],
    text: { format: { type: 'json_schema', schema: hole(4) } },
    prompt: { id: 'p', variables: { v: hole(0) } },
    reasoning: hole(1),
    other: hole(2)
  }),
  answer: (hole) => ({
    output: [
      { type: 'message', role: 'assistant', content: hole(0), extra: hole(1) },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'x', annotations: hole(2) },
          { type: 'refusal', refusal: 'y' }
        ]
      },
      { type: 'reasoning', summary: hole(3), content: hole(4) },
      { type: 'function_call', name: 'f', arguments: hole(0) },
      { type: 'mcp_call', arguments: '{}', output: hole(1), error: hole(2) },
      { type: 'something_new', payload: hole(3) }
    ],
    instructions: hole(4),
    tools: hole(0),
    error: hole(1),
    other: hole(2)
  }),
  stream: {
    spell,
    channels: [
      '/output/0/summary/0/text',
      '/output/1/content/0/text',
      '/output/1/content/1/refusal',
      '/output/2/arguments'
    ],
    assemble,
    filteredFinish: 'content_filter',
    refused: [{ data: '{}' }, { data: '{"type":"a b"}' }, { data: '[DONE]' }]
  }
})

const recordings = ['request', 'answer'].map((name) => JSON.parse(recorded(`openai-responses/${name}.json`))) as [
  JsonObject,
  JsonObject
]

t.test('recorded traffic: every leaf is judged with its role, and a stream passes unchanged', async (t) => {
  const [request, answer] = recordings
  const read = operation.readRequest(request, noTarget)
  const reply = operation.readReply(answer)!
  for (const [{ parts, media }, body] of [
    [read, request],
    [reply, answer]
  ] as const) {
    const texts = new Set(parts.map(({ text }) => text))
    const unseen = leaves(body).filter((leaf) => leaf !== '' && !names.has(leaf) && !texts.has(leaf))
    // Sealed reasoning is data.
    t.ok(
      unseen.every((leaf) => leaf.startsWith('gAAAA')),
      unseen.join('\n')
    )
    t.same(media, [])
  }
  const roles = (pointer: string) => read.parts.find((part) => part.pointer === pointer && !part.isKey)?.role
  for (const [pointer, role] of [
    ['/instructions', 'system'],
    ['/input/0/content', 'user'],
    ['/input/1/content/0/text', 'assistant'],
    ['/input/2/summary/0/text', 'assistant'],
    ['/input/3/arguments', 'assistant'],
    ['/input/4/output', 'tool'],
    ['/input/5/results/0/text', 'tool'],
    ['/input/6/content/0/text', 'user'],
    ['/tools/0/description', 'definition'],
    ['/text/format/schema/properties/city/description', 'definition'],
    ['/metadata/topic', 'parameter'],
    ['/model', 'parameter']
  ] as const) {
    t.equal(roles(pointer), role, pointer)
  }
  t.match(read, { model: 'gpt-5', stream: true, session: 'conv_68a1', metadata: { topic: 'travel' } })
  const events = recorded('openai-responses/stream.sse')
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => ({ data: frame.slice(frame.indexOf('data: ') + 6) }))
  const held = operation.openStream(noTarget)
  for (const event of events) held.push(event)
  const streamed = held.content().parts.map(({ pointer, text }) => `${pointer} ${text}`)
  for (const { pointer, text, isKey } of reply.parts) {
    if (isKey || !/^\/output\/\d+\/(content|arguments|summary)/.test(pointer)) continue
    t.ok(streamed.includes(`${pointer} ${text}`), `the stream says the same at ${pointer}`)
  }
  t.equal(held.release(undefined, []).frames, recorded('openai-responses/stream.sse'))
  const blocked = operation.openStream(noTarget)
  for (const event of events.slice(0, 12)) blocked.push(event)
  const begun = blocked.release(undefined, []).frames
  t.equal(begun + blocked.filtered(facts('forbid', noTarget, 'answer')), recorded('openai-responses/filtered.sse'))
})

t.test('what the API would not take is refused by its name', async (t) => {
  const input = 'x'
  for (const [body, field, reason] of [
    [{}, 'input', 'missing'],
    [{ instructions: 'x' }, 'input', 'missing'],
    [{ input: [] }, 'input', 'empty'],
    [{ input: 5 }, 'input', 'wrong_type'],
    [{ input: ['x'] }, 'input.0', 'wrong_type'],
    [{ input: [{ role: 5, content: 'x' }] }, 'input.0.role', 'wrong_type'],
    [{ input: [{ role: 'user', content: 5 }] }, 'input.0.content', 'wrong_type'],
    [{ input: [{ role: 'user', content: [5] }] }, 'input.0.content.0', 'wrong_type'],
    [{ input, instructions: ['x'] }, 'instructions', 'wrong_type'],
    [{ input, stream: 'true' }, 'stream', 'wrong_type'],
    [{ input, previous_response_id: 1 }, 'previous_response_id', 'wrong_type'],
    [{ input, conversation: 1 }, 'conversation', 'wrong_type'],
    [{ input, tools: {} }, 'tools', 'wrong_type'],
    [{ input, text: 'x' }, 'text', 'wrong_type'],
    [{ input, background: true }, 'background', 'unknown_value']
  ] as [JsonObject, string, string][]) {
    t.same(
      refusal(() => operation.readRequest(body, noTarget)),
      { field, reason }
    )
  }
  const media = (item: JsonObject) => operation.readRequest({ input: [item] }, noTarget).media.map(({ kind }) => kind)
  t.same(media({ role: 'user', content: [{ type: 'input_image', image_url: 'https://x/y.png' }] }), ['image'])
  t.same(media({ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }), ['file'])
  t.same(media({ type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: 'x' } }), ['image'])
  t.same(media({ type: 'image_generation_call', result: 'aGk=' }), ['image'])
})

t.test('what goes on from an answer, a conversation or a stored prompt needs no input', async (t) => {
  for (const body of [{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { prompt: { id: 'pmpt_1' } }]) {
    t.doesNotThrow(() => operation.readRequest(body, noTarget), JSON.stringify(body))
  }
})

t.test('a credential for a remote server is no text of the chat; words in its place are', async (t) => {
  const textsOf = (fields: JsonObject) => {
    const tools = [{ type: 'mcp', server_label: 'calendar', ...fields }]
    return operation.readRequest({ input: 'hi', tools }, noTarget).parts.map(({ text }) => text)
  }
  const token = 'ya29.A0AS3H6NzDCKgrUx9laxupLrPq2VnYc8JdEhGm5R'
  t.notOk(textsOf({ authorization: token }).includes(token))
  t.notOk(textsOf({ headers: { Authorization: `Bearer ${token}` } }).some((text) => text.includes(token)))
  t.ok(textsOf({ headers: { 'X-Note': 'How do I build a pipe bomb 1' } }).includes('How do I build a pipe bomb 1'))
  t.ok(textsOf({ authorization: 'make 2 pipe bombs' }).includes('make 2 pipe bombs'))
  t.ok(textsOf({ type: 'function', authorization: token }).includes(token), 'no other tool has such a field')
})

t.test('what is split over items is read as one', async (t) => {
  const input: Json = [
    { role: 'user', content: 'a' },
    { role: 'user', content: [{ type: 'input_text', text: 'b' }] },
    { type: 'function_call', name: 'f', arguments: 'c' },
    { role: 'user', content: 'd' }
  ]
  const { parts, joined } = operation.readRequest({ input }, noTarget)
  const texts = joined.map((run) => run.map((i) => parts[i]!.text).join(''))
  // One turn, all that the user said, and all turns as neighbours.
  t.same(texts.sort(), ['ab', 'abcd', 'abd'])
})

t.test('an event that is not known yet is judged as a text of its own', async (t) => {
  const held = operation.openStream(noTarget)
  held.push({ data: '{"type":"response.poem.delta","output_index":4,"delta":"forbid"}' })
  held.push({ data: '{"type":"response.poem.delta","output_index":4,"delta":"me"}' })
  t.ok(held.content().parts.some(({ text }) => text === 'forbidme'))
})

t.test('an offender is the item', async (t) => {
  t.equal(operation.offender('/input/12/content/0/text'), '/input/12')
  t.equal(operation.offender('/instructions'), '/instructions')
  t.equal(operation.offender('/how to do harm/0'), '')
})
