/**
 * The contract of the store of alerts, present ones and notifications about them. `index.ts` has the rules of all
 * contracts.
 */
import type { DeliveryRow } from './reviews.js'

/** An alert that is or was lately in force. */
export interface AlertRow {
  alertId: string
  /** In a closed set of the caller's: see `notices/kinds.ts`. */
  kind: string
  /** The subject: a judge, an upstream, the id of a key. Empty for kinds with a single subject. */
  subject: string
  /** Counts, times and names: see `notices/kinds.ts`. */
  facts: Readonly<Record<string, unknown>>
  since: number
  /** Whether it held at the last check, and the time when it last held. */
  holds: boolean
  heldAt: number
  /** Null while it is in force, which it stays for a while after it last held. */
  endedAt: number | null
  /** Number of notifications since it began: 0, then 1, and 2 with the reminder. */
  told: number
  /** Time of the last notification, also from an earlier occurrence. */
  toldAt: number | null
}

export interface AlertStore {
  /**
   * Elects one watching process: true where `by` holds the role until `now + forMs`. It keeps the role as long as it
   * renews in time.
   */
  watch(wanted: { by: string; now: number; forMs: number }): Promise<boolean>
  /** Oldest first. */
  list(): Promise<AlertRow[]>
  /**
   * Replaces alerts by kind and subject, removes others, and stores the messages for people, in one transaction.
   * @returns false without any change where another process watches now
   */
  put(change: {
    by: string
    rows: readonly AlertRow[]
    removed: readonly string[]
    notices: readonly DeliveryRow[]
  }): Promise<boolean>
}
