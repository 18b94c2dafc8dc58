/** One text through the evaluator, counted: what the endpoints that judge a bare text share. */
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../chat.js'
import { Fault } from '../errors.js'
import type { Metrics } from '../observe/metrics.js'
import { recordEvaluation, type Surface } from '../observe/record.js'
import type { Evaluation, EvaluationInput } from '../policy/evaluation.js'
import type { Assessment, PolicyEvaluator } from '../policy/evaluator.js'
import type { Cancellation } from '../policy/judges.js'
import { readText } from './evaluate-input.js'

export interface JudgeOptions {
  surface: Surface
  context?: JsonObject | undefined
  session?: string | undefined
  constitution?: string
  /** Whom the verdict is for: when they leave, no judge is waited for any more. */
  response?: ServerResponse
}

/** Both throw a Fault `evaluator_unavailable` where no complete verdict came in time: never a milder verdict. */
export interface Judge {
  text(text: string, options: JudgeOptions): Promise<Evaluation>
  /** With what each category came to. */
  assess(text: string, options: JudgeOptions): Promise<Assessment>
}

export function createJudge(evaluator: Pick<PolicyEvaluator, 'evaluate' | 'assess'>, metrics: Metrics): Judge {
  const counted = (evaluation: Evaluation, { surface }: JudgeOptions): Evaluation => {
    recordEvaluation(metrics, surface, evaluation)
    // The only text is the input itself: a pointer to it would say nothing.
    const detections = evaluation.detections.map(({ pointer: _, ...detection }) => detection)
    return { ...evaluation, detections }
  }
  return {
    async text(text, options) {
      const { constitution } = options
      return counted(await available(() => evaluator.evaluate(inputOf(text, options), constitution)), options)
    },
    async assess(text, options) {
      const { constitution } = options
      const found = await available(() => evaluator.assess(inputOf(text, options), constitution))
      return { ...found, evaluation: counted(found.evaluation, options) }
    }
  }
}

function inputOf(text: string, { context, session, response }: JudgeOptions): EvaluationInput {
  const cancel = response === undefined ? undefined : leaveOf(response)
  return { ...readText(text, context), session, cancel }
}

async function available<T>(judge: () => T | Promise<T>): Promise<T> {
  try {
    return await judge()
  } catch (cause) {
    throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, cause })
  }
}

/** Listens only where a judge is waited for: most verdicts are there at once. */
function leaveOf(response: ServerResponse): Cancellation {
  const reasonOf = () =>
    response.destroyed && !response.writableFinished ? new Error('the client closed the connection') : undefined
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
