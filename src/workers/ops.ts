/** The operations listener of the primary, which answers for all workers. */
import type { Server } from 'node:http'
import { registerHealth } from '../api/health.js'
import { type MetricsPage, registerMetrics } from '../api/metrics.js'
import { opsRoot } from '../api/root.js'
import { systemClock } from '../base/clock.js'
import { Fault } from '../base/errors.js'
import { registerEdge } from '../edge/edge.js'
import { plainFault } from '../edge/faults.js'
import { buildApp, createListener } from '../edge/listener.js'
import { UnderWay } from '../edge/under-way.js'
import type { Log } from '../observe/log.js'
import type { WorkerMetrics } from './metrics.js'

/** Nothing here takes a body. */
const bodyLimit = 1024
/** How long a scraper may leave its answer unread, ms. */
const writeTimeoutMs = 60_000

export async function createOpsListener(deps: {
  metrics: Pick<WorkerMetrics, 'requests'>
  page: MetricsPage
  ready(): Promise<boolean>
  log: Log
}): Promise<Server> {
  const app = await buildApp(async (app) => {
    // No route here takes a key.
    const admission = {
      admit: () => new Fault('not_found'),
      charge: () => new Fault('not_found'),
      chargeWindows: () => new Fault('not_found')
    }
    registerEdge(app, {
      ...opsRoot,
      admission,
      clientAddress: (peer) => peer,
      clock: systemClock,
      metrics: deps.metrics,
      log: deps.log,
      bodyLimit,
      underWay: new UnderWay(writeTimeoutMs, () => {}),
      shape: (_path, fault, id) => plainFault(fault, id)
    })
    registerHealth(app, deps.ready)
    registerMetrics(app, deps.page, { posture: 'public' })
  })
  return createListener((request, response) => app.routing(request, response))
}
