/** Answers of every dialect, whole and in pieces: many of each thing that one may hold many of. */
import { messageOf } from '../../../src/dialects/event-stream.js'
import { completion } from '../../support/upstream.js'
import { sentBy, wholeOf, wires } from '../../support/wires.js'
import {
  type Answer,
  brief,
  escaped,
  type Json,
  keyed,
  long,
  mail,
  many,
  name,
  type Shape,
  type Style,
  styles,
  type Traffic,
  word,
  words
} from './shape.js'

const asJson = (body: Json): Answer => ({ type: 'application/json', writes: [JSON.stringify(body)] })
const chat = '/v1/chat/completions'
export const wireOf = (wanted: string) => wires.find(({ name }) => name === wanted)!
/** What is asked, as JSON or as a form. */
const asking = (wire: string, stream: boolean): Pick<Traffic, 'path' | 'body' | 'form'> => {
  const { path, ask, isForm } = wireOf(wire)
  const form = isForm ? sentBy(wireOf(wire), 'hello', stream) : undefined
  return { path: path(stream), ...(form === undefined ? { body: ask('hello', stream) } : { form }) }
}

interface Place {
  what: string
  wire: string
  each(text: string, i: number): Json
  body(list: Json[]): Json
}

const reply = (message: Json, more: Json = {}) =>
  completion('', {
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...more }]
  })
const response = (output: Json) => ({ id: 'resp_1', object: 'response', status: 'completed', model: 'm', output })
const message = (content: Json) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 }
})
const ofCohere = (content: Json) => ({
  id: 'c1',
  finish_reason: 'COMPLETE',
  message: { role: 'assistant', content },
  usage: {}
})
const ofBedrock = (content: Json) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  metrics: { latencyMs: 1 }
})
const cited = (text: string) => ({
  title: text,
  sourceContent: [{ text }],
  location: { documentChar: { documentIndex: 0, start: 0, end: 1 } }
})
const candidate = (parts: Json) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP' }]
})
const call = (text: string, i: number) => ({
  id: `call_${i}`,
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify({ text }) }
})

const places: readonly Place[] = [
  {
    what: 'openai-chat: choices',
    wire: 'openai-chat',
    each: (content, index) => ({ index, message: { role: 'assistant', content }, finish_reason: 'stop' }),
    body: (choices) => completion('', { choices })
  },
  {
    what: 'openai-chat: parts',
    wire: 'openai-chat',
    each: (text) => ({ type: 'text', text }),
    body: (content) => reply({ content })
  },
  {
    what: 'openai-chat: calls',
    wire: 'openai-chat',
    each: call,
    body: (tool_calls) => reply({ content: null, tool_calls })
  },
  {
    what: 'openai-chat: tokens',
    wire: 'openai-chat',
    each: (token) => ({ token, logprob: -1, top_logprobs: [{ token: `${token}s`, logprob: -2 }] }),
    body: (content) => reply({ content: 'yes' }, { logprobs: { content } })
  },
  {
    what: 'openai-chat: annotations',
    wire: 'openai-chat',
    each: (title) => ({ type: 'url_citation', url_citation: { title } }),
    body: (annotations) => reply({ content: 'yes', annotations })
  },
  {
    what: 'openai-completions: choices',
    wire: 'openai-completions',
    each: (text, index) => ({ index, text, finish_reason: 'stop' }),
    body: (choices) => ({ ...completion(''), object: 'text_completion', choices })
  },
  {
    what: 'openai-responses: items',
    wire: 'openai-responses',
    each: (text, i) => ({
      id: `msg_${i}`,
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text }]
    }),
    body: response
  },
  {
    what: 'openai-responses: parts',
    wire: 'openai-responses',
    each: (text) => ({ type: 'output_text', text, annotations: [] }),
    body: (content) => response([{ id: 'msg_1', type: 'message', role: 'assistant', content }])
  },
  {
    what: 'openai-responses: calls',
    wire: 'openai-responses',
    each: (text, i) => ({
      type: 'function_call',
      call_id: `call_${i}`,
      name: 'look',
      arguments: JSON.stringify({ text })
    }),
    body: response
  },
  { what: 'anthropic: blocks', wire: 'anthropic', each: (text) => ({ type: 'text', text }), body: message },
  {
    what: 'anthropic: citations',
    wire: 'anthropic',
    each: (cited_text) => ({ type: 'char_location', cited_text, document_index: 0 }),
    body: (citations) => message([{ type: 'text', text: 'yes', citations }])
  },
  {
    what: 'anthropic: calls',
    wire: 'anthropic',
    each: (text, i) => ({ type: 'tool_use', id: `toolu_${i}`, name: 'look', input: { text } }),
    body: message
  },
  { what: 'gemini: parts', wire: 'gemini, events', each: (text) => ({ text }), body: candidate },
  {
    what: 'gemini: candidates',
    wire: 'gemini, events',
    each: (text, index) => ({ content: { role: 'model', parts: [{ text }] }, index, finishReason: 'STOP' }),
    body: (candidates) => ({ candidates })
  },
  {
    what: 'gemini: calls',
    wire: 'gemini, events',
    each: (text) => ({ functionCall: { name: 'look', args: { text } } }),
    body: candidate
  },
  { what: 'cohere: blocks', wire: 'cohere', each: (text) => ({ type: 'text', text }), body: ofCohere },
  {
    what: 'cohere: calls',
    wire: 'cohere',
    each: call,
    body: (tool_calls) => ({ ...ofCohere([]), message: { role: 'assistant', tool_calls } })
  },
  {
    what: 'cohere: citations',
    wire: 'cohere',
    each: (text) => ({ start: 0, end: 1, text, sources: [{ type: 'document', document: { snippet: text } }] }),
    body: (citations) => ({ ...ofCohere([]), message: { role: 'assistant', content: [], citations } })
  },
  {
    what: 'cohere: tokens',
    wire: 'cohere',
    each: (text) => ({ token_ids: [1], text, logprobs: [-1] }),
    body: (logprobs) => ({ ...ofCohere([{ type: 'text', text: 'yes' }]), logprobs })
  },
  { what: 'bedrock: blocks', wire: 'bedrock', each: (text) => ({ text }), body: ofBedrock },
  {
    what: 'bedrock: calls',
    wire: 'bedrock',
    each: (text, i) => ({ toolUse: { toolUseId: `tooluse_${i}`, name: 'look', input: { text } } }),
    body: ofBedrock
  },
  {
    what: 'bedrock: citations',
    wire: 'bedrock',
    each: cited,
    body: (citations) => ofBedrock([{ citationsContent: { content: [{ text: 'yes' }], citations } }])
  },
  {
    what: 'bedrock: words of a guardrail',
    wire: 'bedrock',
    each: (text) => text,
    body: (modelOutput) => ({ ...ofBedrock([{ text: 'yes' }]), trace: { guardrail: { modelOutput } } })
  },
  {
    what: 'openai-transcriptions: segments',
    wire: 'openai-transcriptions',
    each: (text, id) => ({ id, start: id, end: id + 1, text }),
    body: (segments) => ({ text: '', segments })
  },
  {
    what: 'openai-transcriptions: words',
    wire: 'openai-transcriptions',
    each: (word, i) => ({ word, start: i, end: i + 1 }),
    body: (words) => ({ text: '', words })
  },
  {
    what: 'openai-images: pictures',
    wire: 'openai-images',
    each: (revised_prompt, i) => ({ revised_prompt, url: `https://pictures.example/${i}.png` }),
    body: (data) => ({ created: 5, data })
  },
  {
    what: 'ollama: calls',
    wire: 'ollama, chat',
    each: (text) => ({ function: { name: 'look', arguments: { text } } }),
    body: (tool_calls) => ({
      model: 'm',
      message: { role: 'assistant', content: '', tool_calls },
      done: true,
      done_reason: 'stop'
    })
  }
]

const subtitles = (texts: readonly string[]) =>
  texts.map((text, i) => `${i + 1}\n00:00:00,000 --> 00:00:01,000\n${text}\n`).join('\n')

const wholes: readonly Shape[] = [
  ...Object.entries(styles).map(
    ([style, make]): Shape => ({
      name: `answer, openai-transcriptions: subtitles, ${style}`,
      of: (bytes, seed) => ({
        ...asking('openai-transcriptions', false),
        answer: { type: 'text/plain', writes: [subtitles(many(bytes, (i) => make(i, seed)))] }
      })
    })
  ),
  ...places.flatMap(({ what, wire, each, body }) =>
    Object.entries(styles).map(([style, make]): Shape => {
      return {
        name: `answer, ${what}, ${style}`,
        of: (bytes, seed) => ({
          ...asking(wire, false),
          answer: asJson(body(many(bytes, (i) => each(make(i, seed), i))))
        })
      }
    })
  ),
  ...wires.flatMap((wire) =>
    Object.entries(styles).map(
      ([style, make]): Shape => ({
        name: `answer, ${wire.name}: one text, ${style}`,
        of: (bytes, seed) => {
          const answer = wholeOf(wire, long(bytes, seed, make, make === mail ? ' ' : '. '))
          return {
            ...asking(wire.name, false),
            answer: { type: answer.type, writes: [answer.bytes] }
          }
        }
      })
    )
  ),
  ...Object.entries({ names: name, 'e-mail addresses': mail, 'short addresses': brief }).map(
    ([style, make]): Shape => ({
      name: `answer, openai-chat: unknown keys that are ${style}`,
      of: (bytes, seed) => ({
        path: chat,
        body: wireOf('openai-chat').ask('hello', false),
        answer: asJson(reply({ content: 'yes', added: keyed(bytes, seed, make, 'x') }))
      }),
      found: make === brief
    })
  ),
  {
    name: 'answer, openai-chat: one text of short addresses',
    found: true,
    of: (bytes, seed) => ({
      path: chat,
      body: wireOf('openai-chat').ask('hello', false),
      answer: asJson(reply({ content: long(bytes, seed, brief, ' ') }))
    })
  },
  {
    name: 'answer, openai-chat: arguments of many e-mail addresses, escaped',
    of: (bytes, seed) => {
      const list = many(bytes, (i) => `"${mail(i, seed)}"`)
      const made = { ...call('', 0), function: { name: 'look', arguments: JSON.stringify({ list }) } }
      return {
        path: chat,
        body: wireOf('openai-chat').ask('hello', false),
        answer: asJson(reply({ content: null, tool_calls: [made] }))
      }
    }
  }
]

/** Bytes that a sender writes together. */
const write = 4_096

/** Frames as they leave a sender: some together, whatever their borders. */
function written(frames: readonly string[], encoding: 'latin1' | undefined, size = write): Buffer[] {
  const all = Buffer.from(frames.join(''), encoding)
  const out: Buffer[] = []
  for (let at = 0; at < all.length; at += size) out.push(all.subarray(at, at + size))
  return out
}

const data = (event: Json) => `data: ${JSON.stringify(event)}\n\n`
const named = (event: Json) => `event: ${event.type}\n${data(event)}`
const chunk = (choices: Json) => data({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices })
const done = 'data: [DONE]\n\n'
const end = [chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]), done]
const opened = named({ type: 'message_start', message: { ...message([]), stop_reason: null } })
const block = (index: number, content_block: Json) => named({ type: 'content_block_start', index, content_block })
const grown = (index: number, delta: Json) => named({ type: 'content_block_delta', index, delta })
const shut = (index: number) => named({ type: 'content_block_stop', index })
const over = [
  named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} }),
  named({ type: 'message_stop' })
]
const made = (event: Json, sequence_number: number) => named({ ...event, sequence_number })
const part = (text: string) => ({ type: 'output_text', text, annotations: [] })

const cohereOpened = named({ type: 'message-start', id: 'c', delta: { message: { role: 'assistant', content: [] } } })
const cohereCall = (begun: string) => ({ id: 'c1', type: 'function', function: { name: 'look', arguments: begun } })
const cohereEnd = `${named({ type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: {} } })}${done}`

const messages = (events: readonly (readonly [name: string, event: Json])[]) =>
  events.map(([name, event]) => messageOf('event', name, JSON.stringify(event)))
const bedrockOpened = ['messageStart', { role: 'assistant' }] as const
const bedrockEnd = ['messageStop', { stopReason: 'end_turn' }] as const
const bedrockDelta = (contentBlockIndex: number, delta: Json) =>
  ['contentBlockDelta', { contentBlockIndex, delta }] as const
const bedrockStop = (contentBlockIndex: number) => ['contentBlockStop', { contentBlockIndex }] as const

/** Frames of many small things, each made with a text. */
const flows: readonly [what: string, wire: string, frames: (texts: string[]) => string[]][] = [
  [
    'openai-chat: choices, one after the other',
    'openai-chat',
    (texts) => [
      ...texts.map((content, index) =>
        chunk([{ index, delta: { role: 'assistant', content }, finish_reason: 'stop' }])
      ),
      done
    ]
  ],
  [
    'openai-chat: choices that stay open',
    'openai-chat',
    (texts) => [...texts.map((content, index) => chunk([{ index, delta: { content }, finish_reason: null }])), done]
  ],
  [
    'openai-chat: choices of one chunk',
    'openai-chat',
    (texts) => [chunk(texts.map((content, index) => ({ index, delta: { content }, finish_reason: 'stop' }))), done]
  ],
  [
    'openai-chat: calls',
    'openai-chat',
    (texts) => [
      ...texts.map((text, index) =>
        chunk([
          {
            index: 0,
            delta: {
              tool_calls: [
                {
                  index,
                  id: `c${index}`,
                  type: 'function',
                  function: { name: 'look', arguments: JSON.stringify({ text }) }
                }
              ]
            },
            finish_reason: null
          }
        ])
      ),
      ...end
    ]
  ],
  [
    'openai-chat: arguments in pieces',
    'openai-chat',
    (texts) => [
      ...[`{"text":"`, ...texts.map((text) => `${text} `), '"}'].map((piece) =>
        chunk([
          { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] }, finish_reason: null }
        ])
      ),
      ...end
    ]
  ],
  [
    'openai-chat: tokens beside the text',
    'openai-chat',
    (texts) => [
      ...texts.map((content) =>
        chunk([
          {
            index: 0,
            delta: { content },
            logprobs: { content: [{ token: content, logprob: -1, top_logprobs: [] }] },
            finish_reason: null
          }
        ])
      ),
      ...end
    ]
  ],
  [
    'openai-chat: unknown fields',
    'openai-chat',
    (texts) => [
      ...texts.map((added) =>
        data({
          id: 'c',
          object: 'chat.completion.chunk',
          model: 'm',
          added,
          choices: [{ index: 0, delta: { content: '.' }, finish_reason: null }]
        })
      ),
      ...end
    ]
  ],
  [
    'openai-chat: keys of a delta',
    'openai-chat',
    (texts) => [
      ...texts.map((text, i) => chunk([{ index: 0, delta: { [name(i, 3)]: text }, finish_reason: null }])),
      ...end
    ]
  ],
  [
    'anthropic: blocks',
    'anthropic',
    (texts) => [
      opened,
      ...texts.flatMap((text, i) => [
        block(i, { type: 'text', text: '' }),
        grown(i, { type: 'text_delta', text }),
        shut(i)
      ]),
      ...over
    ]
  ],
  [
    'anthropic: blocks that stay open',
    'anthropic',
    (texts) => [
      opened,
      ...texts.flatMap((text, i) => [block(i, { type: 'text', text: '' }), grown(i, { type: 'text_delta', text })]),
      ...texts.map((_, i) => shut(i)),
      ...over
    ]
  ],
  [
    'anthropic: input in pieces',
    'anthropic',
    (texts) => [
      opened,
      block(0, { type: 'tool_use', id: 't', name: 'look', input: {} }),
      ...['{"text":"', ...texts.map((text) => `${text} `), '"}'].map((partial_json) =>
        grown(0, { type: 'input_json_delta', partial_json })
      ),
      shut(0),
      ...over
    ]
  ],
  [
    'anthropic: citations',
    'anthropic',
    (texts) => [
      opened,
      block(0, { type: 'text', text: 'yes' }),
      ...texts.map((cited_text) =>
        grown(0, {
          type: 'citations_delta',
          citation: { type: 'char_location', cited_text, document_title: cited_text }
        })
      ),
      shut(0),
      ...over
    ]
  ],
  [
    'gemini: candidates',
    'gemini, events',
    (texts) =>
      texts.map((text, index) =>
        data({ candidates: [{ index, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }] })
      )
  ],
  [
    'gemini: calls',
    'gemini, events',
    (texts) =>
      texts.map((text, i) =>
        data({
          candidates: [
            {
              index: 0,
              content: { role: 'model', parts: [{ functionCall: { name: 'look', args: { text } } }] },
              ...(i === texts.length - 1 && { finishReason: 'STOP' })
            }
          ]
        })
      )
  ],
  [
    'cohere: blocks',
    'cohere',
    (texts) => [
      cohereOpened,
      ...texts.flatMap((text, index) =>
        [
          { type: 'content-start', index, delta: { message: { content: { type: 'text', text: '' } } } },
          { type: 'content-delta', index, delta: { message: { content: { text } } } },
          { type: 'content-end', index }
        ].map(named)
      ),
      cohereEnd
    ]
  ],
  [
    'cohere: arguments in pieces',
    'cohere',
    (texts) => [
      cohereOpened,
      ...[
        { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: cohereCall('{"text":"') } } },
        ...[...texts.map((text) => `${text} `), '"}'].map((piece) => ({
          type: 'tool-call-delta',
          index: 0,
          delta: { message: { tool_calls: { function: { arguments: piece } } } }
        })),
        { type: 'tool-call-end', index: 0 }
      ].map(named),
      cohereEnd
    ]
  ],
  [
    'cohere: citations',
    'cohere',
    (texts) => [
      cohereOpened,
      ...texts.flatMap((text, index) =>
        [
          {
            type: 'citation-start',
            index,
            delta: { message: { citations: { start: 0, end: 1, text, sources: [{ document: { snippet: text } }] } } }
          },
          { type: 'citation-end', index }
        ].map(named)
      ),
      cohereEnd
    ]
  ],
  [
    'bedrock: blocks',
    'bedrock',
    (texts) =>
      messages([bedrockOpened, ...texts.flatMap((text, i) => [bedrockDelta(i, { text }), bedrockStop(i)]), bedrockEnd])
  ],
  [
    'bedrock: blocks that stay open',
    'bedrock',
    (texts) =>
      messages([
        bedrockOpened,
        ...texts.map((text, i) => bedrockDelta(i, { text })),
        ...texts.map((_, i) => bedrockStop(i)),
        bedrockEnd
      ])
  ],
  [
    'bedrock: input in pieces',
    'bedrock',
    (texts) =>
      messages([
        bedrockOpened,
        ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: 'look' } } }],
        ...['{"text":"', ...texts.map((text) => `${text} `), '"}'].map((input) =>
          bedrockDelta(0, { toolUse: { input } })
        ),
        bedrockStop(0),
        bedrockEnd
      ])
  ],
  [
    'bedrock: citations',
    'bedrock',
    (texts) =>
      messages([
        bedrockOpened,
        bedrockDelta(0, { text: 'yes' }),
        ...texts.map((text) => bedrockDelta(0, { citation: cited(text) })),
        bedrockStop(0),
        bedrockEnd
      ])
  ],
  [
    'openai-transcriptions: segments',
    'openai-transcriptions',
    (texts) =>
      [
        ...texts.map((text, id) => ({ type: 'transcript.text.segment', id: `s${id}`, start: id, end: id, text })),
        { type: 'transcript.text.done', text: texts.join(' ') }
      ].map(data)
  ],
  [
    'ollama: calls',
    'ollama, chat',
    (texts) => [
      ...texts.map(
        (text) =>
          `${JSON.stringify({ model: 'm', message: { role: 'assistant', content: '', tool_calls: [{ function: { name: 'look', arguments: { text } } }] }, done: false })}\n`
      ),
      `${JSON.stringify({ model: 'm', message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' })}\n`
    ]
  ],
  [
    'openai-responses: items',
    'openai-responses',
    (texts) => {
      const items = texts.map((text, i) => ({
        id: `msg_${i}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [part(text)]
      }))
      return [
        { type: 'response.created', response: { ...response([]), status: 'in_progress' } },
        ...texts.flatMap((text, i) => [
          {
            type: 'response.output_item.added',
            output_index: i,
            item: { ...items[i], status: 'in_progress', content: [] }
          },
          {
            type: 'response.content_part.added',
            item_id: `msg_${i}`,
            output_index: i,
            content_index: 0,
            part: part('')
          },
          { type: 'response.output_text.delta', item_id: `msg_${i}`, output_index: i, content_index: 0, delta: text },
          { type: 'response.output_text.done', item_id: `msg_${i}`, output_index: i, content_index: 0, text },
          { type: 'response.output_item.done', output_index: i, item: items[i] }
        ]),
        { type: 'response.completed', response: response(items) }
      ].map(made)
    }
  ],
  [
    'openai-responses: parts',
    'openai-responses',
    (texts) => {
      const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: texts.map(part) }
      const place = { item_id: 'msg_1', output_index: 0 }
      return [
        { type: 'response.created', response: { ...response([]), status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
        ...texts.flatMap((text, content_index) => [
          { type: 'response.content_part.added', ...place, content_index, part: part('') },
          { type: 'response.output_text.delta', ...place, content_index, delta: text },
          { type: 'response.output_text.done', ...place, content_index, text },
          { type: 'response.content_part.done', ...place, content_index, part: part(text) }
        ]),
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: response([item]) }
      ].map(made)
    }
  ],
  [
    'openai-responses: arguments in pieces',
    'openai-responses',
    (texts) => {
      const pieces = ['{"text":"', ...texts.map((text) => `${text} `), '"}']
      const item = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: pieces.join('') }
      const place = { item_id: 'fc_1', output_index: 0 }
      return [
        { type: 'response.created', response: { ...response([]), status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
        ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta })),
        { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: response([item]) }
      ].map(made)
    }
  ]
]

export const stream = (
  what: string,
  wire: string,
  make: (bytes: number, seed: number) => string[],
  size?: number
): Shape => {
  const { type, encoding } = wireOf(wire)
  return {
    name: `stream, ${what}`,
    of: (bytes, seed) => ({
      ...asking(wire, true),
      answer: { type, writes: written(make(bytes, seed), encoding, size) }
    })
  }
}

/** A text cut into pieces of so many units. */
export function cut(text: string, size: number): string[] {
  const out: string[] = []
  for (let at = 0; at < text.length; at += size) out.push(text.slice(at, at + size))
  return out
}

/** What is said in small pieces and in large ones. */
const texts: readonly [what: string, style: Style, between: string][] = [
  ['words', words, '. '],
  ['words without an end', word, ' '],
  ['letters without a space', word, ''],
  ['e-mail addresses', mail, ' '],
  ['lines with quotation marks', escaped, '\n']
]

const streamed = wires.filter((wire) => wire.isWhole !== true)

const streams: readonly Shape[] = [
  ...streamed.flatMap(({ name: wire, frames }) =>
    texts.flatMap(([what, style, between]) => [
      stream(`${wire}: ${what} in small events`, wire, (bytes, seed) =>
        frames(cut(long(bytes / 8, seed, style, between), 6))
      ),
      stream(`${wire}: ${what} in large events`, wire, (bytes, seed) =>
        frames(cut(long(bytes, seed, style, between), 8_192))
      )
    ])
  ),
  ...['openai-chat', 'anthropic', 'ollama, chat', 'gemini, array', 'bedrock'].map((wire) =>
    stream(`${wire}: one event in small writes`, wire, (bytes, seed) => wireOf(wire).frames([long(bytes, seed)]), 256)
  ),
  ...flows.flatMap(([what, wire, frames]) =>
    Object.entries(styles).map(
      ([style, make]): Shape => ({
        ...stream(`${what}, ${style}`, wire, (bytes, seed) => frames(many(bytes / 5, (i) => make(i, seed)))),
        found: make === mail && /choices|: calls|citations|open/.test(what)
      })
    )
  )
]

export const answers: readonly Shape[] = [...wholes, ...streams]
