/**
 * The rules of every store, for all databases. Each contract has one test suite in `test/storage`, run over every
 * implementation.
 *
 * Times are wall-clock milliseconds since the epoch. Every query for an object takes the account, so that foreign
 * objects are absent. A method that resolves has committed; a method that rejects has changed nothing, and rejects with
 * the Fault `storage_unavailable`, or with `Conflict` where two objects claim one unique value (see `failure.ts`).
 */
import type { AlertStore } from './alerts.js'
import type { AuditStore, UsageStore } from './audit.js'
import type { ConstitutionStore } from './constitutions.js'
import type { DataKeyStore } from './data-keys.js'
import type { KeyStore } from './keys.js'
import type { PinStore } from './pins.js'
import type { MetricsStore, ProcessStore } from './processes.js'
import type { QuestionStore, TextsStore } from './questions.js'
import type { DeliveryStore, ExceptionStore, ReviewStore } from './reviews.js'
import type { SampleStore } from './samples.js'
import type { UpstreamStore } from './upstreams.js'
import type { UserStore } from './users.js'

export type * from './alerts.js'
export type * from './audit.js'
export type * from './data-keys.js'
export type * from './keys.js'
export type * from './pins.js'
export type * from './processes.js'
export type * from './questions.js'
export type * from './reviews.js'
export type * from './samples.js'
export type * from './upstreams.js'
export type * from './users.js'

export interface Storage {
  keys: KeyStore
  reviews: ReviewStore
  constitutions: ConstitutionStore
  audit: AuditStore
  usage: UsageStore
  metrics: MetricsStore
  processes: ProcessStore
  users: UserStore
  deliveries: DeliveryStore
  alerts: AlertStore
  exceptions: ExceptionStore
  questions: QuestionStore
  samples: SampleStore
  texts: TextsStore
  upstreams: UpstreamStore
  pins: PinStore
  dataKeys: DataKeyStore
  /** Resolves if the storage answers and takes writes, for readiness. */
  ping(): Promise<void>
  /**
   * Call after a deletion: removes deleted data from all files that this storage writes itself, its log included. For a
   * server (PostgreSQL), its files are the server's task.
   */
  scrub(): Promise<void>
  /**
   * Commits queued rows, then closes everything. An embedded storage becomes one complete file, unless another process
   * has it open. Safe to call twice.
   */
  close(): Promise<void>
}
