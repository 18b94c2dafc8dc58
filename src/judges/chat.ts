/** Client for guard models behind an OpenAI-compatible chat endpoint: writes the request and reads the answer. */
import type { Json, JsonObject } from '../base/chat.js'
import { type Asked, JudgeFailure, partOf } from './adapter.js'
import { arrayOf, type JudgeClient, objectOf } from './http.js'

export interface ChatAsk {
  model: string
  messages: JsonObject[]
  max_tokens: number
  /** For the model's own chat template in vLLM and SGLang; other servers ignore it. */
  chat_template_kwargs?: JsonObject
  /** For models that reason first; not every server accepts this field. */
  reasoning_effort?: string
  logprobs?: true
  top_logprobs?: number
}

export interface Completion {
  /** Empty where the model said nothing: it was cut while it thought, or refused in a field of its own. */
  text: string
  /** `stop` for an answer that came to its end. */
  finish: string
  /** The tokens of the answer with the alternatives to each, where the server gives them. */
  tokens: readonly { token: string; top: readonly { token: string; logprob: number }[] }[]
}

/**
 * The judged texts as a conversation for the templates of guard models: alternating roles, the user's first; the last
 * message is judged. A request is one turn of the user. An answer is the assistant's turn after an empty user turn,
 * since its request is not in doubt and not sent. A line separates texts of several roles. A picture follows the texts
 * of its message.
 */
export function conversation({
  texts,
  picture,
  direction
}: Pick<Asked, 'texts' | 'picture' | 'direction'>): JsonObject[] {
  const mixed = new Set(texts.map(({ role }) => role)).size > 1
  const text = texts.map(({ role, text }) => (mixed ? `[${role}]\n${text}` : text)).join('\n\n')
  const content = picture === undefined ? text : [...(text === '' ? [] : [{ type: 'text', text }]), partOf(picture)]
  const user = (content: Json) => ({ role: 'user', content })
  return direction === 'request' ? [user(content)] : [user(''), { role: 'assistant', content }]
}

/** @throws JudgeFailure, or the transport's own error */
export async function complete(client: JudgeClient, ask: ChatAsk, signal: AbortSignal): Promise<Completion> {
  const body: JsonObject = { ...ask, temperature: 0, stream: false }
  const reply = await client.post('/chat/completions', body, signal)
  const choice = objectOf(arrayOf(reply['choices'])?.[0])
  const text = objectOf(choice?.['message'])?.['content']
  // An answer without content is caused by the model or the text, and is no wrong shape: it must not open the breaker.
  if (choice === undefined || (typeof text !== 'string' && text !== null)) {
    throw new JudgeFailure('invalid_response', 'the judge answered with no chat completion')
  }
  const finish = typeof choice['finish_reason'] === 'string' ? choice['finish_reason'] : ''
  const tokens = arrayOf(objectOf(choice['logprobs'])?.['content']) ?? []
  return { text: text ?? '', finish, tokens: tokens.map(readToken) }
}

function readToken(value: Json): Completion['tokens'][number] {
  const { token, top_logprobs: given } = objectOf(value) ?? {}
  const top = (arrayOf(given) ?? []).flatMap((entry) => {
    const { token, logprob } = objectOf(entry) ?? {}
    return typeof token === 'string' && typeof logprob === 'number' ? [{ token, logprob }] : []
  })
  return { token: typeof token === 'string' ? token : '', top }
}

/**
 * The probability of "yes" against "no" at the token that says the one or the other, as the model cards of ShieldGemma and
 * Granite Guardian compute it; undefined where the server gave no probabilities.
 * @param after only tokens behind this text count
 */
export function probabilityOfYes({ tokens }: Completion, after = ''): number | undefined {
  let read = ''
  for (const { token, top } of tokens) {
    const isBehind = read.includes(after)
    read += token
    if (!isBehind || wordOf(token) === undefined) continue
    let yes = 0
    let no = 0
    for (const entry of top) {
      const word = wordOf(entry.token)
      if (word === 'yes') yes += Math.exp(entry.logprob)
      else if (word === 'no') no += Math.exp(entry.logprob)
    }
    const sum = yes + no
    return Number.isFinite(sum) && sum > 0 ? yes / sum : undefined
  }
  return undefined
}

/** Tokens carry the space before a word, as a space or as the sign that some tokenizers write for it. */
function wordOf(token: string): 'yes' | 'no' | undefined {
  const word = token.replace(/^[\s▁Ġ]+|\s+$/g, '').toLowerCase()
  return word === 'yes' || word === 'no' ? word : undefined
}
