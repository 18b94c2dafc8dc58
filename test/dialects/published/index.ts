/**
 * Requests as applications send them, made from the published shapes of each API: every combination of its axes, of which
 * a test takes as many as it wants. No two are alike; none is anyone's traffic.
 */
import type { JsonObject } from '../../../src/base/chat.js'
import type { DialectId } from '../../../src/base/settings.js'
import { bedrock } from './bedrock.js'
import type { Fields } from './combine.js'
import { edits, transcriptions, translations } from './forms.js'
import { chats, completions, embeddings, images, realtime, responses, speech } from './openai.js'
import { anthropic, cohere, gemini, generate, ollama } from './others.js'

export interface Published {
  /** The path as it is configured. */
  path: string
  params: Record<string, string>
  body: JsonObject
}

const requests = (path: string, bodies: Fields[], params: Record<string, string> = {}): Published[] =>
  bodies.map((body) => ({ path, params, body: structuredClone(body) as JsonObject }))

/** Bodies of Anthropic's, as Bedrock takes them: it has the model in the path. */
const invocations = (count: number): Fields[] =>
  anthropic(count).map(({ model: _, stream: __, ...body }) => ({ anthropic_version: 'bedrock-2023-05-31', ...body }))

/** At least a hundred of each API. */
export const published: Readonly<Record<DialectId, Published[]>> = {
  'openai-chat': requests('/v1/chat/completions', chats(120)),
  'openai-responses': requests('/v1/responses', responses(110)),
  'openai-realtime': requests('/v1/realtime', realtime(120)),
  'openai-completions': requests('/v1/completions', completions(108)),
  'openai-embeddings': requests('/v1/embeddings', embeddings(120)),
  'openai-images': [...requests('/v1/images/generations', images(108)), ...requests('/v1/images/edits', edits(40))],
  'openai-speech': requests('/v1/audio/speech', speech(108)),
  'openai-transcriptions': [
    ...requests('/v1/audio/transcriptions', transcriptions(80)),
    ...requests('/v1/audio/translations', translations(40))
  ],
  'azure-openai': [
    ...requests('/openai/deployments/{deployment}/chat/completions', chats(60), { deployment: 'gpt-4o' }),
    ...requests('/openai/v1/responses', responses(20)),
    ...requests('/openai/deployments/{deployment}/completions', completions(12), { deployment: 'd' }),
    ...requests('/openai/deployments/{deployment}/embeddings', embeddings(12), { deployment: 'd' })
  ],
  anthropic: [...requests('/v1/messages', anthropic(90)), ...requests('/v1/messages/count_tokens', anthropic(20))],
  gemini: [
    ...requests('/v1beta/models/{model}:generateContent', gemini(60), { model: 'gemini-3' }),
    ...requests('/v1beta/models/{model}:streamGenerateContent', gemini(30), { model: 'gemini-3' }),
    ...requests('/v1beta/models/{model}:countTokens', gemini(10), { model: 'gemini-3' }),
    ...requests(
      '/v1beta/models/{model}:embedContent',
      [{ content: { parts: [{ text: 'One' }] }, title: 'T', taskType: 'RETRIEVAL_DOCUMENT' }],
      { model: 'e' }
    ),
    ...requests(
      '/v1beta/models/{model}:batchEmbedContents',
      [{ requests: [{ model: 'models/e', content: { parts: [{ text: 'One' }] } }] }],
      { model: 'e' }
    )
  ],
  ollama: [
    ...requests('/api/chat', ollama(70)),
    ...requests('/api/generate', generate(24)),
    ...requests('/api/embed', [
      { model: 'e', input: 'One' },
      { model: 'e', input: ['One', 'Two'] },
      { model: 'e', input: 'One', options: { note: 'x' } }
    ]),
    ...requests('/api/embeddings', [
      { model: 'e', prompt: 'One' },
      { model: 'e', prompt: 'One', keep_alive: '1m' },
      { model: 'e', prompt: 'One', options: { note: 'x' } }
    ])
  ],
  cohere: requests('/v2/chat', cohere(110)),
  bedrock: [
    ...requests('/model/{model}/converse', bedrock(70), { model: 'anthropic.claude-v2%3A0' }),
    ...requests('/model/{model}/invoke', invocations(20), { model: 'anthropic.claude-v2%3A0' }),
    ...requests('/model/{model}/invoke-with-response-stream', invocations(20), { model: 'us.anthropic.claude-v2%3A0' }),
    ...requests('/model/{model}/converse-stream', bedrock(40), { model: 'amazon.nova-lite-v1%3A0' })
  ]
}
