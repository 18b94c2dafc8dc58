/**
 * Guards management requests against duplicates: a client that lost an answer cannot know whether its request took
 * effect, and sending it again would make a second key. With `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header) a request takes effect at most once, on whichever node it arrives.
 * Answers are not kept, since some of them hold a secret that is shown once: a repeated request is answered with the
 * fact that it was sent before, and its client looks up the result.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errorTable, Fault, invalid } from '../base/errors.js'
import { namedRequestsFault } from '../limits/fault.js'
import type { CounterStore } from '../storage/contracts/shared-state.js'
import { type Access, callerOf } from './facts.js'
import { type ErrorAnswer, errorResponses } from './schemas.js'

/** How long a key is remembered, ms: longer than clients go on trying. */
export const rememberedMs = 600_000
const rememberedMinutes = rememberedMs / 60_000
/** Keys that are remembered for one caller, which bounds the memory that it takes: more than any management needs. */
export const mostRemembered = 2_000
const header = 'idempotency-key'
const valid = /^[\x21-\x7e]{1,255}$/
const reads: readonly unknown[] = ['GET', 'HEAD', 'OPTIONS']

/** Register it before the routes that it guards: those that change managed objects. */
export function registerDuplicateGuard(app: FastifyInstance, counters: CounterStore): void {
  app.addHook('onRoute', (route) => {
    if (!isGuarded(route.config?.access) || reads.includes(route.method)) return
    const response = { ...(route.schema?.response as Record<string, ErrorAnswer> | undefined) }
    for (const code of ['duplicate_request', 'rate_limit_exceeded'] as const) {
      const { status } = errorTable[code]
      Object.assign(response, errorResponses(...(response[status]?.codes ?? []), code))
    }
    const description = `With the header Idempotency-Key it takes effect at most once in ${rememberedMinutes} minutes, in which a caller may send ${mostRemembered} different ones.`
    const own = route.schema?.description
    route.schema = { ...route.schema, description: own === undefined ? description : `${own} ${description}`, response }
    route.config = { ...route.config, takesIdempotencyKey: true }
  })
  app.addHook('preHandler', async function refuseDuplicate(request) {
    const key = request.headers[header]
    if (key === undefined || reads.includes(request.method) || !isGuarded(request.routeOptions.config?.access)) return
    if (typeof key !== 'string' || !valid.test(key)) {
      throw invalid(header, 'invalid_format', 'Idempotency-Key takes 1 to 255 visible ASCII characters, once.')
    }
    const sent = counterOf(request, key)
    // Looked up first: a repetition uses up nothing, and is told what it is even where no new key may come.
    const { remaining } = await counters.take(sent, 0, 1, rememberedMs)
    if (remaining === 0) throw new Fault('duplicate_request')
    const kept = await counters.take(`${callerOf(request).lineage}/named`, 1, mostRemembered, rememberedMs)
    if (!kept.allowed) {
      throw namedRequestsFault(mostRemembered, rememberedMinutes, Math.max(1, Math.ceil(kept.retryMs / 1000)))
    }
    const { allowed } = await counters.take(sent, 1, 1, rememberedMs)
    if (!allowed) throw new Fault('duplicate_request')
  })
}

function isGuarded(access: Access | undefined): boolean {
  return access?.posture === 'key' && access.cost === 0
}

/** Everyone with access to the shared store can read names of counters: so they hold nothing that clients choose. */
function counterOf(request: FastifyRequest, key: string): string {
  const { accountId, lineage } = callerOf(request)
  const sent = JSON.stringify([accountId, lineage, request.method, request.raw.url, key])
  return `once:${createHash('sha256').update(sent).digest('base64url')}`
}
