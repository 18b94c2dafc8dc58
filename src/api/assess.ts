/** Judges and counts texts, for all endpoints that judge without forwarding. */
import type { ServerResponse } from 'node:http'
import type { Budget } from '../base/budget.js'
import type { ChatContent, JsonObject } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import { readText } from '../edge/evaluate-input.js'
import { isClosed, isComplete } from '../edge/http2.js'
import { type Asked, Judging, type JudgingDeps } from '../observe/judging.js'
import type { Assessment, PolicyEvaluator } from '../policy/evaluate/evaluator.js'
import type { Cancellation, Evaluation, EvaluationInput } from '../policy/evaluation.js'
import { checkBudget } from '../policy/match/budget.js'

export interface JudgeOptions extends Asked {
  context?: JsonObject | undefined
  session?: string | undefined
  /** See `EvaluationInput`. */
  recalled?: EvaluationInput['recalled']
  constitution?: string
  /** See `EvaluationInput`. */
  names?: boolean
  /** The client's response: when the client leaves, the wait for a judge ends. */
  response?: ServerResponse
}

/**
 * All throw a Fault: `too_complex` beyond the budget of a request, `evaluator_unavailable` where no complete verdict came in
 * time. Never a milder verdict.
 */
export interface Assessor {
  text(text: string, options: JudgeOptions): Promise<Evaluation>
  /** Texts with their roles; detections keep the pointers of theirs. */
  content(content: ChatContent, direction: EvaluationInput['direction'], options: JudgeOptions): Promise<Evaluation>
  /** Also returns the score of each category. */
  assess(text: string, options: JudgeOptions): Promise<Assessment>
}

export interface AssessorDeps extends JudgingDeps<Pick<PolicyEvaluator, 'evaluate' | 'assess' | 'hold'>> {
  /** Limits of one request. */
  budget: Budget
}

export function createAssessor({ budget, ...deps }: AssessorDeps): Assessor {
  const judging = new Judging(deps)
  const inputOf = (
    { parts, joined, context, direction }: Pick<EvaluationInput, 'parts' | 'joined' | 'context' | 'direction'>,
    { session, recalled, response, caller, names }: JudgeOptions
  ): EvaluationInput => ({
    parts,
    joined,
    context,
    names,
    whose: caller.lineage,
    session,
    direction,
    exceptions: undefined,
    recalled,
    cancel: response === undefined ? undefined : leaveOf(response)
  })
  async function evaluate(input: EvaluationInput, options: JudgeOptions): Promise<Evaluation> {
    const evaluation = await judging.evaluate(input, options.constitution, options)
    return recorded(evaluation, input, options)
  }
  async function recorded(
    evaluation: Evaluation,
    input: EvaluationInput,
    { constitution, ...asked }: JudgeOptions
  ): Promise<Evaluation> {
    const committed = judging.record(asked, evaluation, input, { policy: constitution })
    if (committed !== undefined) await committed
    return evaluation
  }
  return {
    async text(text, options) {
      return evaluate(inputOf(readText(text, options.context), options), options)
    },
    async content({ parts, joined }, direction, options) {
      checkBudget({ parts, joined }, budget)
      return evaluate(inputOf({ parts, joined, context: options.context, direction }, options), options)
    },
    async assess(text, options) {
      const input = inputOf(readText(text, options.context), options)
      const { constitution } = options
      const found = await judging.by((evaluator, input) => evaluator.assess(input, constitution), input, options)
      return { ...found, evaluation: await recorded(found.evaluation, input, options) }
    }
  }
}

/** Listens only while a judge is awaited: most verdicts are immediate. */
function leaveOf(response: ServerResponse): Cancellation {
  const reasonOf = () =>
    isClosed(response) && !isComplete(response)
      ? new Fault('evaluator_unavailable', { internal: 'the client closed the connection' })
      : undefined
  return {
    get reason() {
      return reasonOf()
    },
    onCancel(listener) {
      const left = () => {
        const reason = reasonOf()
        if (reason !== undefined) listener(reason)
      }
      response.once('close', left)
      return () => response.off('close', left)
    }
  }
}
