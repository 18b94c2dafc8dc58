/**
 * Whom the evaluator may ask where it is in doubt itself. The judges do I/O and live in a room of their own; the policy
 * knows only this, and is given them from outside.
 */
import type { Picture, Role } from '../../base/chat.js'
import type { Cancellation, Category, Scores } from '../evaluation.js'

/** By a judge's name: the categories that it speaks of. Plain data, known without asking it. */
export type Coverage = Readonly<Record<string, readonly Category[]>>

export interface Judges {
  readonly coverage: Coverage
  /** Names of those that are shown pictures. */
  readonly sees: ReadonlySet<string>
  /**
   * Never rejected but where the caller has left: a judge that cannot be had, or cannot be understood, is an outcome.
   * @throws the reason of `question.cancel`
   */
  consult(judge: string, question: Question): Promise<Opinion | Failure>
}

export interface Question {
  /** What is in doubt, in order: whole texts, each with its role. */
  texts: readonly { role: Role; text: string }[]
  /** What is in doubt for what nobody has seen yet: of a judge that sees; the texts are those of its message. */
  picture?: Picture | undefined
  direction: 'request' | 'answer'
  /** The categories in doubt, in the order of `categories`. */
  categories: readonly Category[]
  /** `name@version` of the constitution that asks. */
  policy: string
  /** What that constitution says of a category, for judges that read policies. */
  wordsOf(category: Category): PolicyWords
  cancel?: Cancellation | undefined
}

/**
 * What a judge found, held against its thresholds. A category that is in neither list is one of which it is not sure, or
 * of which it was not asked. `safe` is empty where it found anything at all, whatever it was: a text that is unsafe in
 * one way is cleared in none.
 */
export interface Opinion {
  /** 0..1 */
  unsafe: Partial<Scores>
  safe: Partial<Scores>
}

/** No opinion could be had. */
export interface Failure {
  failure: string
}

/** What a constitution says of a category. */
export interface PolicyWords {
  category: Category
  /** What is meant by the category; empty where the constitution does not say. */
  description: string
  /** The descriptions of its rules in one direction. */
  criteria: readonly string[]
  /** Those of rules whose matches a context settles altogether. */
  ambiguous: readonly string[]
  /** By key of the context, the values that make an ambiguous text ordinary. */
  settling: Readonly<Record<string, readonly string[]>>
}
