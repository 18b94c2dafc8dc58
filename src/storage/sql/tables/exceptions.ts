import type { ExceptionRow } from '../../contracts/exception-store.js'

export interface ExceptionsTable {
  exception_id: string
  account: string
  evaluation_id: string
  policy: string
  rules: string
  fingerprints: string
  lineage: string
  caused_by: string | null
  scope: ExceptionRow['scope']
  state: ExceptionRow['state']
  sealed_note: Uint8Array | null
  proposed_by: string
  proposed_at: number
  decided_by: string | null
  decided_at: number | null
  expires_at: number | null
}

export function fromException(row: ExceptionRow): ExceptionsTable {
  return {
    exception_id: row.exceptionId,
    account: row.account,
    evaluation_id: row.evaluationId,
    policy: row.policy,
    rules: JSON.stringify(row.rules),
    fingerprints: JSON.stringify(row.fingerprints),
    lineage: row.lineage,
    caused_by: row.causedBy,
    scope: row.scope,
    state: row.state,
    sealed_note: row.sealedNote,
    proposed_by: row.proposedBy,
    proposed_at: row.proposedAt,
    decided_by: row.decidedBy,
    decided_at: row.decidedAt,
    expires_at: row.expiresAt
  }
}

export function toException(row: ExceptionsTable): ExceptionRow {
  return {
    exceptionId: row.exception_id,
    account: row.account,
    evaluationId: row.evaluation_id,
    policy: row.policy,
    rules: JSON.parse(row.rules),
    fingerprints: JSON.parse(row.fingerprints),
    lineage: row.lineage,
    causedBy: row.caused_by,
    scope: row.scope,
    state: row.state,
    sealedNote: row.sealed_note,
    proposedBy: row.proposed_by,
    proposedAt: row.proposed_at,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    expiresAt: row.expires_at
  }
}
