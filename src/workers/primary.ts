/**
 * The primary of several workers: starts them and the process of their encoder, replaces crashed ones, keeps their
 * shared state where there is no Redis, and answers on the operations listener. It judges nothing and opens no storage.
 */
import cluster, { type Worker } from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { drain, listen } from '../edge/listener.js'
import type { Log } from '../observe/log.js'
import type { Notice } from '../storage/contracts/shared-state.js'
import { type Channel, openChannel } from './channel.js'
import { createEncoderHost } from './encoder-host.js'
import { createWorkerMetrics, type Snapshot } from './metrics.js'
import { createOpsListener } from './ops.js'
import { createKeeper } from './shared-state.js'

/** How long a worker may take to answer a scrape or a probe. */
const answerMs = 2_000
/** A worker that ends sooner than this is replaced with growing delay. */
const stableMs = 10_000
const backOffMs = { first: 100, most: 5_000 }

export interface Primary {
  opsUrl: string
  /** Lets every worker finish its requests. */
  close(): Promise<void>
}

/** @param deadlineMs how long workers may take to end @throws an Error where the first workers do not start */
export async function startPrimary(settings: Settings, log: Log, deadlineMs: number): Promise<Primary> {
  const serving = new Map<number, Channel>()
  const keeper = createKeeper(systemClock)
  const encoder = createEncoderHost(log)
  const metrics = createWorkerMetrics({ workers: () => serving.size, sessions: keeper.sessions })
  let isClosing = false
  let backOff = backOffMs.first

  const ask = (operation: string): Promise<[number, unknown][]> =>
    Promise.all(
      [...serving].map(async ([id, channel]): Promise<[number, unknown]> => {
        const late = setTimeout(answerMs, undefined, { ref: false })
        return [id, await Promise.race([channel.ask(operation), late]).catch(() => undefined)]
      })
    )
  const page = {
    contentType: metrics.contentType,
    async page() {
      const answers = (await ask('metrics')).filter(([, snapshot]) => snapshot !== undefined)
      return metrics.page(new Map(answers as [number, Snapshot][]))
    }
  }
  const ready = async () => (await ask('ready')).some(([, isReady]) => isReady === true)

  /** Resolves when the worker serves, and rejects where it ends before. */
  function startWorker(): Promise<void> {
    const worker = cluster.fork()
    const started = performance.now()
    return new Promise((resolve, reject) => {
      const channel = openChannel(worker, {
        ...keeper.handlersFor((notice, as) => tellOthers(worker, notice, as)),
        page: page.page,
        encoder: () => encoder.address(),
        serving() {
          serving.set(worker.id, channel)
          resolve()
        }
      })
      worker.once('exit', (code, signal) => {
        channel.close()
        const served = serving.delete(worker.id)
        metrics.departed(worker.id)
        reject(new Error(`worker ${worker.id} ended before it served (${signal ?? code})`))
        if (served && !isClosing) void replace({ worker: worker.id, code, signal }, performance.now() - started)
      })
    })
  }

  async function tellOthers(from: Worker, notice: Notice, as: 'notice' | 'awaitedNotice'): Promise<void> {
    const others = [...serving].filter(([id]) => id !== from.id)
    await Promise.all(others.map(([, channel]) => channel.ask(as, notice).catch(() => {})))
  }

  async function replace(ended: object, livedMs: number): Promise<void> {
    metrics.restarts.inc()
    backOff = livedMs > stableMs ? backOffMs.first : Math.min(backOff * 2, backOffMs.most)
    log.error({ ...ended, replaced_in_ms: backOff }, 'a worker ended unasked and is replaced')
    for (;;) {
      await setTimeout(backOff)
      if (isClosing) return
      try {
        return await startWorker()
      } catch (error) {
        backOff = Math.min(backOff * 2, backOffMs.most)
        log.error({ reason: (error as Error).message, again_in_ms: backOff }, 'a worker did not start')
      }
    }
  }

  async function stopWorkers(): Promise<void> {
    isClosing = true
    const workers = Object.values(cluster.workers ?? {}) as Worker[]
    for (const [, channel] of serving) void channel.ask('stop').catch(() => {})
    for (const worker of workers) if (!serving.has(worker.id)) worker.process.kill()
    const ended = Promise.all(
      workers.map((worker) => worker.isDead() || new Promise((resolve) => worker.once('exit', resolve)))
    )
    await Promise.race([ended, setTimeout(deadlineMs, undefined, { ref: false })])
    for (const worker of workers) if (!worker.isDead()) worker.process.kill('SIGKILL')
    encoder.close()
  }

  const ops = await createOpsListener({ metrics, page, ready, log })
  const { host, port } = await listen(ops, settings.ops, 'ops')
  try {
    // One worker first: it creates the tables and the first key, and reports a fault only once.
    await startWorker()
    await Promise.all(Array.from({ length: settings.workers - 1 }, startWorker))
  } catch (error) {
    await stopWorkers()
    ops.close()
    throw error
  }
  const reload = () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGHUP')
  }
  process.on('SIGHUP', reload)
  const opsUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  log.info({ workers: settings.workers, ops: opsUrl }, 'workers serve')
  return {
    opsUrl,
    async close() {
      process.off('SIGHUP', reload)
      await stopWorkers()
      await drain(ops, 1_000)
    }
  }
}
