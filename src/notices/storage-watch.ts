/**
 * Watches whether the storage accepts this process's writes. A failing storage can neither store alerts about itself
 * nor elect a reporting process, so the other shared state (Redis, the primary of workers) chooses one.
 */
import type { AlertRow } from '../storage/contracts/alerts.js'
import type { DeliveryRow } from '../storage/contracts/reviews.js'
import type { CounterStore } from '../storage/contracts/shared-state.js'
import type { Condition } from './kinds.js'
import { messagesOf, type Telling } from './messages.js'
import { transitions } from './transitions.js'

/** Processes notice it within this time of each other, and only one reports it. */
const oneTellsMs = 60_000
const watched = new Set(['storage_down'] as const)

export interface StorageWatchDeps {
  node: string
  /** Time of the last successful regular write, wall time in ms. */
  writtenAt(): number
  /** Writes it once more; never rejects. */
  write(): Promise<void>
  /** Whether the journal is failing. */
  isFailing(): boolean
  counters: CounterStore
  /** Sends without the storage. */
  send(rows: readonly DeliveryRow[]): void
}

export class StorageWatch {
  readonly #deps: StorageWatchDeps
  #rows: AlertRow[] = []
  #failingSince: number | undefined

  constructor(deps: StorageWatchDeps) {
    this.#deps = deps
  }

  /** The alerts in force here. */
  get rows(): readonly AlertRow[] {
    return this.#rows.filter(({ holds }) => holds)
  }

  /** @param downMs how long it must have failed; undefined: no alert */
  async look(downMs: number | undefined, remindMs: number, telling: Telling): Promise<void> {
    const { node, counters, send, write } = this.#deps
    const found: Condition[] = []
    const isLate = () => downMs !== undefined && telling.now - this.#since(telling.now) >= downMs
    // A process that was blocked itself has not written either, so it tries a write first.
    if (isLate() && this.#rows.every(({ holds }) => !holds)) await write()
    if (isLate()) found.push({ kind: 'storage_down', subject: node, facts: { nodes: [node] } })
    const next = transitions(this.#rows, found, {
      now: telling.now,
      remindMs,
      watched: downMs === undefined ? new Set() : watched
    })
    const kept = next.rows.map(({ alertId }) => alertId)
    this.#rows = [
      ...next.rows,
      ...this.#rows.filter(({ alertId }) => !kept.includes(alertId) && !next.removed.includes(alertId))
    ]
    for (const told of next.told) {
      const { allowed } = await counters.take(`notice ${told.event} storage_down`, 1, 1, oneTellsMs)
      if (allowed) send(messagesOf([told], telling))
    }
  }

  /** Start of the failure; `now` without one. */
  #since(now: number): number {
    const { writtenAt, isFailing } = this.#deps
    this.#failingSince = isFailing() ? (this.#failingSince ?? now) : undefined
    // Regular writes happen every ten seconds.
    return Math.min(writtenAt() + 10_000, this.#failingSince ?? now, now)
  }
}
