/** The texts of token probabilities, in whatever shape an API gives them. */
import type { Json, Role } from '../base/chat.js'
import { isObject, pointerSegment } from './rewrite.js'
import type { Collector } from './walk.js'

/** Fields with alternative tokens. */
const alternatives = new Set(['top_logprobs', 'topCandidates', 'top_candidates'])
/** A token of several words is also judged alone. */
const severalWords = /\S\s+\S/

/**
 * Token probabilities repeat the answer token by token. They are judged joined: the chosen tokens as one text, the
 * alternatives as another; single tokens would lack their context. In completions the alternatives are keys. All other
 * leaves are judged singly.
 * @param out receives all other leaves
 * @returns the joined texts
 */
export function tokenTexts(value: Json | undefined, out: Collector, role: Role, pointer: string): string[] {
  const spelled = ['', '']
  const take = (token: string, isOther: boolean) => {
    spelled[isOther ? 1 : 0] += token
    if (severalWords.test(token)) out.text(role, token, pointer)
  }
  // Depth is bounded by the strict reader.
  const visit = (name: string, child: Json, at: string, isOther: boolean): void => {
    if (typeof child === 'string') {
      if (name === 'token' || name === 'tokens') take(child, isOther)
      else out.walk(role, child, at)
    } else if (Array.isArray(child)) {
      for (const [i, each] of child.entries()) visit(name, each, `${at}/${i}`, isOther)
    } else if (isObject(child)) {
      for (const key of Object.keys(child)) {
        const inner = child[key]!
        const place = `${at}/${pointerSegment(key)}`
        if (out.isName(key)) visit(key, inner, place, isOther || alternatives.has(key))
        else if (isOther && typeof inner === 'number') take(key, true)
        else out.field(role, key, inner, place)
      }
    }
  }
  if (value !== undefined) visit('', value, pointer, false)
  return spelled.filter((text) => text !== '')
}
