/** The contract of the audit store. `index.ts` has the rules of all contracts. */
import type { Environment } from './keys.js'

/** One line of the audit: facts only, never a text, a key or a matched phrase. */
export interface AuditRow {
  at: number
  /** The event, from a closed set of the caller's: `key.revoked`, `evaluation`, `fail_open`, … */
  kind: string
  account: string | null
  /** The acting key or user. Null: the program itself, or the command line. */
  keyId: string | null
  /** The object: the id of an evaluation, a review, a key, … */
  subject: string | null
  data: Readonly<Record<string, unknown>>
}

/** A row in its chain, as it is stored, exported and verified. */
export interface ChainedRow extends AuditRow {
  /** Ascends over all nodes of a storage. */
  seq: number
  node: string
  /** 1, 2, 3, … within the node. */
  position: number
  /** SHA-256, hex, of the hash before it, a line feed, and the row's canonical JSON. */
  hash: string
}

/** The extent of a chain. */
export interface ChainHead {
  node: string
  /** The last row. */
  position: number
  hash: string
  /** The last row that retention removed, after which the chain begins. 0: none. */
  removed: number
  /** The hash of that row, or `genesis`. */
  removedHash: string
}

/** Search terms of a row for a verdict or failed call: its decision, each of its rules, and so on. */
export const markNames = [
  'rule',
  'category',
  'reader',
  'code',
  'status',
  'decision',
  'model',
  'upstream',
  'route'
] as const
export type MarkName = (typeof markNames)[number]
/** A decision to look for: any but `permit`. */
export const stopped = 'stopped'

export interface AuditFilter {
  account?: string | undefined
  /** Beside those of `account` also the rows of none: what the program did, for the account that operates it. */
  withProgram?: boolean | undefined
  kind?: string | undefined
  keyId?: string | undefined
  subject?: string | undefined
  node?: string | undefined
  /** All of them. */
  marks?: { readonly [Name in MarkName]?: string | undefined } | undefined
  /** Range of the risk, both inclusive. */
  minScore?: number | undefined
  maxScore?: number | undefined
  /** Both inclusive, ms. */
  from?: number | undefined
  to?: number | undefined
}

/** Decisions in the order of the charts. */
export const courseDecisions = ['permit', 'depends', 'divert', 'forbid'] as const

/** Numbers of verdicts by decision and time step. */
export interface AuditCourse {
  /** Start of the counted time: later than `from` where the rows exceed the limit of one course. */
  countedFrom: number
  points: { [Decision in (typeof courseDecisions)[number]]: number }[]
}

export interface AuditStore {
  /**
   * Queues a row; rows commit in groups, within 100 ms, in order. Never blocks and never throws. While the storage is
   * down rows wait, on disk if there is a spool, up to a bound. Beyond it the oldest are dropped, counted in `dropped`,
   * and replaced by a row `audit.lost`.
   */
  append(row: AuditRow): void
  /** Commits at once; resolves when the row is committed, and rejects but keeps the row on failure. */
  commit(row: AuditRow): Promise<void>
  /** Resolves when every row queued so far is committed; rejects but keeps the rows on failure. */
  flush(): Promise<void>
  /** In order of commit, or the newest first; `after` is an exclusive `seq` in that order. */
  read(page: {
    filter?: AuditFilter | undefined
    order?: 'oldest' | 'newest' | undefined
    after?: number | undefined
    limit: number
  }): Promise<ChainedRow[]>
  /**
   * Counts verdicts (`evaluation`) that fit, in steps of `step` ms from `from` up to `to`, which is exclusive. Some
   * thousand rows that were stored much later than made may hide older ones.
   */
  course(asked: {
    filter: Omit<AuditFilter, 'account' | 'withProgram' | 'kind' | 'subject' | 'from' | 'to'> & { account: string }
    from: number
    to: number
    step: number
  }): Promise<AuditCourse>
  /** Every chain, in order of the nodes' names. */
  heads(): Promise<ChainHead[]>
  /** One chain, in order; `after` is an exclusive position. */
  chain(node: string, page: { after: number; limit: number }): Promise<ChainedRow[]>
  /** Removes the rows of each chain that are older than `before`; the head records this. @returns how many rows */
  prune(before: number, limit: number): Promise<number>
  readonly dropped: number
  /** Whether the last commit failed. */
  readonly isFailing: boolean
  /** Rows that are not committed yet. */
  readonly waiting: number
}

/** The judged amount of one key on one day. */
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
