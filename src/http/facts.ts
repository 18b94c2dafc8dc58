/** What the edge knows of one request, kept beside Fastify's own request and read by hooks, handlers and the log. */
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../identity/admission.js'
import type { Scope } from '../identity/scopes.js'
import type { Decision } from '../policy/evaluation.js'

/**
 * How a route is guarded. Every route declares one; a census test fails on a route without it.
 * `public`: no key (health, documents); `key`: a key with `scope`, answered here; `guarded`: a key, and everything that
 * is forwarded is evaluated; `pass`: a key, forwarded as it is by explicit decision (model lists).
 */
export type Posture = 'public' | 'key' | 'guarded' | 'pass'

export interface Access {
  posture: Posture
  scope?: Scope
  /** What one call takes from the key's limit; 0 for management and reads. */
  cost?: number
  /** Header names besides X-API-Key and Authorization that carry the key on this route. */
  keyHeaders?: readonly string[]
}

export interface RequestFacts {
  id: string
  /** Client address after trusted proxies. */
  address: string
  /** Monotonic ms. */
  started: number
  /** Set by admission on every route that needs a key. */
  caller: Caller | undefined
  decision: Decision | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyRequest {
    sluicegate: RequestFacts
  }
}

/** The admitted caller of a route whose access is not public. */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request.sluicegate
  if (caller === undefined) throw new Error('the route reads a caller but admits none')
  return caller
}
