/**
 * The tables as Kysely sees them. `tables/` has one file for each store: its tables, and the way between rows and the
 * contract's shapes. Times are bigint milliseconds, lists and objects are JSON text, sealed texts and hashes are bytes:
 * what SQLite and PostgreSQL both hold.
 */
import type { Kysely } from 'kysely'
import type { AuditHeadsTable, AuditTable, JournalsTable } from './tables/audit.js'
import type { ActivationsTable, ConstitutionsTable, VersionsTable } from './tables/constitutions.js'
import type { ExceptionsTable } from './tables/exceptions.js'
import type { AccountsTable, KeysTable } from './tables/keys.js'
import type { MetricsTable, ProcessesTable } from './tables/metrics.js'
import type { DeliveriesTable, ReviewsTable } from './tables/reviews.js'
import type { UsageTable } from './tables/usage.js'
import type { InvitationsTable, UserSessionsTable, UsersTable } from './tables/users.js'

export interface Tables {
  accounts: AccountsTable
  keys: KeysTable
  reviews: ReviewsTable
  deliveries: DeliveriesTable
  exceptions: ExceptionsTable
  audit: AuditTable
  audit_heads: AuditHeadsTable
  journals: JournalsTable
  usage: UsageTable
  metrics: MetricsTable
  processes: ProcessesTable
  users: UsersTable
  user_sessions: UserSessionsTable
  invitations: InvitationsTable
  constitutions: ConstitutionsTable
  constitution_versions: VersionsTable
  constitution_activations: ActivationsTable
}
export type Database = Kysely<Tables>
