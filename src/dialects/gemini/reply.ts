/** Reads answers that are not streamed: all candidates, thoughts, calls of functions, and every other leaf. */
import type { ChatReply, Json, JsonObject } from '../../base/chat.js'
import { isObject } from '../rewrite.js'
import { any, type Fields, number, readFields, walked, word } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import { Collector } from '../walk.js'
import { readContent } from './content.js'
import { names } from './names.js'

const bodyFields: Fields<Collector> = {
  candidates: (value, out) => {
    if (!Array.isArray(value) || !value.every(isObject)) return false
    for (const [i, candidate] of value.entries()) {
      readFields(candidateFields, candidate, `/candidates/${i}`, out, walked(out, 'assistant'))
    }
    return true
  }
}
const candidateFields: Fields<Collector> = {
  content: (value, out, { at }) => {
    if (!isContent(value)) return false
    out.join(readContent(out, value, 'assistant', at, 'content').indexes)
    return true
  },
  finishReason: word,
  index: number,
  logprobsResult: any((value, out, { at }) => {
    for (const text of tokenTexts(value, out, 'assistant', at)) out.text('assistant', text, at)
  })
}

function isContent(value: Json): value is JsonObject {
  if (!isObject(value)) return false
  const { role, parts } = value
  const isRole = role === undefined || role === null || typeof role === 'string'
  return isRole && (parts === undefined || parts === null || (Array.isArray(parts) && parts.every(isObject)))
}

export function readReply(body: JsonObject): ChatReply | undefined {
  const { candidates, promptFeedback } = body
  if (!Array.isArray(candidates) && !isObject(promptFeedback)) return undefined
  const out = new Collector(names)
  readFields(bodyFields, body, '', out, walked(out, 'parameter'))
  return out
}

/** Drops fields that repeat the original text of a rewritten answer. */
export function forgetTokens({ candidates }: JsonObject): void {
  if (!Array.isArray(candidates)) return
  for (const candidate of candidates) if (isObject(candidate)) delete candidate.logprobsResult
}
