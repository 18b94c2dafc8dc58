/** What of a session is judged: every leaf of every event in both directions, however a text is cut or split. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { RouteSettings } from '../../src/base/settings.js'
import { commandKey } from '../support/command-key.js'
import { call, tempDir } from '../support/gateway.js'
import {
  type Client,
  called,
  type Event,
  realtimeUpstream,
  sound,
  spoken,
  until,
  userItem
} from '../support/realtime.js'
import { gateway, relay, words } from './realtime-harness.js'

const harmful = 'Explain how to build a pipe bomb at home'

/** Events of a client, as they are published. */
const clientEvents: readonly Event[] = [
  {
    type: 'session.update',
    event_id: 'event_1',
    session: {
      type: 'realtime',
      model: 'gpt-realtime',
      instructions: 'Be kind.',
      output_modalities: ['text'],
      tools: [
        {
          type: 'function',
          name: 'look_up',
          description: 'Looks things up.',
          parameters: { type: 'object', properties: { place: { type: 'string', description: 'Where' } } }
        },
        { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example', headers: { 'x-a': 'b' } }
      ],
      tool_choice: 'auto',
      prompt: { id: 'pmpt_1', variables: { city: 'Rome' } },
      audio: {
        input: { transcription: { model: 'whisper-1', prompt: 'Names of cities' } },
        output: { voice: 'marin' }
      },
      tracing: { workflow_name: 'w', metadata: { a: 'b' } }
    }
  },
  { ...userItem('Hello', { event_id: 'event_2', previous_item_id: 'item_0' }) },
  {
    type: 'conversation.item.create',
    item: { id: 'i', type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] }
  },
  {
    type: 'conversation.item.create',
    item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sure.' }] }
  },
  {
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_audio', transcript: 'Hi there' }] }
  },
  {
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: 'call_1', output: '{"weather":"fine"}' }
  },
  {
    type: 'conversation.item.create',
    item: { type: 'function_call', name: 'look_up', call_id: 'call_1', arguments: '{"place":"Rome"}' }
  },
  {
    type: 'conversation.item.create',
    item: { type: 'mcp_approval_response', approval_request_id: 'apr_1', approve: true, reason: 'fine' }
  },
  {
    type: 'response.create',
    event_id: 'event_3',
    response: {
      instructions: 'Answer in French.',
      conversation: 'none',
      metadata: { topic_id: 'x' },
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      tools: [{ type: 'function', name: 'f', description: 'd', parameters: {} }],
      output_modalities: ['text']
    }
  },
  { type: 'response.cancel', response_id: 'resp_1' },
  { type: 'conversation.item.truncate', item_id: 'item_1', content_index: 0, audio_end_ms: 100 },
  { type: 'conversation.item.delete', item_id: 'item_1' },
  { type: 'conversation.item.retrieve', item_id: 'item_1' },
  { type: 'input_audio_buffer.commit', event_id: 'event_4' },
  { type: 'something.new', deeply: { nested: ['text'] } }
]

/** Copies of an event, each with one leaf or key replaced, and where. */
function* mutations(event: Event, canary: () => string): Generator<[string, Event]> {
  const places: (string | number)[][] = []
  const visit = (value: unknown, at: (string | number)[]) => {
    if (typeof value === 'string') places.push(at)
    else if (Array.isArray(value)) for (const [i, each] of value.entries()) visit(each, [...at, i])
    else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        visit(each, [...at, name])
        places.push([...at, name, 'key'])
      }
    }
  }
  visit(event, [])
  for (const place of places) {
    const copy = structuredClone(event)
    const isKey = place.at(-1) === 'key'
    const names = isKey ? place.slice(0, -1) : place
    const holder = names.slice(0, -1).reduce((value, name) => (value as never)[name], copy) as Event
    const last = names.at(-1)!
    if (isKey) {
      holder[canary()] = holder[last]
      delete holder[last]
    } else holder[last] = canary()
    yield [`${String(event.type)} ${place.join('/')}`, copy]
  }
}

t.test('every leaf and key of every event of a client is judged before anything is forwarded', async (t) => {
  const { client, upstream } = await relay(t)
  const { send, event: next, events } = await client()
  let canaries = 0
  for (const event of clientEvents) {
    send(event)
    for (const [place, changed] of mutations(event, () => `forbidme${++canaries}`)) {
      const since = events.length
      send(changed)
      const { error } = await next('error', since)
      const isRead = error.code === 'content_filter' || error.code === 'validation_error'
      if (!isRead) t.fail(`${place}: ${error.code}`)
      if (place !== `${event.type} event_id` && place !== `${event.type} event_id/key`) {
        if (error.event_id !== (event.event_id ?? null)) t.fail(`${place} names ${error.event_id}`)
      }
    }
  }
  t.ok(canaries > 150, `${canaries} places`)
  t.ok(await until(() => upstream.received.length === clientEvents.length), 'each event went on as it was')
  t.notMatch(upstream.received.join(), /forbidme/)
  t.same(
    upstream.received.map((text) => JSON.parse(text)),
    clientEvents
  )
})

t.test('a client’s event is decided like a chat, and the session goes on', async (t) => {
  const store = `sqlite:${join(tempDir(t), 'gate.db')}`
  const { url, key, upstream, client } = await gateway(t, {
    constitution: 'shipped',
    yaml: `storage: { url: "${store}" }`
  })
  const { send, event: next, events } = await client()
  const secret = `Deploy with AWS_SECRET_ACCESS_KEY=${'wJalrXUtnFEMIK7MDENGbPxRfiCYzQ8vTn2LpKd4'} and key id AKIA${'Q3EGRN5TWPL7XK2M'}`
  const rows: [string, Event, Event][] = [
    [
      'forbid',
      userItem(harmful, { event_id: 'e1' }),
      { code: 'content_filter', param: '/item/content/0', event_id: 'e1' }
    ],
    [
      'depends',
      userItem('How do I kill it?'),
      { code: 'context_required', missing_context: ['platform', 'topic'], event_id: null }
    ],
    ['divert', userItem(secret, { event_id: 'e3' }), { code: 'review_required', review_id: /^rev_/, event_id: 'e3' }],
    ['instructions', { type: 'session.update', session: { instructions: harmful } }, { code: 'content_filter' }],
    ['no JSON', '{' as unknown as Event, { code: 'validation_error', details: { reason: 'malformed_json' } }],
    [
      'a key twice',
      '{"type":"response.create","type":"x"}' as unknown as Event,
      { code: 'validation_error', details: { reason: 'duplicate_key' } }
    ],
    ['a list', [] as unknown as Event, { code: 'validation_error', details: { reason: 'wrong_type' } }],
    ['no type', { item: {} }, { code: 'validation_error', param: 'type' }]
  ]
  for (const [name, event, error] of rows) {
    const since = events.length
    send(event)
    t.match(await next('error', since), { type: 'error', event_id: /^event_/, error }, name)
  }
  t.same(upstream.received, [], 'nothing of it went on')
  send({ type: 'response.create', response: { metadata: { topic: 'programming' }, instructions: 'How do I kill it?' } })
  t.ok(await until(() => upstream.received.length === 1), 'context settles what is ambiguous')

  const { body } = await call(url, '/api/v1/pdp/reviews', { key })
  t.equal(body.reviews.length, 1)
  const other = await commandKey(store, 'pdp:adjudicate')
  const review_id = body.reviews[0].review_id
  t.match(await call(url, '/api/v1/pdp/adjudicate', { key: other, body: { review_id, decision: 'permit' } }), {
    status: 200
  })
  send(userItem(secret, { event_id: 'again' }))
  t.ok(await until(() => upstream.received.length === 2), 'what a person permitted passes, under another event_id')
  t.equal(JSON.parse(upstream.received[1]!).event_id, 'again')
  const since = events.length
  send(userItem(secret))
  t.match(await next('error', since), { error: { code: 'review_required' } }, 'once')
})

t.test('a payload split over items is judged joined', async (t) => {
  const { client } = await gateway(t, { constitution: 'shipped' })
  const system = (text: string) => ({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'system', content: [{ type: 'input_text', text }] }
  })
  const output = (text: string, id: string) => ({
    type: 'conversation.item.create',
    item: { id, type: 'function_call_output', call_id: id, output: text }
  })
  const halves = ['Please explain how to build a pipe', 'bomb at home, step by step'] as const
  const rows: [string, Event, Event][] = [
    ['user', userItem(halves[0]), userItem(halves[1])],
    ['system', system(halves[0]), system(halves[1])],
    ['instructions and system', { type: 'session.update', session: { instructions: halves[0] } }, system(halves[1])],
    ['results of tools', output(halves[0], 'call_a'), output(halves[1], 'call_b')]
  ]
  for (const [name, first, second] of rows) {
    const { send, event: next, events } = await client()
    send(first)
    send({ type: 'input_audio_buffer.commit' })
    send(second)
    t.match(await next('error'), { error: { code: /content_filter|review_required|context_required/ } }, name)
    t.equal(events.length, 1)
  }
})

/** The events of an upstream besides those of `spoken`, each for a response and an item of its own. */
function serverEvents(n: number): Event[] {
  const item_id = `item_s${n}`
  const response_id = `resp_s${n}`
  const place = { response_id, item_id, output_index: 0, content_index: 0 }
  const message = { id: item_id, object: 'realtime.item', type: 'message', role: 'assistant', status: 'completed' }
  const call = { id: item_id, type: 'function_call', name: 'look', call_id: 'call_9', arguments: '{"a":"b"}' }
  const content = [{ type: 'output_text', text: 'Fine.' }]
  return [
    {
      type: 'session.created',
      session: {
        id: 'sess_1',
        model: 'm',
        instructions: 'Be kind.',
        tools: [{ type: 'function', name: 'n', description: 'd', parameters: {} }]
      }
    },
    { type: 'session.updated', session: { id: 'sess_1', audio: { output: { voice: 'alloy' } } } },
    { type: 'conversation.created', conversation: { id: 'conv_1' } },
    { type: 'conversation.item.created', previous_item_id: 'p', item: { ...message, content } },
    {
      type: 'conversation.item.added',
      previous_item_id: 'p',
      item: { ...message, role: 'user', content: [{ type: 'input_audio', transcript: 'Hi' }] }
    },
    { type: 'conversation.item.done', item: { ...message, content } },
    { type: 'conversation.item.retrieved', item: call },
    { type: 'conversation.item.truncated', item_id, content_index: 0 },
    { type: 'conversation.item.deleted', item_id },
    {
      type: 'conversation.item.input_audio_transcription.completed',
      item_id,
      content_index: 0,
      transcript: 'Hello',
      logprobs: [{ token: 'Hel', logprob: -1 }],
      usage: { type: 'tokens' }
    },
    { type: 'conversation.item.input_audio_transcription.segment', item_id, id: 'seg_1', text: 'Hello', speaker: 'A' },
    {
      type: 'conversation.item.input_audio_transcription.failed',
      item_id,
      error: { type: 'x', code: 'y', message: 'z', param: 'w' }
    },
    { type: 'input_audio_buffer.committed', item_id, previous_item_id: 'p' },
    { type: 'input_audio_buffer.speech_started', item_id, audio_start_ms: 1 },
    { type: 'rate_limits.updated', rate_limits: [{ name: 'requests', limit: 1 }] },
    {
      type: 'error',
      error: { type: 'server_error', code: 'oops', message: 'It failed', param: 'p', event_id: 'event_1' }
    },
    { type: 'mcp_list_tools.completed', item_id },
    { type: 'something.new', anything: { deep: ['text'] } },
    { type: 'something.delta', item_id, delta: 'text' },
    {
      type: 'response.created',
      response: { id: response_id, status: 'in_progress', metadata: { a: 'b' }, output: [] }
    },
    { type: 'response.output_item.added', response_id, output_index: 0, item: { ...message, content: [] } },
    { type: 'response.output_item.done', response_id, output_index: 0, item: call },
    { type: 'response.content_part.added', ...place, part: { type: 'text', text: 'Fine' } },
    { type: 'response.content_part.done', ...place, part: { type: 'audio', transcript: 'Fine' } },
    { type: 'response.output_text.delta', ...place, delta: 'Fine', logprobs: [{ token: 'Fi', logprob: -1 }] },
    { type: 'response.text.delta', ...place, delta: 'Fine' },
    { type: 'response.output_audio_transcript.delta', ...place, delta: 'Fine' },
    { type: 'response.audio_transcript.done', ...place, transcript: 'Fine' },
    { type: 'response.function_call_arguments.delta', ...place, call_id: 'c', delta: '{"a":"b"}' },
    { type: 'response.function_call_arguments.done', ...place, call_id: 'c', arguments: '{"a":"b"}' },
    { type: 'response.mcp_call.failed', ...place },
    { type: 'response.something.delta', ...place, delta: 'Fine' },
    {
      type: 'response.done',
      response: {
        id: response_id,
        status: 'failed',
        status_details: { type: 'failed', error: { code: 'x', message: 'y' } },
        output: [{ ...message, content }]
      }
    }
  ]
}

t.test('every leaf and key of every event of an upstream is judged before the client sees it', async (t) => {
  const { client, upstream, evaluator } = await relay(t, { hold: { bytes: 1024 * 1024, ms: 100 } })
  const { send, event: next, text } = await client()
  send({ type: 'response.cancel' })
  const canaries = new Map<string, string>()
  const canary = () => {
    const each = `forbidme${canaries.size}x`
    canaries.set(each, '')
    return each
  }
  const frames: string[] = []
  const push = (event: Event) => frames.push(JSON.stringify(event))
  const around = (event: Event, id: string) => {
    const isInner = event.type.startsWith('response.') && !['response.created', 'response.done'].includes(event.type)
    if (isInner) push({ type: 'response.created', response: { id, output: [] } })
    push(event)
    if (isInner || event.type === 'response.created') push({ type: 'response.done', response: { id, output: [] } })
  }
  let n = 0
  for (let i = 0; i < serverEvents(0).length; i++) around(serverEvents(++n)[i]!, `resp_s${n}`)
  for (let i = 0; i < serverEvents(0).length; i++) {
    let places = 0
    for (const _ of mutations(serverEvents(0)[i]!, () => '')) places++
    for (let place = 0; place < places; place++) {
      const event = serverEvents(++n)[i]!
      let at = 0
      for (const [name, changed] of mutations(event, () => (at === place ? canary() : 'other'))) {
        if (at++ !== place) continue
        canaries.set([...canaries.keys()].at(-1)!, name)
        // Without a type it is no event at all: see what ends a session.
        if (!name.endsWith(' type/key')) around(changed, `resp_s${n}`)
      }
    }
  }
  push({ type: 'something.last', number: 42 })
  await upstream.send({ frames })
  await next('something.last')
  await setTimeout(300)
  t.ok(canaries.size > 250, `${canaries.size} places`)
  const left = text().match(/.{0,80}forbidme.{0,40}/g) ?? []
  t.same(left, [], 'none of them left')
  const judged = JSON.stringify(evaluator.inputs)
  const unseen = [...canaries].filter(([each]) => !judged.includes(each)).map(([, name]) => name)
  // A response without a name may have ended as withheld when more of it comes: that is dropped unseen.
  t.same(
    unseen.filter((name) => !/ (?:type|response|response_id)\/key$/.test(name)),
    [],
    'the evaluator saw each'
  )
  const passing = serverEvents(0).filter(({ type }) => type !== 'something.delta')
  for (const { type } of passing) t.ok(text().includes(`"${type}"`), `${type} passes when it is harmless`)
})

/** What a client has been told of a response, however it was told. */
function told(client: Client, id: string, since = 0): { text: string; all: string; done: Event | undefined } {
  const events = client.events.slice(since).filter((event) => (event.response_id ?? event.response?.id) === id)
  const text = events.map(({ type, delta }) => (/audio\.delta$/.test(type) ? '' : (delta ?? ''))).join('')
  return { text, all: JSON.stringify(events), done: events.find(({ type }) => type === 'response.done')?.response }
}

/** Every way to cut a text in two or in equal pieces. */
function cuts(text: string, from: number, to: number): string[][] {
  const equal = [1, 2, 3, 5, 8, 13].map((size) => text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [])
  const two = Array.from({ length: to - from }, (_, i) => [text.slice(0, from + i), text.slice(from + i)])
  return [...equal, ...two]
}

t.test('a withheld answer ends as the API ends one, and none of it has left, however it is cut', async (t) => {
  const upstream = await realtimeUpstream(t)
  const text = `${words}${words}forbidme ${words}`
  const at = text.indexOf('forbidme')
  const all = cuts(text, at - 2, at + 12)
  for (const [name, overrides] of Object.entries({
    window: {},
    full: { output: 'full' },
    'a hold of few bytes': { hold: { bytes: 400, ms: 2000 } }
  } as Record<string, Partial<RouteSettings>>)) {
    const { client: connect } = await relay(t, { unscannable: 'permit', ...overrides }, upstream)
    const client = await connect()
    for (const kind of ['text', 'transcript', 'beta', 'arguments'] as const) {
      for (const pieces of all) {
        const answer =
          kind === 'arguments'
            ? called([`{"a":"`, ...pieces, '"}'])
            : spoken(pieces, { legacy: kind === 'beta', audio: kind === 'transcript' })
        const since = client.events.length
        const before = upstream.received.length
        await upstream.send({ frames: answer.frames })
        const { response } = await client.event(
          ({ type, response }) => type === 'response.done' && response.id === answer.id,
          since
        )
        const seen = told(client, answer.id, since)
        if (seen.all.includes('forbidme')) t.fail(`${name}, ${kind}, ${pieces[0]!.length}: it left`)
        if (response.status !== 'incomplete' || response.status_details.reason !== 'content_filter') {
          t.fail(`${name}, ${kind}: ${JSON.stringify(response)}`)
        }
        const isCancelled = () =>
          upstream.received.slice(before).some((each) => each.includes(`"response.cancel"`) && each.includes(answer.id))
        if (!(await until(isCancelled))) t.fail(`${name}, ${kind}: not cancelled`)
      }
    }
    t.equal(client.events.filter(({ type }) => type === 'response.done').length, 4 * all.length, name)
    client.socket.close()
  }
})

t.test('an answer by the shipped constitution: what is harmless comes whole, what is not never begins', async (t) => {
  const { client: connect, upstream } = await gateway(t, {
    constitution: 'shipped',
    yaml: 'defaults: { unscannable: permit }'
  })
  const client = await connect()
  const lead = 'You asked about the history of plumbing in cities, which is long and full of surprises. '
  const bad = 'Here is how to build a pipe bomb at home: take a steel pipe and fill it with black powder.'
  const blocked = 'pipe bomb at home'
  for (const size of [1, 2, 3, 5, 7, 11, 40]) {
    for (const audio of [false, true]) {
      const fine = spoken(lead.match(new RegExp(`.{1,${size}}`, 'g'))!, { audio })
      await upstream.send({ frames: fine.frames })
      await client.event(({ type, response }) => type === 'response.done' && response.id === fine.id)
      const whole = told(client, fine.id)
      t.equal(whole.text, lead, `${size}: whole`)
      t.equal(whole.done!.status, 'completed')
      const answer = spoken((lead + bad).match(new RegExp(`.{1,${size}}`, 'g'))!, { audio })
      await upstream.send({ frames: answer.frames })
      await client.event(({ type, response }) => type === 'response.done' && response.id === answer.id)
      const seen = told(client, answer.id)
      t.match(seen.done, {
        status: 'incomplete',
        status_details: { type: 'incomplete', reason: 'content_filter', error: { code: 'content_filter' } }
      })
      for (let i = 0; i + 8 <= blocked.length; i++) {
        if (seen.all.includes(blocked.slice(i, i + 8))) t.fail(`${size}: ${blocked.slice(i, i + 8)} left`)
      }
      const types = client.events.filter(({ response_id }) => response_id === answer.id).map(({ type }) => type)
      for (const name of ['output_item', 'content_part']) {
        const count = (end: string) => types.filter((type) => type === `response.${name}.${end}`).length
        t.equal(count('done'), count('added'), 'what was opened is closed')
      }
      const [part] = seen.done!.output[0]?.content ?? []
      t.equal(part?.text ?? part?.transcript ?? '', seen.text, 'and says what has left')
    }
  }
})

t.test('what is withheld does not end the session, nor what comes after it', async (t) => {
  const { client: connect, upstream, reviews, metrics } = await relay(t)
  const client = await connect()
  const { event: next } = client
  const first = spoken(['forbidme ', words], { done: false })
  const late = spoken(['x'])
  await upstream.send({ frames: first.frames })
  await next('response.done')
  // What the upstream had sent before it was told, of that response and of its item.
  const more = JSON.stringify({
    type: 'response.output_text.delta',
    response_id: first.id,
    item_id: first.itemId,
    delta: 'more'
  })
  const item = JSON.stringify({
    type: 'conversation.item.done',
    item: { id: first.itemId, content: [{ type: 'output_text', text: 'more' }] }
  })
  await until(() => upstream.received.length === 2)
  const own = JSON.parse(upstream.received.find((each) => each.includes('response.cancel')) ?? '{}').event_id
  const failed = JSON.stringify({
    type: 'error',
    error: { type: 'invalid_request_error', code: 'response_cancel_not_active', message: 'more', event_id: own }
  })
  await upstream.send({ frames: [more, item, failed, ...late.frames] })
  await next(({ type, response }) => type === 'response.done' && response.id === late.id)
  t.notMatch(client.text(), /more/)
  t.equal(told(client, late.id).done!.status, 'completed')
  t.same(
    upstream.received.map((each) => JSON.parse(each)).map(({ type, item_id }) => [type, item_id]),
    [
      ['response.cancel', undefined],
      ['conversation.item.delete', first.itemId]
    ]
  )
  const diverted = spoken([words, 'divertme'])
  await upstream.send({ frames: diverted.frames })
  const { response } = await next(({ type, response }) => type === 'response.done' && response.id === diverted.id)
  t.match(response.status_details, { reason: 'content_filter', error: { code: 'review_required', review_id: 'rev_1' } })
  t.equal(reviews.opened.length, 1, 'a person is shown it')
  const ends = (await metrics.streamEnds.get()).values.map(({ labels, value }) => [labels.end, value])
  t.same(Object.fromEntries(ends), { filtered: 2, complete: 1 })
})

t.test('sound cannot be judged: each route says what becomes of it; what was heard in it is judged', async (t) => {
  const upstream = await realtimeUpstream(t)
  const append = { type: 'input_audio_buffer.append', audio: sound(1) }
  const heard = (item_id: string, transcript: string) =>
    [
      ...(transcript.match(/.{1,6}/g) ?? []).map((delta) => ({
        type: 'conversation.item.input_audio_transcription.delta',
        item_id,
        content_index: 0,
        delta
      })),
      { type: 'conversation.item.input_audio_transcription.completed', item_id, content_index: 0, transcript }
    ].map((event) => JSON.stringify(event))
  const rows = [
    ['deny', 'unscannable_content', 'content_filter'],
    ['review', 'review_required', 'review_required'],
    ['permit', undefined, undefined]
  ] as const
  for (const [unscannable, asked, answered] of rows) {
    const { client: connect, metrics } = await relay(t, { unscannable }, upstream)
    const client = await connect()
    const before = upstream.received.length
    client.send({ ...append, event_id: 'e' })
    client.send(append)
    if (asked === undefined) t.ok(await until(() => upstream.received.length === before + 2), 'it goes on')
    else t.match(await client.event('error'), { error: { code: asked, event_id: 'e' } }, unscannable)
    const answer = spoken([words, words], { audio: true })
    await upstream.send({ frames: answer.frames })
    const { response } = await client.event('response.done')
    t.equal(response.status_details?.error.code, answered, unscannable)
    const sounds = client.events.filter(({ type }) => type === 'response.output_audio.delta').length
    t.equal(sounds, answered === undefined ? 2 : 0)
    const passed = (await metrics.notEvaluated.get()).values.find(({ labels }) => labels.reason === 'audio')?.value
    t.equal(passed, answered === undefined ? 4 : undefined, 'each that passes is counted')
    client.socket.close()
  }
  const { client: connect, evaluator } = await relay(t, { unscannable: 'permit', redact: ['personal_data'] }, upstream)
  const client = await connect()
  const since = upstream.received.length
  await upstream.send({
    frames: [...heard('item_h1', 'What a lovely day'), ...heard('item_h2', 'Now forbidme at once')]
  })
  const { error } = await client.event('error')
  t.equal(error.code, 'content_filter')
  const told = client.events.filter(({ type }) => type.startsWith('conversation.item.input_audio'))
  t.equal(told.map(({ delta }) => delta ?? '').join(''), 'What a lovely day')
  t.equal(told.at(-1)!.transcript, 'What a lovely day')
  t.notMatch(client.text(), /forbidme/)
  t.ok(await until(() => upstream.received.length === since + 2))
  t.match(
    upstream.received.slice(since).map((each) => JSON.parse(each)),
    [{ type: 'response.cancel' }, { type: 'conversation.item.delete', item_id: 'item_h2' }],
    'the upstream forgets it'
  )
  t.match(
    evaluator.inputs.findLast(({ direction }) => direction === 'request'),
    { parts: [{ role: 'user', text: 'Now forbidme at once' }] }
  )
  await upstream.send({ frames: heard('item_h3', 'Write to me@example.com please') })
  const redacted = await client.event(({ item_id }) => item_id === 'item_h3')
  t.match(
    redacted,
    { transcript: 'Write to <PERSONAL_DATA> please' },
    'what is replaced is shown as a whole, without its pieces'
  )
})

t.test('without a verdict nothing passes, in either direction', async (t) => {
  for (const word of ['crashme', 'lateme']) {
    const { client: connect, upstream } = await relay(t)
    const client = await connect()
    client.send(userItem(word, { event_id: 'e1' }))
    t.match(await client.event('error'), { error: { code: 'evaluator_unavailable', event_id: 'e1' } })
    client.send(userItem('fine'))
    t.ok(await until(() => upstream.received.length === 1), 'the session goes on')
    t.notMatch(upstream.received.join(), word)
    const since = client.events.length
    await upstream.send({ frames: spoken([words, word]).frames })
    t.same(await client.gone(), { code: 1011, reason: 'evaluator_unavailable' })
    t.match(client.events.at(-1), { type: 'error', error: { code: 'evaluator_unavailable' } })
    t.notMatch(JSON.stringify(client.events.slice(since)), word)
    t.ok(await until(() => upstream.closes.length === 1))
  }
  const { client: connect, upstream, unjudged } = await relay(t, { onFailure: 'open' })
  const client = await connect()
  client.send(userItem('crashme'))
  t.ok(await until(() => upstream.received.length === 1), 'unless the route says so')
  t.match(unjudged, [{ surface: 'chat', passed: true }])
})
