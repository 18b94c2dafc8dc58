import type { Generated, Insertable, Selectable } from 'kysely'
import type { ChainedRow, ChainHead } from '../../audit-store.js'

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

export function fromAudit(row: Omit<ChainedRow, 'seq'>): Insertable<AuditTable> {
  const { keyId, data, ...same } = row
  return { ...same, key_id: keyId, data: JSON.stringify(data) }
}

export function toAudit(row: Selectable<AuditTable>): ChainedRow {
  const { key_id: keyId, data, ...same } = row
  return { ...same, keyId, data: JSON.parse(data) }
}

export function toHead({ removed_hash: removedHash, ...same }: AuditHeadsTable): ChainHead {
  return { ...same, removedHash }
}
