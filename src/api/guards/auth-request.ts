/**
 * nginx's `auth_request`: a subrequest without a body. nginx reads its status (2xx permits, 401 and 403 are returned to
 * the client, any other becomes a 500) and headers. So every refusal is a 401 or a 403, with the reason in a header.
 * The guard checks the key, its address and its limit, and judges the target and the header `x-safety-text`, which
 * nginx's configuration fills; it never sees a body. Reference:
 * nginx.org/en/docs/http/ngx_http_auth_request_module.html.
 */
import type { FastifyInstance } from 'fastify'
import type { ChatPart } from '../../base/chat.js'
import { type Fault, invalid } from '../../base/errors.js'
import type { ShapedFault } from '../../edge/faults.js'
import { NoQuery } from '../../edge/schemas.js'
import { createGuard, type GuardDeps, type Refusal } from './guard.js'

export const authRequestPath = '/guards/auth-request'

/** The headers whose texts are judged. nginx sends targets percent-encoded and values as they came. */
const judged = ['x-original-uri', 'x-safety-text'] as const

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
        401: { description: 'No key, or one that is not valid. The header x-safety-code has the code.' },
        403: { description: 'Any other refusal, a spent limit included. The header x-safety-code has the code.' }
      }
    },
    async handler(request, reply) {
      const parts: ChatPart[] = []
      for (const name of judged) {
        const value = request.raw.headers[name]
        if (typeof value !== 'string' || value === '') continue
        for (const text of readingsOf(name, value)) parts.push({ role: 'user', text, pointer: name })
      }
      const content = { parts, joined: [], media: [] }
      const { evaluation, refusal } = await guard(request, reply, { content, direction: 'request' })
      if (evaluation !== undefined) {
        reply.headers({
          'x-safety-decision': evaluation.decision,
          'x-safety-score': String(evaluation.risk_score),
          'x-safety-policy': evaluation.policy,
          'x-safety-evaluation-id': evaluation.evaluation_id
        })
      }
      if (refusal === undefined) return reply.code(204).send()
      const { status, headers, body } = fold(refusal)
      return reply
        .code(status as 401 | 403)
        .headers(headers)
        .send(body)
    }
  })
}

/** The raw value, and its percent-decoded form, in which a plus is a space. */
function readingsOf(name: string, value: string): string[] {
  const text = Buffer.from(value, 'latin1').toString()
  if (!/[%+]/.test(text)) return [text]
  try {
    return [text, decodeURIComponent(text.replaceAll('+', ' '))]
  } catch {
    throw invalid(name, 'invalid_format', `${name} is not percent-encoded UTF-8.`)
  }
}

/** A refusal before or after the verdict, in the two statuses that nginx passes on. */
export function fold({
  status,
  code,
  message,
  reviewId
}: Pick<Fault | Refusal, 'status' | 'code' | 'message'> & { reviewId?: string }): ShapedFault {
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-safety-code': code,
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(reviewId !== undefined && { 'x-safety-review-id': reviewId })
  }
  return { status: status === 401 ? 401 : 403, headers, body: JSON.stringify({ error: code, message }) }
}
