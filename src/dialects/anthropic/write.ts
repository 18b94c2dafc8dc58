/**
 * Writes what the official SDKs read: the error envelope with its types by status, a message that ends with
 * `stop_reason: refusal`, and the same as a full run of events. Shapes: docs.anthropic.com/en/api/errors and
 * docs.anthropic.com/en/docs/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import { type Denial, refusalOf } from '../denial.js'
import type { TurnFacts } from '../dialect.js'
import { isObject } from '../rewrite.js'

const typeOf: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error'
}

/** `details.error_code` is where the SDKs look for a stable code; the message leads with it for everyone else. */
function envelope(status: number, code: string, sentence: string, more: JsonObject, requestId: string): JsonObject {
  return {
    type: 'error',
    error: {
      type: typeOf[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'),
      message: `${code}: ${sentence}`,
      details: { error_code: code, ...more }
    },
    request_id: requestId
  }
}

export function error(fault: Fault, requestId: string): JsonObject {
  const { details, ...fields } = fault.fields as JsonObject
  return envelope(fault.status, fault.code, fault.message, { ...(isObject(details) && details), ...fields }, requestId)
}

export function denied(denial: Denial, requestId: string): JsonObject {
  const { status, code } = refusalOf(denial)
  const { evaluation, pointer } = denial
  const more: JsonObject = {
    ...(pointer !== undefined && { pointer }),
    ...(denial.decision === 'divert' && denial.reviewId !== undefined && { review_id: denial.reviewId }),
    ...(denial.decision === 'depends' && { missing_context: evaluation.missing_context ?? [] }),
    evaluation_id: evaluation.evaluation_id
  }
  return envelope(status, code, denial.wording.developer.text, more, requestId)
}

const noUsage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

/** `forbid` is the API's own refusal; the other two are ordinary turns, so that every chat client shows them. */
function stopOf({ denial }: TurnFacts): JsonObject {
  return denial.decision === 'forbid'
    ? {
        stop_reason: 'refusal',
        stop_sequence: null,
        stop_details: { type: 'refusal', category: null, explanation: denial.wording.end_user.text }
      }
    : { stop_reason: 'end_turn', stop_sequence: null }
}

function message({ request, requestId }: TurnFacts, content: Json, stop: JsonObject, usage: JsonObject): JsonObject {
  const model = typeof request.model === 'string' ? request.model : ''
  return { id: `msg_${requestId}`, type: 'message', role: 'assistant', model, content, ...stop, usage }
}

export function turn(facts: TurnFacts): JsonObject {
  const content = [{ type: 'text', text: facts.denial.wording.end_user.text }]
  return message(facts, content, stopOf(facts), { ...noUsage })
}

/** Built anew from the counts alone, so that none of the answer's text remains. */
export function filtered(reply: JsonObject, facts: TurnFacts): JsonObject {
  const usage = reply.usage
  if (!isObject(usage)) return turn(facts)
  const counts = Object.fromEntries(
    Object.keys(noUsage).map((name) => [name, typeof usage[name] === 'number' ? usage[name] : 0])
  )
  return { ...turn(facts), usage: counts }
}

export function frame(event: JsonObject): string {
  return `event: ${event.type as string}\ndata: ${JSON.stringify(event)}\n\n`
}

/** A turn as all of its events. */
export function turnEvents(facts: TurnFacts): JsonObject[] {
  return filteredEvents({ started: false, open: new Set(), empty: undefined, next: 0, stopped: false }, facts)
}

export function turnStream(facts: TurnFacts): string {
  return turnEvents(facts).map(frame).join('')
}

/** The part of a stream that a client has seen. */
export interface SeenOfStream {
  started: boolean
  /** Blocks that were begun and not ended. */
  open: ReadonlySet<number>
  /** Of them, the text block in which nothing stands yet. */
  empty: number | undefined
  /** The index of a further block. */
  next: number
  /** The reason to stop was told. */
  stopped: boolean
}

/**
 * Ends a stream wherever it stands: open blocks are closed, one more says why, and the message stops. A block without a
 * text yet says it itself, since clients would show it as an empty one.
 */
export function filteredEvents({ started, open, empty, next, stopped }: SeenOfStream, facts: TurnFacts): JsonObject[] {
  const start = message(facts, [], { stop_reason: null, stop_sequence: null }, { ...noUsage })
  const at = stopped ? undefined : (empty ?? next)
  const delta = { type: 'text_delta', text: facts.denial.wording.end_user.text }
  return [
    ...(started ? [] : [{ type: 'message_start', message: start }]),
    ...[...open].filter((index) => index !== at).map((index) => ({ type: 'content_block_stop', index })),
    ...(at === undefined
      ? []
      : [
          ...(at === empty
            ? []
            : [{ type: 'content_block_start', index: at, content_block: { type: 'text', text: '' } }]),
          { type: 'content_block_delta', index: at, delta },
          { type: 'content_block_stop', index: at },
          { type: 'message_delta', delta: stopOf(facts), usage: { output_tokens: 0 } }
        ]),
    { type: 'message_stop' }
  ]
}

export function errorFrame(fault: Fault, requestId: string): string {
  return frame(error(fault, requestId))
}
