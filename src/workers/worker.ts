/** A worker's side of the work that workers share: what it asks the primary, and what it answers. */
import cluster from 'node:cluster'
import type { MetricsPage } from '../api/metrics.js'
import type { Clock } from '../base/clock.js'
import type { Metrics } from '../observe/metrics.js'
import type { Listener, Notice, SharedState } from '../storage/contracts/shared-state.js'
import { type Channel, type End, openChannel } from './channel.js'
import { createWorkerState } from './shared-state.js'

export interface WorkerLink {
  /** Its number among the workers; a worker that replaces another has one of its own. */
  readonly worker: number
  state(clock: Clock): SharedState
  /** Where the process of the encoder listens, which all workers share. */
  encoderHost(): Promise<string>
  /** The page over all workers. */
  metricsPage(own: Metrics): MetricsPage
  /** Tells the primary that requests are served, and how to ask whether they still are. */
  serving(ready: () => Promise<boolean>, stop: () => void): void
}

/** Undefined in a process that is no worker. */
export function linkToPrimary(): WorkerLink | undefined {
  return cluster.isWorker ? openLink(process as End) : undefined
}

function openLink(end: End): WorkerLink {
  const listeners: Listener[] = []
  let metrics: Metrics | undefined
  let ready: () => Promise<boolean> = async () => false
  let stop = () => process.exit(0)
  const primary: Channel = openChannel(end, {
    metrics: () => metrics?.registry.getMetricsAsJSON() ?? [],
    ready: () => ready(),
    stop: () => stop(),
    notice(notice: Notice) {
      for (const listener of listeners) void listener(notice)
    },
    awaitedNotice: (notice: Notice) =>
      Promise.allSettled(listeners.map(async (listener) => listener(notice))).then(() => undefined)
  })
  // Without its primary nobody would count for it, nor stop it.
  process.once('disconnect', () => {
    primary.close()
    stop()
  })
  return {
    worker: cluster.worker!.id,
    state: (clock) => createWorkerState(primary, (listener) => void listeners.push(listener), clock),
    encoderHost: () => primary.ask('encoder') as Promise<string>,
    metricsPage(own) {
      metrics = own
      return { contentType: own.registry.contentType, page: () => primary.ask('page') as Promise<string> }
    },
    serving(isReady, stopNow) {
      ready = isReady
      stop = stopNow as typeof stop
      void primary.ask('serving').catch(() => {})
    }
  }
}
