/**
 * Checks alert conditions regularly. Each process checks its own storage; one elected process checks everything else.
 * Its notifications go to the outbox in the transaction that records them.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../base/clock.js'
import type { NoticeSettings } from '../base/settings.js'
import type { AlertRow, AlertStore } from '../storage/contracts/alerts.js'
import { type ConditionSources, findConditions, watchedKinds } from './conditions.js'
import { type Alert, type AlertKind, alertKinds, alertOf, isAlertKind } from './kinds.js'
import { messagesOf, type Telling } from './messages.js'
import type { StorageWatch } from './storage-watch.js'
import { transitions } from './transitions.js'

/** Checks after which a silent watching process is replaced. */
const looksPerWatch = 4

export interface WatchDeps {
  /** Id of this process in the storage. */
  process: string
  store: AlertStore
  clock: Clock
  sources: ConditionSources
  storage: StorageWatch
  /** Read at each use. */
  settings(): NoticeSettings
  account: string
  publicUrl(): string | undefined
  /** Called when the outbox has new messages. */
  noticed(): void
  /** Called for failed checks, and for the first successful one after them (undefined). */
  failure(error: unknown): void
}

export class Watch {
  readonly #deps: WatchDeps
  #timer: NodeJS.Timeout
  #looking: Promise<void> | undefined
  #isClosed = false
  #isFailing = false

  constructor(deps: WatchDeps) {
    this.#deps = deps
    this.#timer = this.#soon()
  }

  #soon(): NodeJS.Timeout {
    return setTimeout(() => void this.look(), this.#deps.settings().everyMs).unref()
  }

  /** Checks once, and schedules the next check. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
      clearTimeout(this.#timer)
      if (!this.#isClosed) this.#timer = this.#soon()
    })
    return this.#looking
  }

  async #look(): Promise<void> {
    const { storage, settings } = this.#deps
    const { storageDownMs, remindMs } = settings()
    try {
      await storage.look(storageDownMs, remindMs, this.#telling())
      await this.#lookForAll()
      if (this.#isFailing) this.#deps.failure(undefined)
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#deps.failure(error)
      this.#isFailing = true
    }
  }

  async #lookForAll(): Promise<void> {
    const { process: by, store, sources, settings, noticed } = this.#deps
    const current = settings()
    const telling = this.#telling()
    const { now } = telling
    if (!(await store.watch({ by, now, forMs: current.everyMs * looksPerWatch }))) return
    const found = await findConditions(sources, current, now)
    const before = await store.list()
    const next = transitions(before, found, { now, remindMs: current.remindMs, watched: watchedKinds(current) })
    const known = new Map(before.map((row) => [row.alertId, row]))
    const rows = next.rows.filter((row) => !isDeepStrictEqual(row, known.get(row.alertId)))
    if (rows.length === 0 && next.removed.length === 0) return
    const notices = messagesOf(next.told, telling)
    const isStored = await store.put({ by, rows, removed: next.removed, notices })
    if (isStored && notices.length > 0) noticed()
  }

  #telling(): Telling {
    const { settings, account, publicUrl, clock } = this.#deps
    return { settings: settings(), account, publicUrl: publicUrl(), now: clock.now() }
  }

  /**
   * The alerts in force: those of this process, then those of all, oldest first. Without the storage, only those of
   * this process.
   */
  async alerts(): Promise<Alert[]> {
    const { store, storage } = this.#deps
    const own = storage.rows
    const all = await store.list().catch((error) => {
      if (own.length > 0) return []
      throw error
    })
    return [...own, ...all].flatMap((row) =>
      row.holds && isAlertKind(row.kind) ? [alertOf(withKind(row, row.kind))] : []
    )
  }

  /** How many of each kind are in force. */
  async counts(): Promise<Record<AlertKind, number>> {
    const alerts = await this.alerts()
    const count = (kind: AlertKind) => alerts.filter((alert) => alert.kind === kind).length
    return Object.fromEntries(alertKinds.map((kind) => [kind, count(kind)])) as Record<AlertKind, number>
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
  }
}

function withKind(row: AlertRow, kind: AlertKind) {
  return { ...row, kind, facts: row.facts }
}
