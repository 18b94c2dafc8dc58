/** The contract of what keeps the audit. `index.ts` says what holds for every contract. */
import type { ChainedRow, ChainHead } from '../audit-chain.js'

export type { ChainedRow, ChainHead } from '../audit-chain.js'

/** One line of the audit: facts only, never a text, a key or a matched phrase. */
export interface AuditRow {
  at: number
  /** What happened, in a closed set of the caller's: `key.revoked`, `evaluation`, `fail_open`, … */
  kind: string
  account: string | null
  /** Who did it: a key or a user. Null: the program itself, or the command line. */
  keyId: string | null
  /** What it was done to: the id of an evaluation, a review, a key, … */
  subject: string | null
  data: Readonly<Record<string, unknown>>
}

export interface AuditFilter {
  account?: string | undefined
  kind?: string | undefined
  keyId?: string | undefined
  subject?: string | undefined
  node?: string | undefined
  /** Both inclusive, ms. */
  from?: number | undefined
  to?: number | undefined
}

export interface AuditStore {
  /**
   * Queues a row; rows commit in groups, within 100 ms, in order. Never blocks and never throws: while the storage is
   * down the rows wait, on the disk where there is a spool, up to a bound, past which the oldest are dropped, counted in
   * `dropped`, and told of by a row `audit.lost` in their place.
   */
  append(row: AuditRow): void
  /** The same, at once; resolves when the row is committed, and rejects, keeping it, where it cannot be. */
  commit(row: AuditRow): Promise<void>
  /** Resolves when every row queued so far is committed; rejects, keeping the rows, where it cannot be. */
  flush(): Promise<void>
  /** In order of commit, or the newest first; `after` is an exclusive `seq` in that order. */
  read(page: {
    filter?: AuditFilter | undefined
    order?: 'oldest' | 'newest' | undefined
    after?: number | undefined
    limit: number
  }): Promise<ChainedRow[]>
  /** Every chain, in order of the nodes' names. */
  heads(): Promise<ChainHead[]>
  /** One chain, in order; `after` is an exclusive position. */
  chain(node: string, page: { after: number; limit: number }): Promise<ChainedRow[]>
  /** Removes the beginning of each chain that is older than `before`, which its head records. @returns how many rows */
  prune(before: number, limit: number): Promise<number>
  readonly dropped: number
  /** Rows that are not committed yet. */
  readonly waiting: number
}
