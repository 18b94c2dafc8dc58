/**
 * Table types for Kysely: the rows of the contracts, but with JSON text for lists and objects, 0 and 1 for booleans,
 * and generated columns. Times are bigint milliseconds, sealed texts and hashes are bytes. Columns have snake case in
 * the database and camel case here; Kysely's CamelCasePlugin maps the names (`open.ts` of each database adds it).
 */
import type { Generated, Kysely } from 'kysely'
import type { AlertRow } from '../contracts/alerts.js'
import type { ChainedRow, ChainHead, UsageRow } from '../contracts/audit.js'
import type {
  ConstitutionActivation,
  ConstitutionBinding,
  ConstitutionRow,
  ConstitutionState
} from '../contracts/constitutions.js'
import type { DataKeyRow } from '../contracts/data-keys.js'
import type { KeyRow } from '../contracts/keys.js'
import type { PinRow } from '../contracts/pins.js'
import type { MetricsRow, ProcessRow } from '../contracts/processes.js'
import type { QuestionRow, TextsRow } from '../contracts/questions.js'
import type { DeliveryRow, ExceptionRow, ReviewRow } from '../contracts/reviews.js'
import type { SampleRow, SampleTotals } from '../contracts/samples.js'
import type { UpstreamRow } from '../contracts/upstreams.js'
import type { InvitationRow, SessionRow, UserRow } from '../contracts/users.js'

/** A row of a contract with some columns replaced. */
type Stored<Row, Other> = Omit<Row, keyof Other> & Other

export type KeyColumns = Stored<
  KeyRow,
  {
    scopes: string
    ipAllowlist: string
    /** Joined by commas; empty where an earlier version stored the key. */
    roots: string
    selfRotation: number
  }
>

export type ReviewColumns = Stored<
  ReviewRow,
  {
    /** Empty for a deleted text, since the column is not nullable. */
    sealedRequest: Uint8Array
    matchedRules: string
    /** Each between commas, so that one can be found by its name. */
    categories: string
    bytes: number
  }
>

/** The column of the subject is older than messages about keys: it is called after the review. */
export type DeliveryColumns = Omit<DeliveryRow, 'subject'> & { reviewId: string }

export type AlertColumns = Stored<AlertRow, { facts: string; holds: number }>

export type ExceptionColumns = Stored<ExceptionRow, { rules: string; fingerprints: string }>

export type UserColumns = Stored<UserRow, { readsSamples: number }>
export type InvitationColumns = Stored<InvitationRow, { readsSamples: number }>

/** The text is the last column, so that it is read only on request. */
export type SampleColumns = Stored<SampleRow, { matchedRules: string; categories: string }> & { bytes: number }

export type QuestionColumns = Stored<QuestionRow, { topics: string; turns: string }>

export type PinColumns = Stored<PinRow, { isPermitted: number }>

export type AuditColumns = Stored<ChainedRow, { seq: Generated<number>; data: string }>

/** One search term of an audit row, which has several. */
export interface MarkColumns {
  account: string
  /** One of `markNames`, or `score`: the highest of a few steps, and each below it, that the risk reaches. */
  name: string
  value: string
  /** Sequence number of the row; time and risk are copies too. */
  seq: number
  at: number
  score: number
}

/** Progress of a process's journal: one row each, until the process ends. */
export interface JournalColumns {
  journal: string
  number: number
  /** Time of the last group, ms. */
  at: number
}

export type MetricsColumns = Stored<MetricsRow, { counts: string }>
export type ProcessColumns = Stored<ProcessRow, { facts: string }>

type StandingColumns = 'active' | 'activatedOrigin' | 'activatedAt' | 'activatedBy' | 'fileDigest'
/** One row a name. */
export type ConstitutionColumns = Stored<
  ConstitutionState,
  { [Column in StandingColumns]: Generated<ConstitutionState[Column]> }
>

export type ActivationColumns = Omit<ConstitutionActivation, 'seq' | 'from' | 'to'> & {
  seq: Generated<number>
  fromVersion: number | null
  toVersion: number
}

export interface Tables {
  accounts: { id: string; createdAt: number }
  keys: KeyColumns
  reviews: ReviewColumns
  deliveries: DeliveryColumns
  alerts: AlertColumns
  /** One row: the process that watches for alerts, and the end of its lease. */
  alertWatch: { watchId: number; holder: string; until: number }
  exceptions: ExceptionColumns
  audit: AuditColumns
  marks: MarkColumns
  auditHeads: ChainHead
  journals: JournalColumns
  usage: UsageRow
  metrics: MetricsColumns
  processes: ProcessColumns
  users: UserColumns
  userSessions: SessionRow
  invitations: InvitationColumns
  constitutions: ConstitutionColumns
  constitutionVersions: ConstitutionRow
  constitutionActivations: ActivationColumns
  questions: QuestionColumns
  samples: SampleColumns
  sampleTotals: SampleTotals & { account: string }
  texts: TextsRow
  upstreams: UpstreamRow
  pins: PinColumns
  dataKeys: DataKeyRow
  /** One row per route; the number of changes shows others when to reload. */
  constitutionBindings: ConstitutionBinding & { changes: number }
}
export type Database = Kysely<Tables>
