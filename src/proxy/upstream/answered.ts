/** What an upstream's answer says beside its body: reported for the metrics and the audit, and its own 401 in our words. */
import { Fault } from '../../base/errors.js'
import type { UpstreamRecorder } from '../../observe/upstream-answers.js'
import { ClientGone, type Exchange } from '../exchange.js'
import { modelOf } from '../verdict.js'

/** @param came undefined status: no answer came, and `error` says why */
export function tellAnswered(
  answered: UpstreamRecorder,
  exchange: Exchange,
  upstream: string,
  came: { status: number | undefined; error?: unknown }
): void {
  const { route, inbound, requestVerdict } = exchange
  const { caller, requestId, cancel } = inbound
  // A client that left before the answer proves nothing about the upstream.
  if (cancel.reason instanceof ClientGone) return
  const sentTo = { upstream, model: modelOf(exchange) }
  const evaluation = requestVerdict?.evaluation_id
  answered({ sentTo, route: route.id, requestId, caller, evaluation, ...came, error: came.error ?? cancel.reason })
}

/**
 * A client that got the upstream's own 401 would take its gateway key for wrong. A further try of the same client cannot help.
 * @param key the credential that was used
 */
export function credentialRefused(key: string | undefined): Fault {
  const what = key === undefined ? 'wants a credential, and upstreams.*.key is not set' : 'refuses upstreams.*.key'
  return new Fault('upstream_error', {
    message: "The upstream refuses the gateway's own credentials. The key of this request is in order.",
    headers: { 'x-should-retry': 'false' },
    internal: `status 401: the upstream ${what}`
  })
}
