/**
 * What every store must do, whatever holds the rows. Each contract has one suite in `test/storage`, run over every
 * implementation.
 *
 * Times are wall-clock milliseconds since the epoch. Every object query takes the account, so that a foreign object is
 * simply absent. A method that resolves has committed; a method that rejects has changed nothing, and rejects with the
 * Fault `storage_unavailable`, or with `Conflict` where two objects claim one unique value (see `failure.ts`).
 */

import type { AuditStore } from './audit-store.js'
import type { ConstitutionStore } from './constitution-store.js'
import type { DeliveryStore } from './delivery-store.js'
import type { ExceptionStore } from './exception-store.js'
import type { KeyStore } from './key-store.js'
import type { MetricsStore } from './metrics-store.js'
import type { ProcessStore } from './process-store.js'
import type { ReviewStore } from './review-store.js'
import type { UsageStore } from './usage-store.js'
import type { UserStore } from './user-store.js'

export type * from './audit-store.js'
export type * from './counter-store.js'
export type * from './delivery-store.js'
export type * from './exception-store.js'
export type * from './key-store.js'
export type * from './metrics-store.js'
export type * from './process-store.js'
export type * from './review-store.js'
export type * from './usage-store.js'
export type * from './user-store.js'

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
  exceptions: ExceptionStore
  /** Resolves where the storage answers, for readiness. */
  ping(): Promise<void>
  /**
   * After a deletion: what was deleted is read in no file that this storage writes by itself, its own log included. Where a
   * server keeps the files (PostgreSQL), that is the server's.
   */
  scrub(): Promise<void>
  /** Commits what is queued, then lets go of everything. Safe to call twice. */
  close(): Promise<void>
}
