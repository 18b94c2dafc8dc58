/** A chat sent as a program would send it: with a key, to the path of the API that the backend speaks. */
import type { Decision } from '../types'
import type { SdkId } from './snippets'

/** The APIs that a backend may speak. */
export const apis = {
  openai: 'OpenAI, or compatible',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
  ollama: 'Ollama',
  azure: 'Azure OpenAI'
} as const satisfies Partial<Record<SdkId, string>>
export type ApiId = keyof typeof apis

export interface Asked {
  base: string
  key: string
  model: string
  api: ApiId
}

export interface Told {
  status: number
  /** Undefined if there was no decision: the key was refused, or the backend did not answer. */
  decision: Decision | undefined
  evaluation: string | undefined
  /** The answer, or the sentence of the refusal. */
  text: string
  ms: number
}

const messagesOf = (content: string) => [{ role: 'user', content }]
const requests: Record<ApiId, (model: string, prompt: string) => { path: string; body: object }> = {
  openai: (model, prompt) => ({ path: '/v1/chat/completions', body: { model, messages: messagesOf(prompt) } }),
  anthropic: (model, prompt) => ({
    path: '/v1/messages',
    body: { model, max_tokens: 200, messages: messagesOf(prompt) }
  }),
  gemini: (model, prompt) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    body: { contents: [{ role: 'user', parts: [{ text: prompt }] }] }
  }),
  ollama: (model, prompt) => ({ path: '/api/chat', body: { model, messages: messagesOf(prompt), stream: false } }),
  azure: (model, prompt) => ({
    path: `/openai/deployments/${encodeURIComponent(model)}/chat/completions?api-version=2024-10-21`,
    body: { messages: messagesOf(prompt) }
  })
}

export async function ask({ base, key, model, api }: Asked, prompt: string): Promise<Told> {
  const { path, body } = requests[api](model, prompt)
  const started = performance.now()
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const text = textOf(await response.text())
  return {
    status: response.status,
    decision: (response.headers.get('x-safety-decision') as Decision | null) ?? undefined,
    evaluation: response.headers.get('x-safety-evaluation-id') ?? undefined,
    text,
    ms: performance.now() - started
  }
}

const lists: Record<ApiId, string> = {
  openai: '/v1/models',
  anthropic: '/v1/models',
  gemini: '/v1beta/models',
  ollama: '/api/tags',
  azure: '/openai/v1/models'
}

/** The ids of the models that the gateway lists for a key; none where it lists none. */
export async function listModels({ base, key, api }: Asked): Promise<string[]> {
  const response = await fetch(base + lists[api], {
    headers: {
      authorization: `Bearer ${key}`,
      ...(api === 'anthropic' && { 'anthropic-version': '2023-06-01' })
    }
  })
  if (!response.ok) return []
  const { data, models } = await response.json()
  return ((data ?? models ?? []) as { id?: string; name?: string }[])
    .map(({ id, name }) => (id ?? name ?? '').replace(/^models\//, ''))
    .sort()
}

/** The text for a person in an answer or an error of any of the APIs. */
function textOf(body: string): string {
  try {
    const answer = JSON.parse(body)
    const said =
      answer.choices?.[0]?.message?.content ??
      answer.choices?.[0]?.message?.refusal ??
      answer.content?.[0]?.text ??
      answer.candidates?.[0]?.content?.parts?.[0]?.text ??
      answer.message?.content ??
      answer.error?.message ??
      answer.error ??
      answer.message
    return typeof said === 'string' ? said : ''
  } catch {
    return ''
  }
}
