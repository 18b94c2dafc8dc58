/** Token probabilities in an answer that was rewritten. */
import type { JsonObject } from '../../base/chat.js'
import { isObject } from '../rewrite.js'

/** Drops what repeats the former text of a rewritten answer, or of an event of a stream. */
export function forgetTokens({ choices }: JsonObject): void {
  if (!Array.isArray(choices)) return
  for (const choice of choices) {
    if (isObject(choice) && choice.logprobs !== undefined) choice.logprobs = null
  }
}
