/** Records calls without a verdict, from all edges: counts, logs and audits them. */
import type { Clock } from '../base/clock.js'
import { errorTable } from '../base/errors.js'
import { EncoderError, type EncoderFailure } from '../encoder/index.js'
import type { Caller } from '../identity/caller.js'
import type { AuditStore } from '../storage/contracts/audit.js'
import { describeError, type Log } from './log.js'
import type { Metrics } from './metrics.js'
import type { SentTo, Surface } from './record.js'

export type FailureCause = 'timeout' | 'error'

export interface Unjudged {
  surface: Surface
  /** Id of the route, or the path of the endpoint. */
  route: string
  requestId: string
  sentTo?: SentTo | undefined
  caller: Pick<Caller, 'accountId' | 'keyId'>
  error: unknown
  /** True where the route's `on_failure: open` lets it pass all the same. */
  passed: boolean
}

/** @returns a promise only where a pass must wait for the commit of its row; it is rejected where that failed */
export type UnjudgedRecorder = (unjudged: Unjudged) => Promise<void> | undefined

export interface UnjudgedDeps {
  metrics: Pick<Metrics, 'evaluatorFailures' | 'failOpen'>
  audit: Pick<AuditStore, 'append' | 'commit'>
  clock: Clock
  log: Log
  /** Read at each use. */
  settings: { readonly required: boolean }
}

export function createUnjudgedRecorder({ metrics, audit, clock, log, settings }: UnjudgedDeps): UnjudgedRecorder {
  return ({ surface, route, requestId, sentTo, caller, error, passed }) => {
    const cause = causeOf(error)
    metrics.evaluatorFailures.inc({ surface, cause })
    if (passed) {
      metrics.failOpen.inc({ route, cause })
      log.warn({ request_id: requestId, route, cause, err: describeError(error) }, 'passed without a verdict')
    }
    const { accountId: account, keyId } = caller
    const refused = passed
      ? undefined
      : { code: 'evaluator_unavailable', status: errorTable.evaluator_unavailable.status }
    const data = { ...refused, surface, route, cause, upstream: sentTo?.upstream, model: sentTo?.model }
    const kind = passed ? 'fail_open' : 'fail_closed'
    const row = { at: clock.now(), kind, account, keyId, subject: requestId, data }
    if (passed && settings.required) return audit.commit(row)
    audit.append(row)
    return undefined
  }
}

/** Failures of the encoder that more processors would have spared; the others are faults. */
const forWantOfTime: ReadonlySet<EncoderFailure> = new Set(['deadline', 'queue_full'])

/** Searches the whole chain of causes, since the evaluator wraps errors. */
function causeOf(error: unknown): FailureCause {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each.name === 'TimeoutError' || each.name === 'AbortError') return 'timeout'
    if (each instanceof EncoderError && forWantOfTime.has(each.failure)) return 'timeout'
  }
  return 'error'
}
