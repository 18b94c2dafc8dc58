/** A gateway for one place that carries media, with an upstream that answers it harmlessly. */
import type { DialectId, RouteSettings } from '../../src/base/settings.js'
import type { Files } from '../../src/files/file.js'
import { completion, fakeUpstream, json } from '../support/upstream.js'
import { harness, route, upstreamSettings } from './harness.js'

export const fileSettings = {
  processes: 1,
  queue: 32,
  deadlineMs: 60_000,
  memoryBytes: 1024 ** 3,
  fileBytes: 32 * 1024 ** 2,
  languages: ['eng']
}
export type Tap = Parameters<typeof fakeUpstream>[0]

export interface Place {
  dialect: DialectId
  path: string
}

/** By the path, else by the dialect; else a chat of OpenAI's. */
const answers: Partial<Record<string, object>> = {
  'openai-responses': {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [
      {
        type: 'message',
        id: 'm',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'ok', annotations: [] }]
      }
    ]
  },
  anthropic: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage: {}
  },
  gemini: { candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] },
  bedrock: {
    output: { message: { role: 'assistant', content: [{ text: 'ok' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    metrics: { latencyMs: 1 }
  },
  cohere: {
    id: 'c',
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: [{ type: 'text', text: 'ok' }] }
  },
  '/api/chat': {
    model: 'm',
    created_at: '2026-01-01T00:00:00Z',
    message: { role: 'assistant', content: 'ok' },
    done: true
  },
  '/api/generate': { model: 'm', created_at: '2026-01-01T00:00:00Z', response: 'ok', done: true }
}

export async function gatewayAt(t: Tap, files: Files, { dialect, path }: Place, own: Partial<RouteSettings>) {
  const upstream = await fakeUpstream(t, json(answers[path] ?? answers[dialect] ?? completion('ok')))
  const gateway = await harness(
    t,
    [route({ path, upstreamPath: path, dialect, ...own })],
    { default: upstreamSettings(upstream.url) },
    files
  )
  const target = path.replace('{model}', 'm').replace('{deployment}', 'd')
  return { upstream, gateway, post: (body: object) => gateway.post(body, {}, target) }
}
