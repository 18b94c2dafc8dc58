/** A worker's link to its primary: its requests, and its answers. */
import cluster from 'node:cluster'
import type { MetricsPage } from '../api/metrics.js'
import type { Clock } from '../base/clock.js'
import type { Metrics } from '../observe/metrics.js'
import type { Listener, Notice, SharedState } from '../storage/contracts/shared-state.js'
import { type Channel, type End, openChannel } from './channel.js'
import { createWorkerState } from './shared-state.js'

export interface WorkerLink {
  /** Its number among the workers; a replacement gets a new one. */
  readonly worker: number
  state(clock: Clock): SharedState
  /** Address of the encoder's shared process. */
  encoderHost(): Promise<string>
  /** The page over all workers. */
  metricsPage(own: Metrics): MetricsPage
  /** Tells the primary that this worker serves, and how to check its readiness. */
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
  // Without its primary a worker could neither share counts nor be stopped.
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
