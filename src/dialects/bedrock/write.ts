/**
 * Writes what AWS's SDKs read: errors with their type in `x-amzn-errortype` and their code before the sentence, an answer
 * that a guardrail stopped, and the same as a full run of events. Shapes: docs.aws.amazon.com/bedrock/latest/APIReference,
 * Converse and ConverseStream.
 */
import type { JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import { type Denial, refusalOf } from '../denial.js'
import type { TurnFacts } from '../dialect.js'
import { messageOf } from '../event-stream.js'
import { isObject } from '../rewrite.js'

const typeOf: Readonly<Record<number, string>> = {
  401: 'AccessDeniedException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  409: 'ConflictException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  502: 'ServiceUnavailableException',
  503: 'ServiceUnavailableException',
  504: 'ModelTimeoutException'
}

function errorType(status: number): string {
  return typeOf[status] ?? (status >= 500 ? 'ServiceUnavailableException' : 'ValidationException')
}

/** Where the SDKs look for an error's type. */
export function errorHeaders(status: number): Record<string, string> {
  return { 'x-amzn-errortype': errorType(status) }
}

/** SDKs keep the message; those that hand on the body's other fields find the code in one of its own. */
function envelope(status: number, code: string, sentence: string, more: JsonObject, requestId: string): JsonObject {
  return {
    __type: errorType(status),
    message: `${code}: ${sentence}`,
    error_code: code,
    ...more,
    request_id: requestId
  }
}

export function error(fault: Fault, requestId: string): JsonObject {
  return envelope(fault.status, fault.code, fault.message, fault.fields as JsonObject, requestId)
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

const noUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
const noMetrics = { latencyMs: 0 }

/** `forbid` reads as a guardrail of AWS would; the other two are ordinary turns, so that every chat client shows them. */
function stopOf({ denial }: TurnFacts): string {
  return denial.decision === 'forbid' ? 'guardrail_intervened' : 'end_turn'
}

export function turn(facts: TurnFacts): JsonObject {
  return answer(facts, { ...noUsage })
}

function answer(facts: TurnFacts, usage: JsonObject): JsonObject {
  return {
    output: { message: { role: 'assistant', content: [{ text: facts.denial.wording.end_user.text }] } },
    stopReason: stopOf(facts),
    usage,
    metrics: { ...noMetrics }
  }
}

/** Built anew from the counts alone, so that none of the answer's text remains. */
export function filtered({ usage }: JsonObject, facts: TurnFacts): JsonObject {
  if (!isObject(usage)) return turn(facts)
  const counts = Object.fromEntries(
    Object.keys(noUsage).map((name) => [name, typeof usage[name] === 'number' ? usage[name] : 0])
  )
  return answer(facts, counts)
}

export function frame(event: JsonObject, name: string): string {
  return messageOf('event', name, JSON.stringify(event))
}

export function turnStream(facts: TurnFacts): string {
  return filteredStream({ started: false, open: new Set(), next: 0, stopped: false, counted: false }, facts)
}

/** The part of a stream that a client has seen. */
export interface SeenOfStream {
  started: boolean
  /** Blocks that were begun and not ended. */
  open: ReadonlySet<number>
  /** The index of a further block. */
  next: number
  /** The reason to stop was told. */
  stopped: boolean
  /** The counts of tokens were told, which come last. */
  counted: boolean
}

/** Ends a stream wherever it stands: open blocks are closed, one more says why, and the message stops. */
export function filteredStream({ started, open, next, stopped, counted }: SeenOfStream, facts: TurnFacts): string {
  const events: (readonly [name: string, event: JsonObject])[] = []
  if (!started) events.push(['messageStart', { role: 'assistant' }])
  for (const contentBlockIndex of open) events.push(['contentBlockStop', { contentBlockIndex }])
  if (!stopped) {
    const delta = { text: facts.denial.wording.end_user.text }
    events.push(
      ['contentBlockDelta', { contentBlockIndex: next, delta }],
      ['contentBlockStop', { contentBlockIndex: next }],
      ['messageStop', { stopReason: stopOf(facts) }]
    )
  }
  if (!counted) events.push(['metadata', { usage: { ...noUsage }, metrics: { ...noMetrics } }])
  return events.map(([name, event]) => frame(event, name)).join('')
}

/** The exceptions that a stream may hold, by the status that the failure would have had. */
const exceptionOf: Readonly<Record<number, string>> = {
  429: 'throttlingException',
  502: 'modelStreamErrorException',
  503: 'serviceUnavailableException',
  504: 'modelStreamErrorException'
}

export function errorFrame(fault: Fault, requestId: string): string {
  const name = exceptionOf[fault.status] ?? (fault.status < 500 ? 'validationException' : 'internalServerException')
  return messageOf('exception', name, JSON.stringify(error(fault, requestId)))
}
