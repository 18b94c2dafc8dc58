/**
 * Writes the gateway's own messages: errors of JSON-RPC, and under `respond: message` results of failed calls, which a
 * model reads.
 */
import type { JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import { type Denial, refusalOf } from '../denial.js'
import type { MessageId } from './message.js'

/** docs/mcp.md, "Refusals". */
export const errorCodes = {
  content_filter: -32001,
  review_queue_full: -32001,
  review_required: -32002,
  context_required: -32003,
  definition_changed: -32004
} as const
/** JSON-RPC 2.0, section 5.1, and revision 2026-07-28 for the last two. */
export const rpcCodes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  unsupportedRevision: -32022
} as const

export function rpcError(id: MessageId | null, code: number, message: string, data?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
}

/** How to refuse a message: with an error for its id where it is a request, else with the gateway's own error. */
export interface Answering {
  id: MessageId | undefined
  /** Whether the model gets a refusal as the result of the call. */
  asResult: boolean
  isStateless: boolean
}

export function refusal({ id, asResult, isStateless }: Answering, denial: Denial, requestId: string): JsonObject {
  const { code } = refusalOf(denial)
  const data = dataOf(denial, code, requestId)
  const { developer, end_user: endUser } = denial.wording
  if (id === undefined) return { message: developer.text, ...data }
  if (!asResult) return rpcError(id, errorCodes[code], developer.text, data)
  return failedCall(id, endUser.text, data, isStateless)
}

function dataOf({ decision, reviewId, evaluation, pointer }: Denial, error: string, requestId: string): JsonObject {
  return {
    error,
    ...(decision !== 'forbid' && reviewId !== undefined && { review_id: reviewId }),
    ...(decision === 'depends' && { missing: evaluation.missing_context ?? [] }),
    ...(pointer !== undefined && { pointer: pointer.slice(0, 256) }),
    evaluation_id: evaluation.evaluation_id,
    request_id: requestId
  }
}

/** The result of a tool that has failed, for a model to read. */
export function failedCall(id: MessageId, text: string, data: JsonObject, isStateless: boolean): JsonObject {
  return {
    jsonrpc: '2.0',
    id,
    result: {
      content: [{ type: 'text', text }],
      isError: true,
      ...(isStateless && { resultType: 'complete' }),
      _meta: { 'sluicegate/refusal': data }
    }
  }
}

/** A fault as the answer to a request. */
export function faultError(id: MessageId, fault: Fault, requestId: string): JsonObject {
  const code =
    fault.status >= 500
      ? rpcCodes.internal
      : fault.code === 'validation_error'
        ? rpcCodes.invalidParams
        : rpcCodes.invalidRequest
  return rpcError(id, code, fault.message, {
    error: fault.code,
    ...(fault.fields as JsonObject),
    request_id: requestId
  })
}

/** One message as an event (WHATWG HTML, section 9.2). JSON has no line ends of its own. */
export function eventFrame(message: JsonObject, id?: string): string {
  return `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`
}

/** An event with only an id, from which a client can resume; without an id a comment that begins the stream. */
export function emptyFrame(id?: string): string {
  return id === undefined ? ': \n\n' : `id: ${id}\ndata: \n\n`
}
