/**
 * nginx's `auth_request`: a subrequest without a body. nginx reads its status (2xx permits, 401 and 403 are returned to
 * the client, any other becomes a 500) and headers. So every refusal is a 401 or a 403, with the reason in a header.
 * The guard checks the key, its address and its limit, and judges the target and the header `x-safety-text`, which
 * nginx's configuration fills; it never sees a body. Reference:
 * nginx.org/en/docs/http/ngx_http_auth_request_module.html.
 */
import type { FastifyInstance } from 'fastify'
import type { ChatPart } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import { named } from '../../edge/doc-names.js'
import type { ShapedFault } from '../../edge/faults.js'
import { NoQuery } from '../../edge/schemas.js'
import { createGuard, type GuardDeps, type Refusal } from './guard.js'

export const authRequestPath = '/guards/auth-request'

/** The headers whose texts are judged. nginx sends targets percent-encoded and values as they came. */
const judged = ['x-original-uri', 'x-safety-text'] as const

const refusal = {
  content: {
    'application/json': {
      schema: named('AuthRequestError', {
        type: 'object',
        properties: {
          error: { type: 'string', description: 'The code, as in the header x-safety-code.' },
          message: { type: 'string', description: 'A sentence for people.' },
          request_id: { type: 'string', description: 'The header x-request-id of the answer.' }
        },
        required: ['error', 'message', 'request_id'],
        additionalProperties: true
      })
    }
  },
  headers: { 'x-safety-code': { type: 'string', description: 'Why it is refused.' } }
}

export function registerAuthRequest(app: FastifyInstance, deps: GuardDeps): void {
  const guard = createGuard(deps, authRequestPath)
  app.route({
    method: 'GET',
    url: authRequestPath,
    exposeHeadRoute: false,
    config: { access: { posture: 'key', scope: 'safety:evaluate', cost: 1 } },
    schema: {
      operationId: 'guardAuthRequest',
      summary: 'nginx’s auth_request: key, address, limit, and texts in headers',
      tags: ['guards'],
      querystring: NoQuery,
      response: {
        204: { description: 'It may go on.' },
        401: { description: 'No key, or one that is not valid. The header x-safety-code has the code.', ...refusal },
        403: {
          description: 'Any other refusal, a spent limit included. The header x-safety-code has the code.',
          ...refusal
        }
      },
      answersNoMore: true
    },
    async handler(request, reply) {
      const parts: ChatPart[] = []
      for (const name of judged) {
        const value = request.raw.headers[name]
        if (typeof value !== 'string' || value === '') continue
        for (const text of readingsOf(value)) parts.push({ role: 'user', text, pointer: name })
      }
      const content = { parts, joined: [], media: [] }
      const { evaluation, refusal: refused } = await guard(request, reply, { content, direction: 'request' })
      if (evaluation !== undefined) {
        reply.headers({
          'x-safety-decision': evaluation.decision,
          'x-safety-score': String(evaluation.risk_score),
          'x-safety-policy': evaluation.policy,
          'x-safety-evaluation-id': evaluation.evaluation_id
        })
      }
      if (refused === undefined) return reply.code(204).send()
      const { status, headers, body } = fold(refused, request.sluicegate.id)
      return reply
        .code(status as 401 | 403)
        .headers(headers)
        .send(body)
    }
  })
}

/**
 * The raw value, and its percent-decoded form, in which a plus is a space. A "%" that begins no escape, and bytes that
 * are no UTF-8, stay as they came: `100% sure` is an ordinary text, and one bad escape must not hide what stands beside
 * it.
 */
function readingsOf(value: string): string[] {
  const text = Buffer.from(value, 'latin1').toString()
  const decoded = text.replaceAll('+', ' ').replace(/(?:%[0-9a-f]{2})+/gi, decodeRun)
  return decoded === text ? [text] : [text, decoded]
}

/** A run of escapes, each character decoded by itself. */
function decodeRun(run: string): string {
  let decoded = ''
  for (let i = 0; i < run.length; ) {
    const lead = Number.parseInt(run.slice(i + 1, i + 3), 16)
    const escapes = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    const character = run.slice(i, i + 3 * escapes)
    try {
      decoded += decodeURIComponent(character)
      i += character.length
    } catch {
      decoded += run.slice(i, i + 3)
      i += 3
    }
  }
  return decoded
}

/** A refusal before or after the verdict, in the two statuses that nginx passes on. */
export function fold(
  {
    status,
    code,
    message,
    fields,
    reviewId
  }: Pick<Fault | Refusal, 'status' | 'code' | 'message'> & { fields?: Fault['fields']; reviewId?: string },
  requestId: string
): ShapedFault {
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-safety-code': code,
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(reviewId !== undefined && { 'x-safety-review-id': reviewId })
  }
  return {
    status: status === 401 ? 401 : 403,
    headers,
    body: JSON.stringify({ error: code, message, ...fields, request_id: requestId })
  }
}
