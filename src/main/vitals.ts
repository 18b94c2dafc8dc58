/**
 * Reports of this process on itself: its metrics, and through the storage, to other processes, their history and its
 * presence.
 */

import type { Clock } from '../base/clock.js'
import { newId } from '../base/ids.js'
import type { Settings } from '../base/settings.js'
import { version } from '../base/version.js'
import type { OpenJudges } from '../judges/open.js'
import { createHistory, type History } from '../observe/history.js'
import type { Log } from '../observe/log.js'
import { createMetrics, type Gauges, type Metrics } from '../observe/metrics.js'
import { tellOutages } from '../observe/outages.js'
import { createPresence, type Presence } from '../observe/presence.js'
import { type Stalls, watchStalls } from '../observe/stalls.js'
import { type Troubles, watchTroubles } from '../observe/troubles.js'
import type { PolicyEvaluator } from '../policy/evaluate/evaluator.js'
import type { KeyringFacts } from '../sealing/keyring.js'
import type { Storage } from '../storage/contracts/index.js'
import type { SharedState } from '../storage/contracts/shared-state.js'

/** The gateway in force, as metrics and alerts read it. */
export interface InForce {
  settings: Settings
  evaluator: PolicyEvaluator
  judges: Pick<OpenJudges, 'states'>
  /** Settings that weaken the guard, in words. */
  weakenings: readonly string[]
  /** Wall time, ms. */
  loadedAt: number
}

export interface SelfDeps {
  storage: Storage
  shared: SharedState
  /** The queue of reviews. */
  reviews: Gauges['reviews']
  alerts: Gauges['alerts']
  clock: Clock
  log: Log
  node: string
  worker: number | undefined
  dataDir: string
  dataKeys(): KeyringFacts
  /** Undefined until a gateway stands. */
  inForce(): InForce | undefined
  encoderWaiting: Gauges['encoderWaiting']
}

export interface Self {
  metrics: Metrics
  /** History of the metrics of all processes. */
  history: History
  /** Which processes serve. */
  presence: Presence
  /** Failures that have lasted lately. */
  troubles: Troubles
  /** Id of this process among all that serve; a restart gets a new one. */
  processId: string
  /** Whether an event loop of this machine was blocked lately. */
  stalls: Stalls
  /** Wall time, ms. */
  startedAt: number
}

export function openSelf({
  storage,
  shared,
  reviews,
  alerts,
  clock,
  log,
  node,
  worker,
  dataDir,
  dataKeys,
  inForce,
  encoderWaiting
}: SelfDeps): Self {
  const stalls = watchStalls(dataDir, log, (at) =>
    storage.audit.append({
      at: clock.now(),
      kind: 'process.stalled',
      account: null,
      keyId: null,
      subject: node,
      data: { at }
    })
  )
  const metrics = createMetrics({
    storage: () => storage.ping(),
    audit: () => storage.audit,
    reviews,
    deadLetters: () => storage.deliveries.dead(),
    alerts,
    sessions: () => shared.sessions.size,
    shared: () => shared.status(),
    policies: () => inForce()?.evaluator.loaded() ?? [],
    weakenings() {
      const current = inForce()
      return current?.weakenings ?? []
    },
    judges: () => inForce()?.judges.states() ?? [],
    encoderWaiting,
    judgesApart: () => stalls.isRecent,
    uncovered: () => inForce()?.evaluator.uncoveredChars() ?? 0
  })
  const troubles = watchTroubles({ metrics, judges: () => inForce()?.judges.states() ?? [], clock })
  const startedAt = clock.now()
  const processId = newId('prc', startedAt)
  const history = createHistory({
    metrics,
    clock,
    store: storage.metrics,
    process: processId,
    rounds: tellOutages(log, 'the history of the metrics waits: the storage does not accept it')
  })
  const presence = createPresence({
    store: storage.processes,
    clock,
    self: { process: processId, node, startedAt },
    facts() {
      const current = inForce()
      return (
        current && {
          version,
          runtime: process.version,
          pid: process.pid,
          worker: worker ?? null,
          loadedAt: current.loadedAt,
          policies: current.evaluator.loaded(),
          weakenings: current.weakenings,
          auditDropped: storage.audit.dropped,
          troubles: troubles.now(),
          dataKeys: dataKeys()
        }
      )
    },
    rounds: tellOutages(log, 'other processes cannot see this one: the storage does not answer')
  })
  return { metrics, history, presence, troubles, processId, stalls, startedAt }
}
