/** The contract of what keeps the audit. `contracts.ts` says what holds for every contract. */

/** One line of the audit: facts only, never a text, a key or a matched phrase. */
export interface AuditRow {
  at: number
  /** What happened, in a closed set of the caller's: `key.revoked`, `evaluation`, `fail_open`, … */
  kind: string
  account: string | null
  keyId: string | null
  data: Readonly<Record<string, unknown>>
}

export interface AuditStore {
  /**
   * Queues a row; rows commit in groups, within 100 ms, in order. Never blocks and never throws: while the storage is
   * down the rows wait, up to a bound, past which the oldest are dropped and counted in `dropped`.
   */
  append(row: AuditRow): void
  /** Resolves when every row queued so far is committed; rejects, keeping the rows, where it cannot be. */
  flush(): Promise<void>
  /** In order of appending; `seq` ascends, `after` is exclusive. */
  read(page: { after?: number | undefined; limit: number }): Promise<(AuditRow & { seq: number })[]>
  readonly dropped: number
}
