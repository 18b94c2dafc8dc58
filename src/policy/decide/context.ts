/** The effect of a caller's context on a rule: it settles the match, sharpens it, or leaves it open. */
import type { Json, JsonObject } from '../../base/chat.js'
import { foldText } from '../../text/fold.js'
import type { Rule } from '../constitution/rules.js'

/** `permit`: the match counts nothing. `forbid`: it counts at least `high`. `open`: no key that could settle it was given. */
export type ContextEffect = 'none' | 'permit' | 'forbid' | 'open'

/** A key with more values than these is ignored: a conversation is about a few things, not about all of them. */
export const maxContextValues = 4
/** UTF-16 units of one folded value: a longer one is a list or a text, and is ignored. */
export const maxContextValue = 100

type Matcher = (folded: string) => boolean

export interface CompiledContext {
  keys: readonly string[]
  permit: readonly { key: string; matchers: readonly Matcher[] }[]
  forbid: readonly { key: string; matchers: readonly Matcher[] }[]
  settles: 'all' | 'middle'
}

export function compileContext(context: Rule['context']): CompiledContext {
  const compileAll = (table: Readonly<Record<string, string[]>>) =>
    Object.entries(table).map(([key, globs]) => ({ key, matchers: globs.map(compileGlob) }))
  const { keys, permit, forbid, settles } = context
  return { keys, permit: compileAll(permit), forbid: compileAll(forbid), settles }
}

/**
 * The effect on one rule. `forbid` outranks `permit`: of two contradicting claims the strict one holds.
 * @param isHigh whether the rule's match alone reaches the high band
 */
export function contextEffect(rule: CompiledContext, given: GivenContext, isHigh: boolean): ContextEffect {
  if (given.size > 0) {
    if (rule.forbid.some(({ key, matchers }) => given.matches(key, matchers))) return 'forbid'
    const mayPermit = !isHigh || rule.settles === 'all'
    if (mayPermit && rule.permit.some(({ key, matchers }) => given.has(key) && given.matches(key, matchers)))
      return 'permit'
    if (rule.keys.some((key) => given.has(key))) return 'none'
  }
  return rule.keys.length > 0 ? 'open' : 'none'
}

/** A call's context, folded on first use: most calls match no rule and never look at it. */
export class GivenContext {
  readonly #values = new Map<string, string[]>()
  readonly #context: JsonObject | undefined

  constructor(context: JsonObject | undefined) {
    this.#context = context
  }

  get size(): number {
    return this.#context === undefined ? 0 : Object.keys(this.#context).length
  }

  /**
   * Whether the key has a usable value: empty values, null and objects are ignored, and so are long lists, with which
   * one call could settle every rule.
   */
  has(key: string): boolean {
    const values = this.#folded(key)
    return (
      values.length > 0 && values.length <= maxContextValues && values.every((text) => text.length <= maxContextValue)
    )
  }

  /** Searches all values, however many: more values can make a rule stricter, but never laxer. */
  matches(key: string, matchers: readonly Matcher[]): boolean {
    return this.#folded(key).some((value) => matchers.some((matcher) => matcher(value)))
  }

  #folded(key: string): string[] {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const value = this.#context !== undefined && Object.hasOwn(this.#context, key) ? this.#context[key] : undefined
    const folded = valuesOf(value)
      .map(foldValue)
      .filter((text) => text !== '')
    this.#values.set(key, folded)
    return folded
  }
}

function valuesOf(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function foldValue(text: string): string {
  return foldText(text).trim()
}

/**
 * `*` stands for any characters; everything else is compared folded. No regular expression, so that every glob is
 * matched in linear time.
 */
function compileGlob(glob: string): Matcher {
  const pieces = glob.split('*').map(foldValue)
  const first = pieces[0] ?? ''
  if (pieces.length === 1) return (value) => value === first
  const last = pieces[pieces.length - 1] ?? ''
  const middle = pieces.slice(1, -1)
  return (value) => {
    if (value.length < first.length + last.length || !value.startsWith(first) || !value.endsWith(last)) return false
    let at = first.length
    for (const piece of middle) {
      const found = value.indexOf(piece, at)
      if (found < 0) return false
      at = found + piece.length
    }
    return at <= value.length - last.length
  }
}
