import type { Generated, Insertable, Selectable } from 'kysely'
import type { Link } from '../../audit-chain.js'
import type { ChainedRow, ChainHead } from '../../contracts/audit-store.js'

export interface AuditTable {
  seq: Generated<number>
  node: string
  position: number
  at: number
  kind: string
  account: string | null
  key_id: string | null
  subject: string | null
  data: string
  hash: string
}

/** One row a node: see `ChainHead`. */
export interface AuditHeadsTable {
  node: string
  position: number
  hash: string
  removed: number
  removed_hash: string
}

/** How far the journal of a process is stored: one row each, until it ends. */
export interface JournalsTable {
  journal: string
  number: number
  /** Of the last group, ms. */
  at: number
}

export function fromAudit({
  at,
  kind,
  account,
  keyId,
  subject,
  json,
  node,
  position,
  hash
}: Link): Insertable<AuditTable> {
  return { node, position, at, kind, account, key_id: keyId, subject, data: json, hash }
}

export function toAudit(row: Selectable<AuditTable>): ChainedRow {
  const { key_id: keyId, data, ...same } = row
  return { ...same, keyId, data: JSON.parse(data) }
}

export function toHead({ removed_hash: removedHash, ...same }: AuditHeadsTable): ChainHead {
  return { ...same, removedHash }
}
