/** Sound that is heard piece by piece: of streamed answers, and of both sides of Realtime sessions. */
import { type Answer, type Json, mixed, type Shape, type Traffic } from './shape.js'

const rate = 24_000
/** Base64 for each byte that is asked for: a second of sound has 64 KB of it. */
const share = 4

/** How it sounds, by ms: how loud at a time. */
const sounds: Readonly<Record<string, (ms: number) => boolean>> = {
  'words and pauses': (ms) => ms % 2000 < 1600,
  'no pause': () => true,
  'syllable by syllable': (ms) => ms % 500 < 260,
  silence: () => false
}

/** Samples of so many ms, unlike those of another seed. */
function samples(ms: number, seed: number, isLoud: (ms: number) => boolean): Buffer {
  const perMs = rate / 1000
  const bytes = Buffer.alloc(Math.floor(ms) * perMs * 2)
  for (let at = 0; at < Math.floor(ms); at++) {
    if (!isLoud(at)) continue
    for (let i = 0; i < perMs; i++) {
      const level = 4000 + (mixed(at * perMs + i, seed) % 8000)
      bytes.writeInt16LE(i % 2 === 0 ? level : -level, (at * perMs + i) * 2)
    }
  }
  return bytes
}

/** In pieces of so many bytes, in base64. */
function cut(bytes: Buffer, step: number): string[] {
  const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) =>
    bytes.subarray(i * step, (i + 1) * step).toString('base64')
  )
  return pieces.length === 0 ? [''] : pieces
}

interface Sent {
  what: string
  step: number
  /** Less of it, where each piece costs an event. */
  part: number
}

const cuts: readonly Sent[] = [
  { what: '100 ms at once', step: 4800, part: 1 },
  { what: 'in small pieces', step: 96, part: 0.1 },
  { what: 'in large pieces', step: 240_000, part: 1 }
]

const shapes = (name: string, of: (pieces: string[]) => Traffic): Shape[] =>
  Object.entries(sounds).flatMap(([sound, isLoud]) =>
    cuts.map(
      ({ what, step, part }): Shape => ({
        name: `${name}: ${sound}, ${what}`,
        of: (bytes, seed) => of(cut(samples((bytes * share * part * 0.75 * 1000) / rate / 2, seed, isLoud), step))
      })
    )
  )

const events = (list: readonly Json[], end = ''): Answer => ({
  type: 'text/event-stream',
  writes: [...list.map((each) => `data: ${JSON.stringify(each)}\n\n`), end]
})

const chunk = (delta: Json, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_800_000_000,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }]
})

const event = (value: Json) => JSON.stringify(value)
const format = { type: 'audio/pcm', rate }
const greeting = event({
  type: 'session.created',
  session: { type: 'realtime', audio: { input: { format }, output: { format } } }
})
const ask = event({ type: 'response.create' })
const response = (status: string) => ({ id: 'resp_1', object: 'realtime.response', status, output: [] })
const begun = event({ type: 'response.created', response: response('in_progress') })
const finished = event({ type: 'response.done', response: response('completed') })
const realtime = '/v1/realtime?model=gpt-realtime'

export const sound: readonly Shape[] = [
  ...shapes('chat, stream, sound', (pieces) => ({
    path: '/v1/chat/completions',
    body: {
      model: 'm',
      stream: true,
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'pcm16' },
      messages: [{ role: 'user', content: 'hello' }]
    },
    answer: events([...pieces.map((data) => chunk({ audio: { data } })), chunk({}, 'stop')], 'data: [DONE]\n\n')
  })),
  ...shapes('gemini, stream, sound', (pieces) => ({
    path: '/v1beta/models/gemini:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
    answer: events([
      ...pieces.map((data) => ({
        candidates: [
          {
            content: { role: 'model', parts: [{ inlineData: { mimeType: `audio/L16;rate=${rate}`, data } }] },
            index: 0
          }
        ]
      })),
      { candidates: [{ content: { role: 'model' }, finishReason: 'STOP', index: 0 }] }
    ])
  })),
  ...shapes('realtime, client, sound', (pieces) => ({
    path: realtime,
    session: {
      greeting,
      client: [...pieces.map((audio) => event({ type: 'input_audio_buffer.append', audio })), ask],
      server: [begun, finished]
    }
  })),
  ...shapes('realtime, server, sound', (pieces) => {
    const place = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 }
    const deltas = pieces.map((delta) => event({ type: 'response.output_audio.delta', ...place, delta }))
    const done = event({ type: 'response.output_audio.done', ...place })
    return { path: realtime, session: { greeting, client: [ask], server: [begun, ...deltas, done, finished] } }
  })
]
