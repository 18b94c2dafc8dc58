/** Tells what an upstream answered to one exchange, so that it is counted and, where it failed, found. */
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
  // Who leaves before an answer came says nothing of the upstream.
  if (cancel.reason instanceof ClientGone) return
  const sentTo = { upstream, model: modelOf(exchange) }
  const evaluation = requestVerdict?.evaluation_id
  answered({ sentTo, route: route.id, requestId, caller, evaluation, ...came, error: came.error ?? cancel.reason })
}
