/**
 * The admission of every request, on every edge: key → address → scope → limits (docs/api.md, section 1), so that a
 * leaked key used from elsewhere spends nothing. Independent of the transport. A refusal is a return value; only a
 * failure to decide is thrown.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../base/clock.js'
import { type ErrorCode, Fault } from '../base/errors.js'
import { concurrencyFault, failedAuthFault, limitFault, windowsFault } from '../limits/fault.js'
import type { Limiter, LimitState } from '../limits/limit.js'
import { Concurrency, minuteMs } from '../limits/limiter.js'
import { createMemoryCounters } from '../storage/shared/local.js'
import { addressBucket } from './address.js'
import type { Caller } from './caller.js'
import { presentedKey } from './credentials.js'
import type { ParsedKey } from './key-format.js'
import type { LastUsed } from './last-used.js'
import { admits, insufficientScope, type Scope } from './scopes.js'
import type { Verified, Verifier } from './verify.js'

export type { Caller } from './caller.js'

/** Why a request was not admitted: the closed set of the metric's label. */
export const denialReasons = [
  'api_key_required',
  'invalid_api_key',
  'failed_auth_limit',
  'ip_not_allowed',
  'insufficient_scope',
  'rate_limit_exceeded',
  'concurrency_limit_exceeded',
  'storage_unavailable'
] as const
export type DenialReason = (typeof denialReasons)[number]

export interface AdmissionRequest {
  headers: IncomingHttpHeaders
  /** The client's address, as `clientAddress` gives it. */
  address: string
  /** Undefined: any valid key. */
  scope: Scope | undefined
  /** Cost of the request against the key's limit; 0 does not count. */
  cost: number
  /** Lower-case names of further headers that carry the key on this route. */
  keyHeaders?: readonly string[] | undefined
  /**
   * Receives a function that releases the request's place among the key's concurrent requests. Call it when the request
   * is over, also after a later refusal. Undefined: the request takes no place.
   */
  onPlace?: ((letGo: () => void) => void) | undefined
}

export interface Admitted {
  caller: Caller
  /** Absent where the request does not count. */
  limit?: LimitState
}

type MaybePromise<T> = T | Promise<T>

export interface Admission {
  /** Synchronous where the key is cached and the counters are in memory. */
  admit(request: AdmissionRequest): MaybePromise<Admitted | Fault>
  /** Charges more to the limit of an admitted caller, all or nothing: a batch counts by its elements. */
  charge(caller: Caller, cost: number): MaybePromise<LimitState | Fault>
  /** The same for windows of the encoder. @param refuses false: an excess is not counted and gives no fault */
  chargeWindows(caller: Caller, windows: number, refuses: boolean): MaybePromise<LimitState | Fault>
}

export interface AdmissionDeps {
  verifier: Verifier
  lastUsed: Pick<LastUsed, 'mark'>
  limiter: Limiter
  clock: Clock
  docsUrl: string
  /** Read at each failure. */
  limits: { readonly failedAuthPerAddressPerMinute: number }
  denied?: ((reason: DenialReason) => void) | undefined
  /** Called when a request takes a place of its key, and when it is over. */
  underWay?: ((by: 1 | -1) => void) | undefined
}

/** Bound on the addresses whose failures are remembered, about 20 MB when every one of them is an attacker's. */
const maxAddresses = 20_000
/**
 * Beyond its limit of failures an address may still try this multiple of it in keys that were not seen here lately,
 * each for one lookup. So a valid key behind an attacker's address suffers only under a flood of well-formed keys, and
 * not once it is known; an attacker gains 1,000 lookups a minute against 2^250 keys.
 */
const trialsPerFailure = 10

export function createAdmission(deps: AdmissionDeps): Admission {
  const { verifier, lastUsed, limiter, limits, docsUrl } = deps
  // Coarse, since this counter is for floods: entries per second take a hundredth of the memory.
  const failures = createMemoryCounters({ clock: deps.clock, maxCounters: maxAddresses, grainMs: 1000 })
  const concurrency = new Concurrency((by) => deps.underWay?.(by))
  const trials = createMemoryCounters({ clock: deps.clock, maxCounters: maxAddresses, grainMs: 1000 })

  function deny(reason: DenialReason, fault: Fault): Fault {
    deps.denied?.(reason)
    return fault
  }

  function unauthorised(code: Extract<ErrorCode, 'api_key_required' | 'invalid_api_key'>): Fault {
    // RFC 9110, section 11.6.1: a 401 names a scheme.
    const headers = { 'www-authenticate': 'Bearer realm="sluicegate"' }
    return deny(code, new Fault(code, { fields: { docs: docsUrl }, headers }))
  }

  function tooManyFailures(limit: number, retryMs: number): Fault {
    return deny('failed_auth_limit', failedAuthFault(limit, Math.max(1, Math.ceil(retryMs / 1000))))
  }

  /** Only failures are counted, so good traffic never is. */
  function failed(address: string): Fault {
    const limit = limits.failedAuthPerAddressPerMinute
    const { allowed, retryMs } = failures.take(addressBucket(address), 1, limit, minuteMs)
    return allowed ? unauthorised('invalid_api_key') : tooManyFailures(limit, retryMs)
  }

  /** A 429 without a lookup, for a key that an exhausted address may not try. */
  function refuseTrial(key: ParsedKey, address: string): Fault | undefined {
    if (failures.size === 0) return undefined
    const bucket = addressBucket(address)
    const limit = limits.failedAuthPerAddressPerMinute
    const { remaining, resetMs } = failures.take(bucket, 0, limit, minuteMs)
    if (remaining > 0 || verifier.recognises(key)) return undefined
    const trial = trials.take(bucket, 1, limit * trialsPerFailure, minuteMs)
    return trial.allowed ? undefined : tooManyFailures(limit, Math.max(resetMs, trial.retryMs))
  }

  function admitVerified(verified: Verified | undefined, request: AdmissionRequest): MaybePromise<Admitted | Fault> {
    if (!verified) return failed(request.address)
    const { caller, allows } = verified
    if (allows && !allows(request.address)) {
      const message = `The address ${request.address} is not on the list of this API key.`
      return deny('ip_not_allowed', new Fault('ip_not_allowed', { message }))
    }
    lastUsed.mark(caller.keyId)
    if (request.scope !== undefined && !admits(caller.scopes, request.scope)) {
      return deny('insufficient_scope', insufficientScope(request.scope, caller.scopes))
    }
    if (request.onPlace !== undefined) {
      const letGo = concurrency.take(caller.lineage, caller.maxConcurrent)
      if (letGo === undefined) return deny('concurrency_limit_exceeded', concurrencyFault(caller.maxConcurrent))
      request.onPlace(letGo)
    }
    if (request.cost === 0) return { caller }
    return then(charge(caller, request.cost), (limit) => (limit instanceof Fault ? limit : { caller, limit }))
  }

  function charge(caller: Caller, cost: number): MaybePromise<LimitState | Fault> {
    return then(limiter.charge(caller, cost), (state) =>
      state.allowed ? state : deny('rate_limit_exceeded', limitFault(state))
    )
  }

  return {
    admit(request) {
      const presented = presentedKey(request.headers, request.keyHeaders)
      if (presented.kind === 'none') return unauthorised('api_key_required')
      if (presented.kind === 'unusable') return failed(request.address)
      const refused = refuseTrial(presented.key, request.address)
      if (refused) return refused
      const verified = verifier.verify(presented.key)
      if (!(verified instanceof Promise)) return admitVerified(verified, request)
      return verified.then(
        (verified) => admitVerified(verified, request),
        (error) => {
          if (error instanceof Fault) return deny('storage_unavailable', error)
          throw error
        }
      )
    },
    charge,
    chargeWindows: (caller, windows, refuses) =>
      then(limiter.chargeWindows(caller, windows), (state) =>
        state.allowed || !refuses ? state : deny('rate_limit_exceeded', windowsFault(state))
      )
  }
}

/** Continues synchronously with a synchronous value: a promise would cost the hot path a turn of the event loop. */
function then<T, R>(value: MaybePromise<T>, next: (value: T) => R): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
