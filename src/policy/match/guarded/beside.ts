/** Prepares the system prompts of a chat for the encoder, which reads the chat's texts together with them. */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Plain data, so that it can go to another thread. */
export interface Beside {
  /** Digest of the prompts. */
  key: string
  text: string
}

/** UTF-16 units that are read from either end: secrets are mostly at the start or the end of a prompt. */
const opening = 6_000
const ending = 2_000
/** Cached, since a chat repeats its prompts with each turn. */
const known = new LRUCache<string, Beside>({ max: 500 })

/** @returns undefined where there are none */
export function besideOf(prompts: readonly string[]): Beside | undefined {
  const text = prompts.length === 1 ? prompts[0]! : prompts.join('\n')
  if (!/\p{L}/u.test(text)) return undefined
  const whole =
    text.length <= opening + ending ? text : `${text.slice(0, opening)}\n${text.slice(text.length - ending)}`
  let beside = known.get(whole)
  if (beside === undefined) {
    beside = { key: hash('sha256', whole, 'base64'), text: whole }
    known.set(whole, beside)
  }
  return beside
}
