/** One text through the evaluator, counted: what the endpoints that judge a bare text share. */
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../chat.js'
import { Fault } from '../errors.js'
import type { Metrics } from '../observe/metrics.js'
import { recordEvaluation, type Surface } from '../observe/record.js'
import type { Evaluation, Evaluator } from '../policy/evaluation.js'
import type { Cancellation } from '../policy/judges.js'

export interface Judge {
  /**
   * @throws Fault `evaluator_unavailable` where no complete verdict came in time: never a milder verdict
   */
  text(
    text: string,
    options: {
      surface: Surface
      context?: JsonObject | undefined
      session?: string | undefined
      constitution?: string
      /** Whom the verdict is for: when they leave, no judge is waited for any more. */
      response?: ServerResponse
    }
  ): Promise<Evaluation>
}

export function createJudge(evaluator: Evaluator, metrics: Metrics): Judge {
  return {
    async text(text, { surface, context, session, constitution, response }) {
      let evaluation: Evaluation
      try {
        evaluation = await evaluator.evaluate(
          {
            parts: [{ role: 'user', text, pointer: '' }],
            joined: [],
            context,
            session,
            direction: 'request',
            cancel: response === undefined ? undefined : leaveOf(response)
          },
          constitution
        )
      } catch (cause) {
        throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, cause })
      }
      recordEvaluation(metrics, surface, evaluation)
      // The only text is the input itself: a pointer to it would say nothing.
      const detections = evaluation.detections.map(({ pointer: _, ...detection }) => detection)
      return { ...evaluation, detections }
    }
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
