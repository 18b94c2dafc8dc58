/** Options of an evaluator, the cost of a call, and its errors. */
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
  /** Deadline for texts judged in another thread, ms. Default 2000. */
  deadlineMs?: number
  /**
   * UTF-16 units up to which a call is judged on the event loop: of all parts, of joined texts, of the prompts of an
   * answer, and half as many of other readings. Default 32,768.
   */
  inlineLimit?: number
  /**
   * Limits of a call; read at each use. Only amounts that become known while judging are checked here; the surfaces
   * check the others.
   */
  budget?: Readonly<Pick<Budget, Beyond['field']>>
  /** Whether repeated texts of a chat are recognised by their digests: see `match/memory.ts`. Default: yes. */
  remembers?: boolean
  /** Called after each judging with the numbers of scanned and remembered texts. */
  judged?: (texts: TextCounts) => void
  /** Whether all texts are judged in threads now, whatever their length. Default: never. */
  judgesApart?: () => boolean
  /** Default: in memory. */
  sessions?: SessionStore
  /** Reads texts that nominating rules have raised. Default: none, and such rules count like others. */
  encoder?: (Pick<Encoder, 'read'> & Partial<Pick<Encoder, 'names' | 'findsNames' | 'keepsNothing'>>) | undefined
  /** Whether a wanted encoder is missing: verdicts then say so beside the version of their policy. */
  lacksEncoder?: boolean
  /** The judges to which constitutions escalate doubts. Default: none, and no constitution may escalate. */
  judges?: Judges
  /** Default `ev_`. */
  idPrefix?: string
}

export const noJudges: Judges = {
  coverage: {},
  sees: new Set(),
  consult: async () => ({ failure: 'unknown_judge' })
}

/** No complete verdict was reached in time. Callers must treat the text as not permitted. */
export class EvaluatorError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EvaluatorError'
  }
}

/** An internal error of the engine is reported like any other missing verdict. */
export function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new EvaluatorError('The evaluation failed.', error)
  }
}

/** The fixed cost of a part, in characters: many tiny parts cost as much as a long text. */
const partCost = 32

/**
 * UTF-16 units that are read for a verdict, with the fixed cost of each text; other readings are not known in advance.
 */
export function costOf(input: EvaluationInput): number {
  return judgedUnits(input.parts, input.joined) + input.parts.length * partCost + heldUnits(input)
}

/** Units of the prompts that are read with an answer without being part of it. */
function heldUnits({ direction, prompts = [] }: EvaluationInput): number {
  return direction === 'answer' ? prompts.reduce((sum, { length }) => sum + length, 0) : 0
}

/** Suffix on the version of a policy while its encoder is missing. No version contains a `+`. */
const lacking = '+screen'

/** The policy label of a verdict. */
export function labelOf(label: string, readers: Constitution['readers'], lacksEncoder: boolean): string {
  return lacksEncoder && readers !== 'fast' ? label + lacking : label
}

/** @returns the error for a caller that has used up its share of windows */
export function unpaidOf(error: unknown): Error | undefined {
  if (!(error instanceof EncoderError) || error.failure !== 'unpaid') return undefined
  return error.cause instanceof Error ? error.cause : error
}

/** The caller is responsible for a request that exceeds its budget, but not for an answer. */
export function beyondBudget(
  { direction }: Pick<EvaluationInput, 'direction'>,
  { field, actual }: Beyond,
  budget: Readonly<Pick<Budget, Beyond['field']>>
): Error {
  const limit = budget[field]
  return direction === 'request'
    ? tooComplex(field, actual ?? limit + 1, limit, budgetSettings[field])
    : new EvaluatorError(`The text was not judged in full: it has more ${field} than ${budgetSettings[field]} allows.`)
}
