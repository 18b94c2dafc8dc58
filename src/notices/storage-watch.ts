/**
 * Whether the storage takes what this process writes, as the process itself sees it: what tells of that cannot be kept in
 * the storage, nor agreed on by it. What processes share besides (Redis, the primary of workers) lets one of them tell.
 */
import type { AlertRow } from '../storage/contracts/alerts.js'
import type { DeliveryRow } from '../storage/contracts/reviews.js'
import type { CounterStore } from '../storage/contracts/shared-state.js'
import type { Condition } from './kinds.js'
import { messagesOf, type Telling } from './messages.js'
import { transitions } from './transitions.js'

/** They see it within this time of each other, and then one of them tells. */
const oneTellsMs = 60_000
const watched = new Set(['storage_down'] as const)

export interface StorageWatchDeps {
  node: string
  /** When it last took what is written again and again, wall time in ms. */
  writtenAt(): number
  /** Writes it once more; never rejects. */
  write(): Promise<void>
  /** Of the journal. */
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

  /** In force here. */
  get rows(): readonly AlertRow[] {
    return this.#rows.filter(({ holds }) => holds)
  }

  /** @param downMs how long it must have taken nothing; undefined: it is no alert */
  async look(downMs: number | undefined, remindMs: number, telling: Telling): Promise<void> {
    const { node, counters, send, write } = this.#deps
    const found: Condition[] = []
    const isLate = () => downMs !== undefined && telling.now - this.#since(telling.now) >= downMs
    // A process that stood still itself has not written either: it tries before it says so.
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

  /** Since when nothing, or not everything, is taken; `now` where all is well. */
  #since(now: number): number {
    const { writtenAt, isFailing } = this.#deps
    this.#failingSince = isFailing() ? (this.#failingSince ?? now) : undefined
    // What is written again and again is so every ten seconds.
    return Math.min(writtenAt() + 10_000, this.#failingSince ?? now, now)
  }
}
