/**
 * The interface of judges, which the evaluator asks where it is in doubt. Judges do I/O and live in a room of their
 * own; the policy gets them injected.
 */
import type { Picture, Role } from '../../base/chat.js'
import type { Cancellation, Category, Scores } from '../evaluation.js'

/** The categories that each judge covers, by its name. Plain data, known without asking a judge. */
export type Coverage = Readonly<Record<string, readonly Category[]>>

export interface Judges {
  readonly coverage: Coverage
  /** Names of judges that can see pictures. */
  readonly sees: ReadonlySet<string>
  /**
   * Rejects only where the caller has left: an unreachable judge or an unreadable answer is an outcome.
   * @throws the reason of `question.cancel`
   */
  consult(judge: string, question: Question): Promise<Opinion | Failure>
}

export interface Question {
  /** The texts in doubt, whole and in order, each with its role. */
  texts: readonly { role: Role; text: string }[]
  /** The unseen picture in doubt, for a judge that sees pictures; the texts are those of its message. */
  picture?: Picture | undefined
  direction: 'request' | 'answer'
  /** The categories in doubt, in the order of `categories`. */
  categories: readonly Category[]
  /** `name@version` of the constitution that asks. */
  policy: string
  /** The constitution's words about a category, for judges that read policies. */
  wordsOf(category: Category): PolicyWords
  cancel?: Cancellation | undefined
}

/**
 * A judge's opinion after its thresholds. It is unsure about a category in neither list, or was not asked about it.
 * `safe` is empty where it found anything: a text that is unsafe in one category is cleared in none.
 */
export interface Opinion {
  /** 0..1 */
  unsafe: Partial<Scores>
  safe: Partial<Scores>
}

/** No opinion could be obtained. */
export interface Failure {
  failure: string
}

/** A constitution's words about a category. */
export interface PolicyWords {
  category: Category
  /** The meaning of the category; empty where the constitution gives none. */
  description: string
  /** The descriptions of its rules in one direction. */
  criteria: readonly string[]
  /** The descriptions of rules whose matches a context settles at any score. */
  ambiguous: readonly string[]
  /** By key of the context, the values that make an ambiguous text ordinary. */
  settling: Readonly<Record<string, readonly string[]>>
}
