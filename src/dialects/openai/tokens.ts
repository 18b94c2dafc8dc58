/** Token probabilities: a list of objects (chat, Responses), or lists by name (completions). */
import type { Json, JsonObject } from '../../chat.js'
import { isObject } from '../rewrite.js'
import { names } from './names.js'

/**
 * Token probabilities repeat the answer token by token. They are judged as the texts that they spell: the chosen tokens
 * as one, the alternatives as another; a leaf per token would be judged without what stands beside it. Completions has
 * the alternatives as keys.
 */
export function tokenTexts(logprobs: Json | undefined): string[] {
  let chosen = ''
  let others = ''
  const visit = (value: Json | undefined, alternative: boolean, depth: number): void => {
    if (typeof value === 'string') {
      if (alternative) others += value
      else chosen += value
    } else if (depth < maxDepth && typeof value === 'object' && value !== null) {
      for (const [name, child] of Object.entries(value)) {
        if (!Array.isArray(value) && !names.has(name)) others += name
        visit(child, alternative || name === 'top_logprobs', depth + 1)
      }
    }
  }
  visit(logprobs, false, 0)
  return [chosen, others].filter((text) => text !== '')
}

/** What lies deeper than the strict reader allows cannot come. */
const maxDepth = 64

/** Drops what repeats the former text of a rewritten answer, or of an event of a stream. */
export function forgetTokens({ choices }: JsonObject): void {
  if (!Array.isArray(choices)) return
  for (const choice of choices) {
    if (isObject(choice) && choice.logprobs !== undefined) choice.logprobs = null
  }
}
