/** One text through the evaluator, counted: what the endpoints that judge a bare text share. */
import type { JsonObject } from '../chat.js'
import { Fault } from '../errors.js'
import type { Metrics } from '../observe/metrics.js'
import { recordEvaluation, type Surface } from '../observe/record.js'
import type { Evaluation, Evaluator } from '../policy/evaluation.js'

export interface Judge {
  /**
   * @throws Fault `evaluator_unavailable` where no complete verdict came in time: never a milder verdict
   */
  text(
    text: string,
    options: { surface: Surface; context?: JsonObject | undefined; session?: string | undefined; constitution?: string }
  ): Promise<Evaluation>
}

export function createJudge(evaluator: Evaluator, metrics: Metrics): Judge {
  return {
    async text(text, { surface, context, session, constitution }) {
      let evaluation: Evaluation
      try {
        evaluation = await evaluator.evaluate(
          {
            parts: [{ role: 'user', text, pointer: '' }],
            joined: [],
            context,
            session,
            direction: 'request'
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
