/** Reads `prompt` and `input` of operations without messages: a text, several texts, or token numbers. */
import type { Json } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import type { Collector } from '../walk.js'

/**
 * Each text is one prompt of its own. Tokens cannot be judged: only the model knows their text.
 * @throws Fault `validation_error`
 */
export function readPrompts(out: Collector, value: Json, name: string): void {
  if (typeof value === 'string') {
    out.text('user', value, `/${name}`)
    return
  }
  if (!Array.isArray(value)) {
    throw invalid(name, 'wrong_type', `${name} must be a string, an array of strings, or arrays of tokens.`)
  }
  if (value.length === 0) throw invalid(name, 'empty', `The field ${name} must not be empty.`)
  // llama.cpp takes texts and tokens of one prompt in one list: the model reads texts between tokens as one with them.
  const isOne = value.some((each) => typeof each === 'number')
  const indexes = readList(out, value, `/${name}`, name, 1)
  if (isOne) out.join(indexes)
}

function readList(out: Collector, list: readonly Json[], pointer: string, field: string, depth: number): number[] {
  if (list.some((each) => typeof each === 'number')) out.media.push({ pointer, kind: 'tokens' })
  const indexes: number[] = []
  for (const [i, each] of list.entries()) {
    if (typeof each === 'string') indexes.push(out.text('user', each, `${pointer}/${i}`))
    else if (Array.isArray(each) && depth < 2) {
      out.join(readList(out, each, `${pointer}/${i}`, `${field}.${i}`, depth + 1))
    } else if (typeof each !== 'number') {
      throw invalid(`${field}.${i}`, 'wrong_type', `${field}.${i} must be a string or an array of tokens.`)
    }
  }
  return indexes
}
