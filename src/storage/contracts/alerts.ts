/** The contract of what keeps the alerts: what is wrong now, and what people were told of it. `index.ts` says what holds for every contract. */
import type { DeliveryRow } from './reviews.js'

/** Something that is wrong, or was until lately. */
export interface AlertRow {
  alertId: string
  /** In a closed set of the caller's: see `notices/kinds.ts`. */
  kind: string
  /** Which one of its kind: a judge, an upstream, the id of a key. Empty where there is but one. */
  subject: string
  /** Counts, times and names: see `notices/kinds.ts`. */
  facts: Readonly<Record<string, unknown>>
  since: number
  /** Whether it was seen to hold at the last look, and when it was seen last. */
  holds: boolean
  heldAt: number
  /** Null while it is in force: it is for a while after it was seen last. */
  endedAt: number | null
  /** How often people were told since it began: 0, then 1, and 2 with the reminder. */
  told: number
  /** When they were told last, in its life before too. */
  toldAt: number | null
}

export interface AlertStore {
  /**
   * Of all processes one watches: true where it is `by` until `now + forMs`. It stays the same as long as it asks before
   * that time.
   */
  watch(wanted: { by: string; now: number; forMs: number }): Promise<boolean>
  /** Oldest first. */
  list(): Promise<AlertRow[]>
  /**
   * Stores alerts, each in the place of the one of its kind and subject, removes others, and stores what people are told:
   * all in one transaction.
   * @returns false, and nothing is done, where another process watches by now
   */
  put(change: {
    by: string
    rows: readonly AlertRow[]
    removed: readonly string[]
    notices: readonly DeliveryRow[]
  }): Promise<boolean>
}
