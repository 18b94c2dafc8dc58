/**
 * Writes what Google's SDKs read: google.rpc.Status with its code in an ErrorInfo, `promptFeedback.blockReason` for a
 * request and `finishReason: SAFETY` for an answer. Shapes: ai.google.dev/api/generate-content, cloud.google.com/apis/design/errors.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import { type Denial, refusalOf } from '../denial.js'
import type { Framing, TurnFacts } from '../dialect.js'
import { isObject } from '../rewrite.js'

/** google.rpc.Code by HTTP status. */
const statusOf: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'ABORTED',
  422: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED'
}

/** `metadata` of an ErrorInfo is a map of strings. */
function envelope(status: number, code: string, message: string, facts: JsonObject): JsonObject {
  const metadata = Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
  )
  return {
    error: {
      code: status,
      message,
      status: statusOf[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT'),
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: 'sluicegate', metadata }]
    }
  }
}

export function error(fault: Fault, requestId: string): JsonObject {
  const { details, ...fields } = fault.fields as JsonObject
  const facts = { ...(isObject(details) && details), ...fields, request_id: requestId }
  return envelope(fault.status, fault.code, fault.message, facts)
}

export function denied(denial: Denial, requestId: string): JsonObject {
  const { status, code } = refusalOf(denial)
  const { evaluation, pointer } = denial
  return envelope(status, code, denial.wording.developer.text, {
    ...(pointer !== undefined && { pointer }),
    ...(denial.decision === 'divert' && denial.reviewId !== undefined && { review_id: denial.reviewId }),
    ...(denial.decision === 'depends' && { missing_context: (evaluation.missing_context ?? []).join(', ') }),
    evaluation_id: evaluation.evaluation_id,
    request_id: requestId
  })
}

const noUsage = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 }

function answer(facts: TurnFacts, content: JsonObject, usage: JsonObject = { ...noUsage }): JsonObject {
  return {
    ...content,
    usageMetadata: usage,
    modelVersion: facts.target.params.model ?? '',
    responseId: facts.requestId
  }
}

/**
 * A request that `forbid` stops has the API's own feedback and no candidate; an answer has candidates that ended. The other
 * two decisions are ordinary turns, so that every client shows them.
 */
export function turn(facts: TurnFacts): JsonObject {
  const { denial } = facts
  const sentence = denial.wording.end_user.text
  if (denial.decision !== 'forbid') {
    const content = { parts: [{ text: sentence }], role: 'model' }
    return answer(facts, { candidates: [{ content, finishReason: 'STOP', index: 0 }] })
  }
  if (denial.direction === 'answer') return filteredChunk([0], facts)
  return answer(facts, {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: sentence, safetyRatings: [] }
  })
}

/** Candidates that ended without their text. */
export function filteredChunk(indexes: readonly number[], facts: TurnFacts, usage?: JsonObject): JsonObject {
  const finishMessage = facts.denial.wording.end_user.text
  const candidates = indexes.map((index) => ({ finishReason: 'SAFETY', finishMessage, index }))
  return answer(facts, { candidates }, usage)
}

/** Built anew from the number of candidates and the counts alone, so that none of the answer's text remains. */
export function filtered(reply: JsonObject, facts: TurnFacts): JsonObject {
  const count = Array.isArray(reply.candidates) ? Math.max(1, reply.candidates.length) : 1
  return filteredChunk(
    Array.from({ length: count }, (_, index) => index),
    facts,
    countsOf(reply.usageMetadata)
  )
}

function countsOf(usage: Json | undefined): JsonObject | undefined {
  if (!isObject(usage)) return undefined
  return Object.fromEntries(
    Object.keys(noUsage).map((name) => [name, typeof usage[name] === 'number' ? usage[name] : 0])
  )
}

/** One chunk in its framing. */
export function frameOf(framing: Framing, chunk: JsonObject, isFirst: boolean): string {
  const text = JSON.stringify(chunk)
  if (framing === 'sse') return `data: ${text}\r\n\r\n`
  return `${isFirst ? '[' : ',\r\n'}${text}`
}

export function frameEnd(framing: Framing, hasBegun: boolean): string {
  if (framing === 'sse') return ''
  return hasBegun ? ']' : '[]'
}

/** The array stays open, so that no client takes it for complete. */
export function errorFrame(framing: Framing, fault: Fault, requestId: string): string {
  return frameOf(framing, error(fault, requestId), false)
}
