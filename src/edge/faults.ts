/** Bodies of faults on the wire, and the faults for Fastify's own errors (docs/api.md, section 2). */
import type { FastifyError, FastifyReply } from 'fastify'
import { Fault, invalid } from '../base/errors.js'
import { payloadTooLarge } from './body.js'

export interface ShapedFault {
  status: number
  headers: Record<string, string>
  body: string | Buffer
}

/** The error body of docs/api.md, section 2: the code, the sentence, the code's own fields, the request id. */
export function plainFault(fault: Fault, requestId: string): ShapedFault {
  return {
    status: fault.status,
    headers: { ...fault.headers, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error: fault.code, message: fault.message, ...fault.fields, request_id: requestId })
  }
}

export function sendFault(reply: FastifyReply, { status, headers, body }: ShapedFault): void {
  reply.code(status).headers(headers).send(body)
}

/**
 * Fastify's and Node's own errors in the terms of docs/api.md, section 2; anything unknown is internal and says
 * nothing of itself.
 */
export function toFault(error: FastifyError, bodyLimit: number): Fault {
  if (error instanceof Fault) return error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return payloadTooLarge(bodyLimit)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Fault('unsupported_media_type')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('content-length', 'invalid_format', 'The body does not have the announced length.')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_NOT_FOUND':
      return new Fault('not_found')
    case 'ECONNRESET':
    case 'ABORT_ERR':
      return invalid('', 'malformed_json', 'The body ended before it was complete.')
    default:
      return new Fault('internal_error', { cause: error })
  }
}
