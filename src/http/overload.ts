/**
 * Sheds load before latency collapses: while the event loop lags, work that must be judged is refused at once with 503
 * and Retry-After. Management and health stay answerable.
 */
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { Fault } from '../errors.js'

/** Mean lag of the event loop, ms. A short evaluation takes a tenth of one. */
const maxEventLoopDelay = 1_000
const retryAfterSeconds = 2
/** Reading constitutions and warming up hold the loop: what was measured until then says nothing about load. */
const startMs = 3_000

export async function registerOverload(app: FastifyInstance): Promise<void> {
  let countsFrom = Number.POSITIVE_INFINITY
  app.addHook('onReady', async () => {
    countsFrom = performance.now() + startMs
  })
  await app.register(underPressure, {
    maxEventLoopDelay,
    exposeStatusRoute: false,
    pressureHandler() {
      if (performance.now() < countsFrom) return
      throw new Fault('overloaded', { headers: { 'retry-after': String(retryAfterSeconds) } })
    }
  })
}
