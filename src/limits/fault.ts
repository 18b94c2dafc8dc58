/** The 429 of docs/api.md, section 2, and the headers that go with every counted answer (docs/api.md, section 3). */
import { Fault } from '../base/errors.js'
import type { LimitState } from './limit.js'

export function limitHeaders(state: Pick<LimitState, 'limit' | 'remaining' | 'reset'>): Record<string, string> {
  return {
    'x-ratelimit-limit': String(state.limit),
    'x-ratelimit-remaining': String(state.remaining),
    'x-ratelimit-reset': String(state.reset)
  }
}

/** `retry_after` is in whole seconds, as the header is (RFC 9110, section 10.2.3). */
export function limitFault(state: LimitState): Fault {
  return tooMany(
    `${state.limit} request${state.limit === 1 ? '' : 's'} per minute`,
    state.retryAfter,
    limitHeaders(state)
  )
}

/** For a key that has used up its share of the encoder. Without limit headers, which count requests. */
export function windowsFault({ limit, retryAfter }: LimitState): Fault {
  return tooMany(`${limit} windows of text to read closely per minute`, retryAfter, {})
}

/** For a key that has as many requests under way as it may have: one of them may end at any moment. */
export function concurrencyFault(limit: number): Fault {
  const retryAfter = 1
  return new Fault('concurrency_limit_exceeded', {
    message: `Concurrency limit exceeded: ${limit} request${limit === 1 ? '' : 's'} of this key under way at once.`,
    fields: { limit, retry_after: retryAfter },
    headers: { 'retry-after': String(retryAfter) }
  })
}

/** For an address with too many wrong keys. Without limit headers, since there is no key. */
export function failedAuthFault(limit: number, retryAfter: number): Fault {
  return tooMany(`${limit} failed authentications per minute from one address`, retryAfter, {})
}

/** For sign-ins: nobody is locked out, and after a while one more may be tried. */
export function failedSignInFault(limit: number, minutes: number, retryAfter: number): Fault {
  return tooMany(`${limit} failed sign-ins in ${minutes} minutes`, retryAfter, {})
}

/** For a caller whose requests have named themselves too often. Without limit headers, which count other requests. */
export function namedRequestsFault(limit: number, minutes: number, retryAfter: number): Fault {
  return tooMany(`${limit} requests with an Idempotency-Key in ${minutes} minutes`, retryAfter, {})
}

function tooMany(what: string, retryAfter: number, headers: Record<string, string>): Fault {
  return new Fault('rate_limit_exceeded', {
    message: `Rate limit exceeded: ${what}.`,
    fields: { retry_after: retryAfter },
    headers: { ...headers, 'retry-after': String(retryAfter) }
  })
}
