/** Texts through the evaluator, counted: what the endpoints share that judge and do not forward. */
import type { ServerResponse } from 'node:http'
import { type Budget, checkBudget } from '../base/budget.js'
import type { ChatContent, JsonObject } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import { readText } from '../edge/evaluate-input.js'
import { isClosed, isComplete } from '../edge/http2.js'
import type { Caller } from '../identity/caller.js'
import type { Recorder, Surface } from '../observe/record.js'
import type { UnjudgedRecorder } from '../observe/unjudged.js'
import type { Evaluation, EvaluationInput } from '../policy/evaluation.js'
import type { Assessment, PolicyEvaluator } from '../policy/evaluator.js'
import type { Exceptions } from '../policy/exceptions.js'
import type { Cancellation } from '../policy/judges.js'

export interface JudgeOptions {
  surface: Surface
  /** Path of the endpoint. */
  route: string
  caller: Caller
  requestId: string
  context?: JsonObject | undefined
  session?: string | undefined
  /** See `EvaluationInput`. */
  recalled?: EvaluationInput['recalled']
  constitution?: string
  /** Whom the verdict is for: when they leave, no judge is waited for any more. */
  response?: ServerResponse
}

/**
 * All throw a Fault: `too_complex` beyond the budget of a request, `evaluator_unavailable` where no complete verdict came in
 * time. Never a milder verdict.
 */
export interface Judge {
  text(text: string, options: JudgeOptions): Promise<Evaluation>
  /** Texts with their roles; detections keep the pointers of theirs. */
  content(content: ChatContent, direction: EvaluationInput['direction'], options: JudgeOptions): Promise<Evaluation>
  /** With what each category came to. */
  assess(text: string, options: JudgeOptions): Promise<Assessment>
}

export interface JudgeDeps {
  evaluator: Pick<PolicyEvaluator, 'evaluate' | 'assess'>
  record: Recorder
  /** Counts and audits each call that got no verdict. */
  unjudged: UnjudgedRecorder
  /** What people have excepted for a caller. */
  exceptions(caller: Caller): Exceptions | undefined
  /** What one request may hold. */
  budget: Budget
}

export function createJudge({ evaluator, record, unjudged, exceptions, budget }: JudgeDeps): Judge {
  async function available<T>(options: JudgeOptions, judge: () => Promise<T>): Promise<T> {
    try {
      return await judge()
    } catch (error) {
      if (error instanceof Fault) throw error
      const { response } = options
      // Who has left asked for nothing any more: no judge was waited for on their behalf.
      if (response === undefined || leaveOf(response).reason === undefined) {
        void unjudged({ ...options, error, passed: false })
      }
      throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, cause: error })
    }
  }
  const circumstances = ({ session, recalled, response, caller }: JudgeOptions) => ({
    whose: caller.lineage,
    session,
    recalled,
    exceptions: exceptions(caller),
    cancel: response === undefined ? undefined : leaveOf(response)
  })
  const inputOf = (text: string, options: JudgeOptions): EvaluationInput => ({
    ...readText(text, options.context),
    ...circumstances(options)
  })
  const recorded = async (
    evaluation: Evaluation,
    { parts }: EvaluationInput,
    { surface, route, caller, requestId }: JudgeOptions
  ): Promise<Evaluation> => {
    const committed = record({ surface, evaluation, caller, route, requestId, parts })
    if (committed !== undefined) await committed
    return evaluation
  }
  /** The only text is the input itself: a pointer to it would say nothing. */
  const withoutPointers = (evaluation: Evaluation): Evaluation => ({
    ...evaluation,
    detections: evaluation.detections.map(({ pointer: _, ...detection }) => detection)
  })
  return {
    async text(text, options) {
      const input = inputOf(text, options)
      const evaluation = await available(options, () => evaluator.evaluate(input, options.constitution))
      return withoutPointers(await recorded(evaluation, input, options))
    },
    async content({ parts, joined }, direction, options) {
      checkBudget({ parts, joined }, budget)
      const input = { parts, joined, direction, context: options.context, ...circumstances(options) }
      return recorded(await available(options, () => evaluator.evaluate(input, options.constitution)), input, options)
    },
    async assess(text, options) {
      const input = inputOf(text, options)
      const found = await available(options, () => evaluator.assess(input, options.constitution))
      return { ...found, evaluation: withoutPointers(await recorded(found.evaluation, input, options)) }
    }
  }
}

/** Listens only where a judge is waited for: most verdicts are there at once. */
function leaveOf(response: ServerResponse): Cancellation {
  const reasonOf = () =>
    isClosed(response) && !isComplete(response) ? new Error('the client closed the connection') : undefined
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
