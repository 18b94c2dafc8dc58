/**
 * Answers of people about single texts of a conversation, as contexts for the matches in them. A match that reaches
 * beyond such a text, its question and its answer is judged as if nobody had been asked.
 */
import type { JsonObject } from '../../base/chat.js'
import type { Settled } from '../evaluation.js'
import type { Match } from '../match/findings.js'
import { type ContextEffect, contextEffect, GivenContext } from './context.js'
import { askedKey } from './speech.js'

interface Answered {
  parts: ReadonlySet<number>
  /** These parts, and those of the question and the answer. */
  all: ReadonlySet<number>
  /** Undefined: the answer was unclear. */
  given: GivenContext | undefined
}

export class SettledContexts {
  readonly #answered: readonly Answered[]

  /**
   * @param context the caller's own, which holds beside what was answered
   * @param assumed the default where neither has a value
   */
  constructor(settled: readonly Settled[], context: JsonObject | undefined, assumed: JsonObject | undefined) {
    this.#answered = settled.map(({ parts, beside, topic }) => ({
      parts: new Set(parts),
      all: new Set([...parts, ...beside]),
      given: topic === undefined ? undefined : new GivenContext({ ...assumed, ...withTopic(context, topic) })
    }))
  }

  /** @returns the effect on a match's rule; undefined where nobody was asked about the match */
  effectOn({ rule, part, over }: Match, given: GivenContext, isHigh: boolean): ContextEffect | undefined {
    const answered = this.#answered.find(
      ({ parts, all }) => parts.has(part) && (over === undefined || over.every((each) => all.has(each)))
    )
    if (answered === undefined) return undefined
    const effect = contextEffect(rule.context, answered.given ?? given, isHigh)
    // The question was asked already: it is not asked again.
    return effect === 'open' ? 'none' : effect
  }
}

/** Both topics count: a rule that forbids one of them still forbids. */
function withTopic(context: JsonObject | undefined, topic: string): JsonObject {
  const own = context !== undefined && Object.hasOwn(context, askedKey) ? context[askedKey]! : []
  return { ...context, [askedKey]: [...(Array.isArray(own) ? own : [own]), topic] }
}
