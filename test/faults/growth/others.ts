/** What is judged and not forwarded (evaluate, moderations, other gateways' hooks), and sessions of the Realtime API. */
import { hostileShapes } from '../../text/hostile-shapes.js'
import { type Json, keyed, long, mail, many, name, type Shape, type Style, styles, words } from './shape.js'

const evaluate = '/api/v1/safety/evaluate'
const moderations = '/v1/moderations'
/** UTF-16 units of a text that these take. */
const longest = 100_000

const one = (
  what: string,
  path: string,
  body: (text: string) => Json,
  style: Style = words,
  between?: string
): Shape => ({
  name: what,
  most: longest,
  of: (bytes, seed) => ({ path, body: body(long(Math.min(bytes, longest - 1), seed, style, between)) })
})

const list = (
  what: string,
  path: string,
  each: (text: string, i: number) => Json,
  body: (list: Json[]) => Json
): Shape[] =>
  Object.entries(styles).map(([style, make]) => ({
    name: `${what}, ${style}`,
    of: (bytes, seed) => ({ path, body: body(many(bytes, (i) => each(make(i, seed), i))) })
  }))

const user = (content: Json) => ({ role: 'user', content })
const litellm = '/beta/litellm_basic_guardrail_api'
const params = { redact: ['personal_data', 'secrets'] }
const portkey = (json: Json, requestType = 'chatComplete') => ({
  request: { json },
  requestType,
  eventType: 'beforeRequestHook'
})

const endpoints: readonly Shape[] = [
  one('evaluate, words', evaluate, (input_text) => ({ input_text })),
  one('evaluate, e-mail addresses', evaluate, (input_text) => ({ input_text }), mail, ' '),
  {
    name: 'evaluate, keys of the context',
    most: 16_000,
    of: (bytes, seed) => ({
      path: evaluate,
      body: { input_text: 'hello', context: keyed(Math.min(bytes, 15_000), seed, name, 'x') }
    })
  },
  {
    name: 'evaluate, turns of a session',
    most: longest,
    of: (bytes, seed) => ({
      path: evaluate,
      body: { input_text: long(Math.min(bytes, longest - 1), seed), session_id: `growth-${seed % 3}` }
    })
  },
  ...Object.entries(styles).flatMap(([style, make]): Shape[] => [
    {
      name: `moderations, texts of ${style}`,
      of: (bytes, seed) => ({
        path: moderations,
        body: { input: Array.from({ length: 100 }, (_, i) => long(bytes / 100, seed + i, make, ' ')) }
      })
    },
    {
      name: `moderations, parts of ${style}`,
      most: longest,
      of: (bytes, seed) => ({
        path: moderations,
        body: {
          input: Array.from({ length: 100 }, (_, i) => ({
            type: 'text',
            text: long(Math.min(bytes, longest - 500) / 100, seed + i, make, ' ')
          }))
        }
      })
    }
  ]),
  ...list(
    'guard, litellm: texts',
    litellm,
    (text) => text,
    (texts) => ({
      texts,
      input_type: 'request',
      additional_provider_specific_params: params
    })
  ),
  ...list(
    'guard, litellm: texts of an answer',
    litellm,
    (text) => text,
    (texts) => ({
      texts,
      input_type: 'response',
      additional_provider_specific_params: params
    })
  ),
  ...list('guard, litellm: texts and their messages', litellm, user, (structured_messages) => ({
    texts: structured_messages.map(({ content }) => content),
    structured_messages,
    input_type: 'request',
    additional_provider_specific_params: params
  })),
  ...list(
    'guard, litellm: tools',
    litellm,
    (description, i) => ({ type: 'function', function: { name: `look_${i}`, description } }),
    (tools) => ({
      texts: ['hello'],
      tools,
      input_type: 'request'
    })
  ),
  ...list(
    'guard, litellm: calls',
    litellm,
    (text, i) => ({ id: `c${i}`, type: 'function', function: { name: 'look', arguments: JSON.stringify({ text }) } }),
    (tool_calls) => ({
      texts: ['hello'],
      tool_calls,
      input_type: 'response'
    })
  ),
  ...list('guard, portkey: messages', '/guards/portkey', user, (messages) => portkey({ model: 'm', messages })),
  ...list(
    'guard, portkey: parts',
    '/guards/portkey',
    (text) => ({ type: 'text', text }),
    (content) => portkey({ model: 'm', messages: [user(content)] })
  ),
  ...list(
    'guard, portkey: prompts',
    '/guards/portkey',
    (text) => text,
    (prompt) => portkey({ model: 'm', prompt, suffix: 'x' }, 'complete')
  ),
  ...list(
    'guard, portkey: choices',
    '/guards/portkey',
    (content, index) => ({ index, message: { role: 'assistant', content }, finish_reason: 'stop' }),
    (choices) => ({
      ...portkey({ model: 'm', messages: [user('hello')] }),
      eventType: 'afterRequestHook',
      response: { json: { choices } }
    })
  ),
  ...list('guard, agentgateway: messages', '/guards/agentgateway/request', user, (messages) => ({
    body: { messages }
  })),
  ...list(
    'guard, agentgateway: choices',
    '/guards/agentgateway/response',
    (content) => ({ message: { role: 'assistant', content } }),
    (choices) => ({ body: { choices } })
  ),
  one('guard, flat: a text', '/guards/flat', (text) => ({ text })),
  one('guard, flat: e-mail addresses in an answer', '/guards/flat', (text) => ({ text, source: 'OUTPUT' }), mail, ' '),
  {
    name: 'guard, auth-request: a header',
    // Of all headers together.
    most: 12_000,
    of: (bytes, seed) => ({
      path: '/guards/auth-request',
      method: 'GET',
      headers: { 'x-safety-text': long(Math.min(bytes, 12_000), seed) }
    })
  }
]

/** What each reading of a text looks for, and nothing else: judged on the event loop, and in a thread. */
const triggers: readonly Shape[] = hostileShapes(1).map(([unit], i) => ({
  name: `evaluate, nothing but ${unit}`,
  most: longest,
  of: (bytes, seed) => {
    const text = hostileShapes(Math.min(bytes, longest - 20))[i]![1]
    return { path: evaluate, body: { input_text: `${text} ${seed % 1000}` } }
  }
}))

const realtime = '/v1/realtime?model=gpt-realtime'
const event = (value: Json) => JSON.stringify(value)
const item = (content: Json, id: string) =>
  event({ type: 'conversation.item.create', item: { id, type: 'message', role: 'user', content } })
const input = (text: string) => ({ type: 'input_text', text })
/** What ends what a client sends: the upstream answers it. */
const last = event({ type: 'response.create' })
const finished = (output: Json = []) =>
  event({ type: 'response.done', response: { id: 'resp_1', object: 'realtime.response', status: 'completed', output } })
const begun = event({
  type: 'response.created',
  response: { id: 'resp_1', object: 'realtime.response', status: 'in_progress', output: [] }
})
const added = (i: number, item: Json) =>
  event({ type: 'response.output_item.added', response_id: 'resp_1', output_index: i, item })
const ended = (i: number, item: Json) =>
  event({ type: 'response.output_item.done', response_id: 'resp_1', output_index: i, item })
const saying = (i: number, text: string, status: string) => ({
  id: `item_${i}`,
  object: 'realtime.item',
  type: 'message',
  role: 'assistant',
  status,
  content: text === '' ? [] : [{ type: 'output_text', text }]
})

/** Addresses with nothing around them are taken for an injection, and a session that asks back does less. */
const passing = (make: Style): Style => (make === mail ? (i, seed) => `the shop at ${mail(i, seed)}` : make)

const fromClient = (what: string, frames: (texts: string[]) => string[], share = 1): Shape[] =>
  Object.entries(styles).map(([style, make]) => ({
    name: `realtime, client: ${what}, ${style}`,
    of: (bytes, seed) => ({
      path: realtime,
      session: {
        client: [...frames(many(bytes * share, (i) => passing(make)(i, seed))), last],
        server: [begun, finished()]
      }
    })
  }))

const fromServer = (what: string, frames: (texts: string[]) => string[], share = 0.3): Shape[] =>
  Object.entries(styles).map(([style, make]) => ({
    name: `realtime, server: ${what}, ${style}`,
    of: (bytes, seed) => ({
      path: realtime,
      session: { client: [last], server: frames(many(bytes * share, (i) => make(i, seed))) }
    })
  }))

function inPieces(i: number, pieces: string[]): string[] {
  const place = { response_id: 'resp_1', item_id: `item_${i}`, output_index: i, content_index: 0 }
  const text = pieces.join('')
  return [
    added(i, saying(i, '', 'in_progress')),
    event({ type: 'response.content_part.added', ...place, part: { type: 'text', text: '' } }),
    ...pieces.map((delta) => event({ type: 'response.output_text.delta', ...place, delta })),
    event({ type: 'response.output_text.done', ...place, text }),
    event({ type: 'response.content_part.done', ...place, part: { type: 'text', text } }),
    ended(i, saying(i, text, 'completed'))
  ]
}

const sessions: readonly Shape[] = [
  ...fromClient('parts of an item', (texts) => [item(texts.map(input), 'i')], 0.6),
  ...fromClient('one text', (texts) => [item([input(texts.join('. '))], 'i')], 0.9),
  ...fromClient('items', (texts) => texts.map((text, i) => item([input(text)], `i${i}`)), 0.1),
  ...fromClient(
    'results of tools',
    (texts) =>
      texts.map((output, i) =>
        event({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: `c${i}`, output } })
      ),
    0.1
  ),
  ...fromClient(
    'tools',
    (texts) => [
      event({
        type: 'session.update',
        session: {
          tools: texts.map((description, i) => ({ type: 'function', name: `look_${i}`, description, parameters: {} }))
        }
      })
    ],
    0.5
  ),
  ...fromClient(
    'variables of a prompt',
    (texts) => [
      event({
        type: 'session.update',
        session: { prompt: { id: 'p', variables: Object.fromEntries(texts.map((text, i) => [name(i, 2), text])) } }
      })
    ],
    0.7
  ),
  ...fromServer('a text in pieces', (texts) => [
    begun,
    ...inPieces(
      0,
      texts.map((text) => `${text}. `)
    ),
    finished()
  ]),
  ...fromServer('a text of one piece', (texts) => [begun, ...inPieces(0, [texts.join('. ')]), finished()]),
  ...fromServer(
    'items',
    (texts) => [
      begun,
      ...texts.flatMap((text, i) => inPieces(i, [text])),
      finished(texts.map((text, i) => saying(i, text, 'completed')))
    ],
    0.1
  ),
  ...fromServer('parts of an item', (texts) => {
    const whole = { ...saying(0, '', 'completed'), content: texts.map((text) => ({ type: 'output_text', text })) }
    return [begun, added(0, saying(0, '', 'in_progress')), ended(0, whole), finished([whole])]
  }),
  ...fromServer('arguments in pieces', (texts) => {
    const pieces = ['{"text":"', ...texts.map((text) => `${text} `), '"}']
    const place = { response_id: 'resp_1', item_id: 'item_0', output_index: 0, call_id: 'c' }
    const call = { id: 'item_0', object: 'realtime.item', type: 'function_call', name: 'look', call_id: 'c' }
    return [
      begun,
      added(0, { ...call, status: 'in_progress', arguments: '' }),
      ...pieces.map((delta) => event({ type: 'response.function_call_arguments.delta', ...place, delta })),
      event({ type: 'response.function_call_arguments.done', ...place, arguments: pieces.join('') }),
      ended(0, { ...call, status: 'completed', arguments: pieces.join('') }),
      finished([{ ...call, status: 'completed', arguments: pieces.join('') }])
    ]
  }),
  ...fromServer(
    'transcripts of what was heard',
    (texts) => [
      begun,
      ...texts.flatMap((transcript, i) => [
        event({
          type: 'conversation.item.input_audio_transcription.delta',
          item_id: `u${i}`,
          content_index: 0,
          delta: transcript
        }),
        event({
          type: 'conversation.item.input_audio_transcription.completed',
          item_id: `u${i}`,
          content_index: 0,
          transcript
        })
      ]),
      finished()
    ],
    0.1
  ),
  ...fromServer(
    'items of the conversation',
    (texts) => [
      begun,
      ...texts.map((text, i) => event({ type: 'conversation.item.added', item: saying(i, text, 'completed') })),
      finished()
    ],
    0.1
  )
]

export const others: readonly Shape[] = [...endpoints, ...sessions]
export { triggers }
