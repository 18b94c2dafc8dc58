/** Writes events of the gateway's own. Shapes: platform.openai.com/docs/api-reference/realtime-server-events. */
import type { JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import { type Denial, refusalOf } from '../denial.js'
import type { TurnFacts } from '../dialect.js'
import { denied, error } from '../openai/errors.js'

/** One event, in a line of its own. */
export function writeEvent({ type, event_id: _, ...rest }: JsonObject, nextId: () => string): string {
  return `${JSON.stringify({ type: type!, event_id: nextId(), ...rest })}\n`
}

/**
 * @param eventId the client's own name for the event that is refused
 */
export function denialError(denial: Denial, eventId: string | undefined): JsonObject {
  const { error: told } = denied(denial, '') as { error: JsonObject }
  const { status: _, request_id: __, ...fields } = told
  return { type: 'error', error: { ...fields, event_id: eventId ?? null } }
}

export function faultError(fault: Fault, requestId: string, eventId: string | undefined): JsonObject {
  const { error: told } = error(fault, requestId) as { error: JsonObject }
  return { type: 'error', error: { ...told, event_id: eventId ?? null } }
}

/** The final state of a withheld response: `output` holds the items that have left. */
export function filteredResponse(response: JsonObject, output: JsonObject[], { denial }: TurnFacts): JsonObject {
  const { evaluation, reviewId } = denial
  return {
    ...response,
    status: 'incomplete',
    status_details: {
      type: 'incomplete',
      reason: 'content_filter',
      error: {
        type: 'invalid_request_error',
        code: refusalOf(denial).code,
        message: denial.wording.developer.text,
        ...(reviewId !== undefined && { review_id: reviewId }),
        evaluation_id: evaluation.evaluation_id
      }
    },
    output
  }
}
