/** Reports an upstream's answer to one exchange, for the metrics and, on failure, for the audit. */
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
