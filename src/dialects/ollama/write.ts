/** Writes what Ollama's clients read: `{"error": text}`, and answers whose sentence is an ordinary one. */
import type { JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import { type Denial, refusalOf } from '../denial.js'
import type { TurnFacts } from '../dialect.js'

export type Operation = 'chat' | 'generate'

/** The SDKs show nothing but `error`, so the code leads it; what else a program may want stands beside it. */
function envelope(code: string, sentence: string, more: JsonObject): JsonObject {
  return { error: `${code}: ${sentence}`, ...more }
}

export function error(fault: Fault, requestId: string): JsonObject {
  return envelope(fault.code, fault.message, { ...(fault.fields as JsonObject), request_id: requestId })
}

export function denied(denial: Denial, requestId: string): JsonObject {
  const { evaluation, pointer } = denial
  return envelope(refusalOf(denial).code, denial.wording.developer.text, {
    ...(pointer !== undefined && { pointer }),
    ...(denial.decision === 'divert' && denial.reviewId !== undefined && { review_id: denial.reviewId }),
    ...(denial.decision === 'depends' && { missing_context: evaluation.missing_context ?? [] }),
    evaluation_id: evaluation.evaluation_id,
    request_id: requestId
  })
}

const counts = {
  total_duration: 0,
  load_duration: 0,
  prompt_eval_count: 0,
  prompt_eval_duration: 0,
  eval_count: 0,
  eval_duration: 0
}

function answer(operation: Operation, { request, created }: TurnFacts, text: string, end: JsonObject): JsonObject {
  return {
    model: typeof request.model === 'string' ? request.model : '',
    created_at: new Date(created * 1000).toISOString(),
    ...(operation === 'chat' ? { message: { role: 'assistant', content: text } } : { response: text }),
    ...end
  }
}

const ending = { done: true, done_reason: 'stop', ...counts }

/** A whole answer, and the last line of one that was withheld in mid-stream. This API has no word for a refusal. */
export function said(operation: Operation, facts: TurnFacts): JsonObject {
  return answer(operation, facts, facts.denial.wording.end_user.text, ending)
}

export function saidStream(operation: Operation, facts: TurnFacts): string {
  return (
    line(answer(operation, facts, facts.denial.wording.end_user.text, { done: false })) +
    line(answer(operation, facts, '', ending))
  )
}

export function line(value: JsonObject): string {
  return `${JSON.stringify(value)}\n`
}
