/**
 * Records answers of upstreams: counts them, and audits failures and refusals. One place for both, so that counts and
 * rows agree.
 */
import type { Clock } from '../base/clock.js'
import { Fault } from '../base/errors.js'
import type { Caller } from '../identity/caller.js'
import type { AuditStore } from '../storage/contracts/audit.js'
import { type Metrics, statusClass } from './metrics.js'
import type { SentTo } from './record.js'

export interface UpstreamAnswered {
  sentTo: SentTo
  /** Id of the route. */
  route: string
  requestId: string
  caller: Pick<Caller, 'accountId' | 'keyId'>
  /** Id of the verdict that permitted it; undefined without one. */
  evaluation: string | undefined
  /** HTTP status of the upstream; undefined where none came. */
  status: number | undefined
  /** Why none came. */
  error?: unknown
}

export type UpstreamRecorder = (answered: UpstreamAnswered) => void

export interface UpstreamRecorderDeps {
  metrics: Pick<Metrics, 'upstreamRequests'>
  audit: Pick<AuditStore, 'append'>
  clock: Pick<Clock, 'now'>
}

export function createUpstreamRecorder({ metrics, audit, clock }: UpstreamRecorderDeps): UpstreamRecorder {
  return ({ sentTo, route, requestId, caller, evaluation, status: answered, error }) => {
    const fault = error instanceof Fault ? error : undefined
    // A failure without a status of its own counts as the gateway's 502.
    const status = answered ?? fault?.status ?? 502
    const { upstream, model } = sentTo
    metrics.upstreamRequests.of(upstream, answered === undefined ? '5xx' : statusClass(status)).inc()
    if (status < 400) return
    const code = answered === undefined ? (fault?.code ?? 'upstream_error') : undefined
    audit.append({
      at: clock.now(),
      kind: 'upstream_failed',
      account: caller.accountId,
      keyId: caller.keyId,
      subject: evaluation ?? requestId,
      data: { code, model, request_id: requestId, route, status, upstream }
    })
  }
}
