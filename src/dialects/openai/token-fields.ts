/**
 * Fields in which servers that speak OpenAI's API take a prompt as numbers beside `prompt` and `messages`: vLLM's
 * `prompt_token_ids` and `prompt_embeds`, SGLang's `input_ids` and `input_embeds`. Only the model knows their text.
 */
import type { JsonObject } from '../../base/chat.js'
import type { Collector } from '../walk.js'

const fields = [
  'prompt_token_ids',
  'input_ids',
  'token_ids',
  'prompt_embeds',
  'input_embeds',
  'multi_modal_data'
] as const

export function readTokenFields(out: Collector, body: JsonObject): void {
  for (const name of fields) {
    const value = body[name]
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue
    out.media.push({ pointer: `/${name}`, kind: 'tokens' })
  }
}
