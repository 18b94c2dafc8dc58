import type { Generated, Insertable, Selectable } from 'kysely'
import type { AuditRow } from '../../audit-store.js'

export interface AuditTable {
  seq: Generated<number>
  at: number
  kind: string
  account: string | null
  key_id: string | null
  data: string
}

export function fromAudit({ at, kind, account, keyId, data }: AuditRow): Insertable<AuditTable> {
  return { at, kind, account, key_id: keyId, data: JSON.stringify(data) }
}

export function toAudit(row: Selectable<AuditTable>): AuditRow & { seq: number } {
  return {
    seq: row.seq,
    at: row.at,
    kind: row.kind,
    account: row.account,
    keyId: row.key_id,
    data: JSON.parse(row.data)
  }
}
