/** What upstreams of every API answer, in all the fields that readers know: whole, streamed and as errors. */
import { readFileSync } from 'node:fs'
import type { JsonObject } from '../../src/base/chat.js'
import type { DialectId } from '../../src/base/settings.js'
import { converseFrames, withPayload } from './bedrock-upstream.js'
import { type Wire, wires } from './wires.js'

const recorded = (name: string) => readFileSync(new URL(`../fixtures/dialects/${name}`, import.meta.url), 'utf8')
const framesIn = (name: string) =>
  recorded(name)
    .split(name.endsWith('.ndjson') ? /(?<=\n)/ : /(?<=\n\r?\n)/)
    .filter((frame) => frame.trim() !== '')

const logprobs = {
  content: [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [{ token: 'Yo', logprob: -2, bytes: null }] }]
}
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"city":"Rome"}' } }
const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'm', system_fingerprint: 'fp' }
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

const chat: JsonObject = {
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Hi there.',
        refusal: null,
        reasoning_content: 'Hm.',
        annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0 } }],
        audio: { id: 'audio_1', data: 'A'.repeat(120), expires_at: 5, transcript: 'Hi.' },
        tool_calls: [call],
        function_call: { name: 'look', arguments: '{}' }
      },
      logprobs,
      finish_reason: 'stop'
    }
  ],
  usage
}
const chunk = (choice: JsonObject) => ({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })
const data = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`
const chatStream = [
  ...[
    { delta: { role: 'assistant', content: '' }, finish_reason: null },
    { delta: { content: 'Hi there, ' }, logprobs, finish_reason: null },
    { delta: { content: 'you.', reasoning_content: 'Hm.', audio: { id: 'a', data: 'A'.repeat(120) } } },
    { delta: { tool_calls: [call] } },
    { delta: { tool_calls: [{ index: 0, function: { arguments: ' ' } }] } },
    { delta: {}, finish_reason: 'stop' }
  ].map((choice) => data(chunk(choice as JsonObject))),
  'data: [DONE]\n\n'
]
const completion: JsonObject = {
  ...head,
  object: 'text_completion',
  choices: [
    {
      index: 0,
      text: 'Hi there.',
      logprobs: { tokens: ['Hi'], token_logprobs: [-0.1], top_logprobs: [{ Yo: -2 }], text_offset: [0] },
      finish_reason: 'stop'
    }
  ],
  usage
}
const vectors: JsonObject = {
  object: 'list',
  model: 'e',
  data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
  usage: { prompt_tokens: 3, total_tokens: 3 }
}

/** One operation: how it is asked, and what may come back. */
export interface Asked {
  dialect: DialectId
  path: string
  params: Record<string, string>
  query: string
  ask(stream: boolean): JsonObject
  whole: JsonObject[]
  /** Frames of whole streams. */
  streams: string[][]
  /** How the characters of a frame are bytes. Default: UTF-8. */
  encoding?: 'latin1' | undefined
  /** A frame with another object in it. Default: where its JSON stands. */
  reframe?(frame: string, body: JsonObject): string
  type: string
  error: JsonObject
}

const openaiError = { error: { message: 'Bad.', type: 'invalid_request_error', param: 'model', code: 'x' } }

function asked(dialect: DialectId, name: string, more: Pick<Asked, 'whole' | 'streams' | 'error'>): Asked {
  const wire = wires.find((each) => each.name === name) as Wire
  const [path, query] = wire.path(more.streams.length > 0 && dialect === 'gemini').split('?')
  return {
    dialect,
    path: path!,
    params: {},
    query: query === undefined ? '' : `?${query}`,
    ask: (stream) => wire.ask('Hello', stream) as JsonObject,
    type: wire.type,
    encoding: wire.encoding,
    ...more,
    // What Gemini streams comes from an address of its own.
    whole: dialect === 'gemini' ? [] : [wire.whole('Hi there.') as JsonObject, ...more.whole],
    streams: more.streams.length === 0 ? [] : [wire.frames(['Hi there, ', 'you.']), ...more.streams]
  }
}

const converse: JsonObject = {
  output: {
    message: {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2lnbmF0dXJl' } } },
        { text: 'Hi there.' },
        { toolUse: { toolUseId: 'tooluse_1', name: 'look', input: { city: 'Rome' } } },
        {
          citationsContent: { content: [{ text: 'Hi.' }], citations: [{ title: 'A', sourceContent: [{ text: 'a' }] }] }
        }
      ]
    }
  },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
  metrics: { latencyMs: 5 },
  trace: { guardrail: { modelOutput: ['Hi there.'] } }
}

const google = { error: { code: 400, message: 'Bad.', status: 'INVALID_ARGUMENT', details: [{ reason: 'x' }] } }
const fromFile = (name: string) => JSON.parse(recorded(name)) as JsonObject
const whole = (dialect: DialectId, path: string, body: JsonObject, answers: JsonObject[], error: JsonObject): Asked => {
  const params: Record<string, string> = path.includes('{model}') ? { model: 'gemini' } : {}
  return { dialect, path, params, query: '', ask: () => body, whole: answers, streams: [], type: '', error }
}
const gemini = '/v1beta/models/{model}'

export const operations: readonly Asked[] = [
  asked('openai-chat', 'openai-chat', { whole: [chat], streams: [chatStream], error: openaiError }),
  asked('openai-completions', 'openai-completions', { whole: [completion], streams: [[]], error: openaiError }),
  asked('openai-responses', 'openai-responses', {
    whole: [fromFile('openai-responses/answer.json')],
    streams: [framesIn('openai-responses/stream.sse')],
    error: openaiError
  }),
  {
    ...asked('azure-openai', 'azure-openai', { whole: [chat], streams: [chatStream], error: openaiError }),
    path: '/openai/deployments/{deployment}/chat/completions',
    params: { deployment: 'm' }
  },
  asked('anthropic', 'anthropic', {
    whole: [fromFile('anthropic/answer.json')],
    streams: [framesIn('anthropic/stream.sse')],
    error: { type: 'error', error: { type: 'invalid_request_error', message: 'Bad.' }, request_id: 'req_1' }
  }),
  {
    ...asked('gemini', 'gemini, events', {
      whole: [],
      streams: [framesIn('gemini/stream.sse')],
      error: google
    }),
    path: `${gemini}:streamGenerateContent`,
    params: { model: 'gemini' }
  },
  {
    ...asked('gemini', 'gemini, array', { whole: [], streams: [[]], error: google }),
    path: `${gemini}:streamGenerateContent`,
    params: { model: 'gemini' }
  },
  whole(
    'gemini',
    `${gemini}:generateContent`,
    { contents: [{ parts: [{ text: 'Hello' }] }] },
    [fromFile('gemini/answer.json'), { promptFeedback: { blockReason: 'SAFETY' } }],
    google
  ),
  whole(
    'gemini',
    `${gemini}:countTokens`,
    { contents: [{ parts: [{ text: 'Hello' }] }] },
    [{ totalTokens: 3 }],
    google
  ),
  whole(
    'gemini',
    `${gemini}:embedContent`,
    { content: { parts: [{ text: 'Hello' }] } },
    [{ embedding: { values: [0.1] } }],
    google
  ),
  asked('ollama', 'ollama, chat', {
    whole: [fromFile('ollama/answer.json')],
    streams: [framesIn('ollama/stream.ndjson')],
    error: { error: 'bad' }
  }),
  asked('ollama', 'ollama, generate', { whole: [], streams: [[]], error: { error: 'bad' } }),
  whole('ollama', '/api/embed', { model: 'e', input: 'Hello' }, [{ model: 'e', embeddings: [[0.1]] }], {
    error: 'bad'
  }),
  asked('cohere', 'cohere', {
    whole: [fromFile('cohere/answer.json')],
    streams: [framesIn('cohere/stream.sse')],
    error: { id: 'e1', message: 'bad' }
  }),
  whole(
    'bedrock',
    '/model/{model}/converse',
    { messages: [{ role: 'user', content: [{ text: 'Hello' }] }] },
    [converse],
    { message: 'Bad.' }
  ),
  {
    ...asked('bedrock', 'bedrock', {
      whole: [],
      streams: [converseFrames(['Hi there, ', 'you.'])],
      error: { message: 'Bad.' }
    }),
    path: '/model/{model}/converse-stream',
    params: { model: 'gemini' },
    whole: [],
    reframe: withPayload
  },
  {
    ...asked('bedrock', 'bedrock, invoke', {
      whole: [fromFile('anthropic/answer.json')],
      streams: [],
      error: { message: 'Bad.' }
    }),
    path: '/model/{model}/invoke',
    params: { model: 'gemini' }
  },
  asked('openai-transcriptions', 'openai-transcriptions', {
    whole: [
      {
        task: 'transcribe',
        language: 'english',
        duration: 5,
        text: 'Hi there.',
        segments: [{ id: 0, seek: 0, start: 0, end: 5, text: 'Hi there.', tokens: [50364], avg_logprob: -0.1 }],
        words: [{ word: 'Hi', start: 0, end: 1 }],
        logprobs: logprobs.content
      },
      {
        text: 'Hi there.',
        segments: [{ id: 's', speaker: 'A', start: 0, end: 5, text: 'Hi there.', type: 'transcript.text.segment' }]
      }
    ],
    streams: [
      [
        { type: 'transcript.text.delta', delta: 'Hi there, ', logprobs: logprobs.content },
        { type: 'transcript.text.segment', id: 's', speaker: 'A', start: 0, end: 5, text: 'Hi there, ' },
        { type: 'transcript.text.delta', delta: 'you.', segment_id: 's' },
        { type: 'transcript.text.done', text: 'Hi there, you.', usage: { type: 'tokens', total_tokens: 5 } }
      ].map(data)
    ],
    error: openaiError
  }),
  asked('openai-images', 'openai-images', { whole: [], streams: [], error: openaiError }),
  whole('openai-embeddings', '/v1/embeddings', { model: 'e', input: 'Hello' }, [vectors], openaiError),
  whole(
    'anthropic',
    '/v1/messages/count_tokens',
    { model: 'c', messages: [{ role: 'user', content: 'Hello' }] },
    [{ input_tokens: 3 }],
    { type: 'error', error: { type: 'invalid_request_error', message: 'Bad.' } }
  )
]

const item = { id: 'item_1', object: 'realtime.item', type: 'message', status: 'completed', role: 'assistant' }
const place = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 }
const realtimeResponse = { object: 'realtime.response', id: 'resp_1', status: 'in_progress', status_details: null }
const spoken = { type: 'output_text', text: 'Hi there.' }

/** The events of one response of a session. */
export const realtimeAnswer: readonly JsonObject[] = [
  { type: 'response.created', response: { ...realtimeResponse, output: [], metadata: null } },
  { type: 'response.output_item.added', response_id: 'resp_1', output_index: 0, item: { ...item, content: [] } },
  { type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '' } },
  { type: 'response.output_text.delta', ...place, delta: 'Hi there, you and all who read this.' },
  { type: 'response.output_audio.delta', ...place, delta: 'A'.repeat(120) },
  { type: 'response.output_audio_transcript.delta', ...place, content_index: 1, delta: 'Spoken.' },
  { type: 'response.output_text.done', ...place, text: 'Hi there, you and all who read this.' },
  { type: 'response.content_part.done', ...place, part: spoken },
  { type: 'response.output_item.done', response_id: 'resp_1', output_index: 0, item: { ...item, content: [spoken] } },
  {
    type: 'response.done',
    response: { ...realtimeResponse, status: 'completed', output: [{ ...item, content: [spoken] }], usage }
  }
]

/** Events that belong to none. */
export const realtimeEvents: readonly JsonObject[] = [
  { type: 'session.created', session: { id: 's', instructions: 'Be brief.', tools: [], audio: { input: null } } },
  { type: 'conversation.item.added', previous_item_id: null, item: { ...item, content: [spoken] } },
  { type: 'input_audio_buffer.committed', previous_item_id: 'a', item_id: 'b' },
  { type: 'input_audio_buffer.speech_started', audio_start_ms: 5, item_id: 'b' },
  { type: 'rate_limits.updated', rate_limits: [{ name: 'requests', limit: 1, remaining: 1, reset_seconds: 1 }] },
  { type: 'error', error: { type: 'invalid_request_error', code: 'x', message: 'Bad.', param: null, event_id: null } }
]
