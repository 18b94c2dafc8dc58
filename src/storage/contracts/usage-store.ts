/** The contract of what keeps the usage. `index.ts` says what holds for every contract. */
import type { Environment } from './key-store.js'

/** How much one key had judged on one day. */
export interface UsageRow {
  account: string
  keyId: string
  environment: Environment
  /** `evaluate`, `moderations`, `chat`, `answer`. */
  surface: string
  /** In UTC, `2026-01-31`. */
  day: string
  evaluations: number
  /** UTF-16 units. */
  characters: number
}

export interface UsageStore {
  /**
   * Adds to the day of `at`. Never blocks and never throws: sums are kept in memory and committed in groups, within
   * 100 ms, together with the audit.
   */
  add(use: Omit<UsageRow, 'day'> & { at: number }): void
  /** One account's rows in order of day, key and surface; `from` and `to` are days, both inclusive. */
  read(
    account: string,
    range: {
      from: string
      to: string
      keyId?: string | undefined
      /** Exclusive. */
      after?: Pick<UsageRow, 'day' | 'keyId' | 'surface'> | undefined
      /** Default: all of them. */
      limit?: number | undefined
    }
  ): Promise<UsageRow[]>
}
