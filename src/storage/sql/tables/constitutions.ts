import type { Generated, Selectable } from 'kysely'
import type {
  ConstitutionActivation,
  ConstitutionOrigin,
  ConstitutionRow,
  ConstitutionState,
  ConstitutionVersion
} from '../../contracts/constitution-store.js'

/** One row a name: see `ConstitutionState`. */
export interface ConstitutionsTable {
  account: string
  name: string
  versions: number
  latest: number
  active: Generated<number | null>
  activated_origin: Generated<ConstitutionOrigin | null>
  activated_at: Generated<number | null>
  activated_by: Generated<string | null>
  file_digest: Generated<string | null>
}

export interface VersionsTable {
  account: string
  name: string
  version: number
  declared: string
  digest: string
  length: number
  origin: ConstitutionOrigin
  note: string | null
  source: string
  created_at: number
  created_by: string | null
}

export interface ActivationsTable {
  seq: Generated<number>
  account: string
  name: string
  from_version: number | null
  to_version: number
  at: number
  by: string | null
  origin: ConstitutionOrigin
}

/** All but the text, which is long and which a list does not show. */
export const versionColumns = [
  'account',
  'name',
  'version',
  'declared',
  'digest',
  'length',
  'origin',
  'note',
  'created_at',
  'created_by'
] as const

export function fromRow(row: ConstitutionRow): VersionsTable {
  const { createdAt, createdBy, ...same } = row
  return { ...same, created_at: createdAt, created_by: createdBy }
}

export function toVersion(row: Pick<VersionsTable, (typeof versionColumns)[number]>): ConstitutionVersion {
  const { account, name, version, declared, digest, length, origin, note } = row
  const { created_at: createdAt, created_by: createdBy } = row
  return { account, name, version, declared, digest, length, origin, note, createdAt, createdBy }
}

export function toState(row: Selectable<ConstitutionsTable>): ConstitutionState {
  const { account, name, versions, latest, active } = row
  return {
    account,
    name,
    versions,
    latest,
    active,
    activatedOrigin: row.activated_origin,
    activatedAt: row.activated_at,
    activatedBy: row.activated_by,
    fileDigest: row.file_digest
  }
}

export function toActivation(row: Selectable<ActivationsTable>): ConstitutionActivation {
  const { seq, account, name, from_version: from, to_version: to, at, by, origin } = row
  return { seq, account, name, from, to, at, by, origin }
}
