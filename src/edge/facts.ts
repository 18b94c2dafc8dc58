/** Facts about one request, kept beside Fastify's own request and read by hooks, handlers and the log. */
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../identity/admission.js'
import type { Scope } from '../identity/scopes.js'
import type { Decision } from '../policy/evaluation.js'
import type { SignedIn } from '../users/user.js'
import type { BodyKind } from './body.js'

/**
 * How a route is guarded. Every route declares one; a census test fails on a route without it.
 * `public`: no key (health, documents, signing in); `key`: a key with `scope`, answered here; `person`: someone who is
 * signed in, whatever their role; `guarded`: a key, and everything that
 * is forwarded is evaluated; `pass`: a key, forwarded as it is by explicit decision (model lists).
 */
export type Posture = 'public' | 'key' | 'person' | 'guarded' | 'pass'

export interface Access {
  posture: Posture
  scope?: Scope
  /** Requests that one call counts against the key's limit; 0 for management and reads. */
  cost?: number
  /** Header names besides X-API-Key and Authorization that carry the key on this route. */
  keyHeaders?: readonly string[]
  /** Whether a signed-in person may call the route without a key. Default: no. */
  people?: 'signed-in' | 'confirmed'
}

/**
 * Access of a management route: never counted against a limit, and open to signed-in people.
 * @param options.confirmed whether a person must have confirmed their identity lately
 */
export function managed(scope?: Scope, { confirmed = false } = {}): Access {
  return { posture: 'key', cost: 0, people: confirmed ? 'confirmed' : 'signed-in', ...(scope && { scope }) }
}

export interface RequestFacts {
  id: string
  /** The route's path as the OpenAPI document writes it; `unmatched` where none was found. */
  route: string
  /** Client address after trusted proxies. */
  address: string
  /** Monotonic ms. */
  started: number
  /** Set by admission on every route that needs a key. */
  caller: Caller | undefined
  /** Set where the caller is a person. */
  signedIn: SignedIn | undefined
  decision: Decision | undefined
  /** Name of the upstream that was asked, for the log of what failed. */
  upstream: string | undefined
  /** Whether its line in the log is for debugging alone: a refusal for overload, or a probe that is told "not ready". */
  isQuiet: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Default: JSON. */
    takes?: BodyKind
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
