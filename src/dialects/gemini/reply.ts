/** Reads answers that are not streamed: all candidates, thoughts, calls of functions, and every other leaf. */
import type { ChatReply, Json, JsonObject } from '../../chat.js'
import { isObject } from '../rewrite.js'
import { Collector } from '../walk.js'
import { readContent } from './content.js'
import { names } from './names.js'

const bodyFields = new Set(['candidates'])
export const candidateFields = new Set(['content', 'index', 'logprobsResult', 'finishReason'])

export function readReply(body: JsonObject): ChatReply | undefined {
  const { candidates, promptFeedback } = body
  if (!Array.isArray(candidates) && !isObject(promptFeedback)) return undefined
  const out = new Collector(names)
  for (const [i, candidate] of (Array.isArray(candidates) ? candidates : []).entries()) {
    if (!isObject(candidate)) return undefined
    const pointer = `/candidates/${i}`
    if (isObject(candidate.content)) {
      out.join(readContent(out, candidate.content, 'assistant', `${pointer}/content`, 'content').indexes)
    } else {
      out.walk('assistant', candidate.content, `${pointer}/content`)
    }
    readBeside(out, candidate, pointer)
    for (const text of tokenTexts(candidate.logprobsResult)) out.text('assistant', text, `${pointer}/logprobsResult`)
  }
  out.rest('parameter', body, '', bodyFields)
  return out
}

/** A candidate beside its content and its token probabilities. */
export function readBeside(out: Collector, candidate: JsonObject, pointer: string): void {
  if (typeof candidate.finishReason === 'string') {
    out.word('assistant', candidate.finishReason, `${pointer}/finishReason`)
  } else {
    out.walk('assistant', candidate.finishReason, `${pointer}/finishReason`)
  }
  out.rest('assistant', candidate, pointer, candidateFields)
}

/**
 * Token probabilities repeat the answer token by token: judged as the texts that they spell, the chosen tokens as one, the
 * alternatives as another.
 */
export function tokenTexts(result: Json | undefined): string[] {
  if (!isObject(result)) return []
  return Object.keys(result)
    .map((name) => tokensOf(result[name]))
    .filter((text) => text !== '')
}

/** Depth is bounded by the strict reader. */
function tokensOf(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([name, child]) => (names.has(name) || Array.isArray(value) ? '' : name) + tokensOf(child))
    .join('')
}

/** Drops what repeats the former text of a rewritten answer. */
export function forgetTokens({ candidates }: JsonObject): void {
  if (!Array.isArray(candidates)) return
  for (const candidate of candidates) if (isObject(candidate)) delete candidate.logprobsResult
}
