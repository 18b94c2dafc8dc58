/** What an evaluator is made of, what a call of it costs, and how it fails. */
import { type Budget, budgetSettings } from '../../base/budget.js'
import type { Clock } from '../../base/clock.js'
import { tooComplex } from '../../base/errors.js'
import { type Encoder, EncoderError } from '../../encoder/index.js'
import type { Constitution } from '../constitution/parse.js'
import type { Judges } from '../escalate/judges.js'
import type { EvaluationInput } from '../evaluation.js'
import { judgedUnits } from '../match/budget.js'
import type { SessionStore } from './session.js'
import type { Beyond, TextCounts } from './verdict.js'

export interface EvaluatorOptions {
  clock: Clock
  /** For texts judged in another thread, ms. Default 2000. */
  deadlineMs?: number
  /**
   * UTF-16 units up to which a call is judged at once: of all parts, of what is read joined, of the prompts that an answer is
   * held by, and half as many of other readings of them. Default 32,768.
   */
  inlineLimit?: number
  /** What a call may hold; read at each use. What is known only in judging is looked at here: the rest is the surfaces' to count. */
  budget?: Readonly<Pick<Budget, Beyond['field']>>
  /** Whether texts of a chat that come again are known by their digests: see `match/memory.ts`. Default: they are. */
  remembers?: boolean
  /** Told after each judging how many texts were scanned, and how many remembered. */
  judged?: (texts: TextCounts) => void
  /** Whether texts of every length are to be judged in threads now. Default: never. */
  judgesApart?: () => boolean
  /** Default: in memory. */
  sessions?: SessionStore
  /** Reads what rules that nominate have raised. Default: none, and such rules count as any other. */
  encoder?: (Pick<Encoder, 'read'> & Partial<Pick<Encoder, 'names' | 'findsNames' | 'keepsNothing'>>) | undefined
  /** Whether there was to be an encoder and is none: verdicts then say so beside the version of their policy. */
  lacksEncoder?: boolean
  /** Asked where a constitution escalates what is in doubt. Default: none, and no constitution may escalate. */
  judges?: Judges
  /** Default `ev_`. */
  idPrefix?: string
}

/** No verdict could be reached in time and in full. Whoever asks must treat the text as not permitted. */
export class EvaluatorError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EvaluatorError'
  }
}

/** What a part costs besides its characters, in characters: many tiny parts are a long text too. */
const partCost = 32

/** UTF-16 units that are read for a verdict, with what each text costs besides; other readings are known when they are made. */
export function costOf(input: EvaluationInput): number {
  return judgedUnits(input.parts, input.joined) + input.parts.length * partCost + heldUnits(input)
}

/** What an answer is held by is read with it, and is no part of it. */
function heldUnits({ direction, prompts = [] }: EvaluationInput): number {
  return direction === 'answer' ? prompts.reduce((sum, { length }) => sum + length, 0) : 0
}

/** Stands behind the version of a policy whose nominations no encoder decides over, though one was to. No version holds a `+`. */
const lacking = '+screen'

/** What a verdict names as its policy. */
export function labelOf(label: string, readers: Constitution['readers'], lacksEncoder: boolean): string {
  return lacksEncoder && readers !== 'fast' ? label + lacking : label
}

/** @returns what whoever calls is told who has had its share of windows */
export function unpaidOf(error: unknown): Error | undefined {
  if (!(error instanceof EncoderError) || error.failure !== 'unpaid') return undefined
  return error.cause instanceof Error ? error.cause : error
}

/** What a request holds is its caller's doing; what an answer holds is not. */
export function beyondBudget(
  { direction }: Pick<EvaluationInput, 'direction'>,
  { field, actual }: Beyond,
  budget: Readonly<Pick<Budget, Beyond['field']>>
): Error {
  const limit = budget[field]
  return direction === 'request'
    ? tooComplex(field, actual ?? limit + 1, limit, budgetSettings[field])
    : new EvaluatorError(
        `The text was not judged in full: it holds more ${field} than ${budgetSettings[field]} allows.`
      )
}
