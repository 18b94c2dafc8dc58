/** Token probabilities in an answer that was rewritten. */
import type { JsonObject } from '../../base/chat.js'
import { isObject } from '../rewrite.js'

/** Drops token probabilities, which repeat the original text of a rewritten answer or stream event. */
export function forgetTokens({ choices }: JsonObject): void {
  if (!Array.isArray(choices)) return
  for (const choice of choices) {
    if (isObject(choice) && choice.logprobs !== undefined) choice.logprobs = null
  }
}
