/** Records of constitutions for the API. Times are ISO 8601 UTC. */
import type {
  ConstitutionActivation,
  ConstitutionOrigin,
  ConstitutionState,
  ConstitutionVersion
} from '../storage/contracts/constitutions.js'

/** One name, with its active and its stored versions. Null before a first activation. */
export interface ConstitutionRecord {
  name: string
  /** `name@version`, as verdicts name it. */
  label: string | null
  version: number | null
  digest: string | null
  origin: ConstitutionOrigin | null
  activated_at: string | null
  activated_by: string | null
  activated_origin: ConstitutionOrigin | null
  /** Whether it is in force in the answering process; a constitution that no route uses is only stored. */
  in_force: boolean
  /** `name@version` of the shipped constitution that the text in force extends. */
  extends: string | null
  versions: number
  latest_version: number
}

export interface VersionRecord {
  name: string
  version: number
  label: string
  /** `version` of the text itself. */
  declared_version: string
  /** SHA-256 of the text in UTF-8, hex. */
  digest: string
  /** UTF-16 units. */
  length: number
  origin: ConstitutionOrigin
  note: string | null
  created_at: string
  /** Id of the key that stored it; null for files and the command line. */
  created_by: string | null
  active: boolean
}

export interface ActivationRecord {
  name: string
  from: number | null
  to: number
  at: string
  by: string | null
  origin: ConstitutionOrigin
}

export function constitutionRecord(
  state: ConstitutionState,
  active: ConstitutionVersion | undefined,
  inForce: boolean,
  base: string | undefined
): ConstitutionRecord {
  return {
    name: state.name,
    label: active === undefined ? null : labelOf(active),
    version: state.active,
    digest: active?.digest ?? null,
    origin: active?.origin ?? null,
    activated_at: state.activatedAt === null ? null : iso(state.activatedAt),
    activated_by: state.activatedBy,
    activated_origin: state.activatedOrigin,
    in_force: inForce && state.active !== null,
    extends: base ?? null,
    versions: state.versions,
    latest_version: state.latest
  }
}

export function versionRecord(version: ConstitutionVersion, active: number | null): VersionRecord {
  return {
    name: version.name,
    version: version.version,
    label: labelOf(version),
    declared_version: version.declared,
    digest: version.digest,
    length: version.length,
    origin: version.origin,
    note: version.note,
    created_at: iso(version.createdAt),
    created_by: version.createdBy,
    active: version.version === active
  }
}

export function activationRecord({ name, from, to, at, by, origin }: ConstitutionActivation): ActivationRecord {
  return { name, from, to, at: iso(at), by, origin }
}

function labelOf({ name, version }: ConstitutionVersion): string {
  return `${name}@${version}`
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
