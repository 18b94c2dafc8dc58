/** The contract of the store of constitutions. `index.ts` has the rules of all contracts. */

/** Origin of a text or an activation: a file of the configuration, the API, or the command line. */
export const constitutionOrigins = ['file', 'api', 'command'] as const
export type ConstitutionOrigin = (typeof constitutionOrigins)[number]

/** One version, without its text. Never changed once it is stored. */
export interface ConstitutionVersion {
  account: string
  name: string
  /** Ascending within a name. */
  version: number
  /** `version` of the text itself. */
  declared: string
  /** SHA-256 of the text in UTF-8, hex. */
  digest: string
  /** UTF-16 units. */
  length: number
  origin: ConstitutionOrigin
  note: string | null
  createdAt: number
  /** The key that stored it; null for files and the command line. */
  createdBy: string | null
}

export interface ConstitutionRow extends ConstitutionVersion {
  /** YAML, as it was given. */
  source: string
}

export type NewConstitution = Omit<ConstitutionRow, 'version'>

/** The state of one name. */
export interface ConstitutionState {
  account: string
  name: string
  /** How many versions there are, and the highest. */
  versions: number
  latest: number
  /** The version in force, how it came to be, when, and by which key. Null before a first activation. */
  active: number | null
  activatedOrigin: ConstitutionOrigin | null
  activatedAt: number | null
  activatedBy: string | null
  /** Digest of the file that was last taken over; null where no file has had this name. */
  fileDigest: string | null
}

export interface ConstitutionActivation {
  /** Ascends over all names. */
  seq: number
  account: string
  name: string
  from: number | null
  to: number
  at: number
  by: string | null
  origin: ConstitutionOrigin
}

/** A binding of a route to a constitution, made over the API or the command line. */
export interface ConstitutionBinding {
  account: string
  /** The id of the route, as the configuration has it. */
  route: string
  /** Null: the configuration's own again. */
  name: string | null
  at: number
  by: string | null
  origin: ConstitutionOrigin
}

export interface ConstitutionFile extends NewConstitution {
  /** False: does not replace a version activated over the API or the command line. */
  displaces: boolean
}

export type ActivationOutcome =
  | { outcome: 'activated' | 'unchanged'; from: number | null }
  /** The active version differs from `ifActive`. */
  | { outcome: 'other'; from: number | null }
  | { outcome: 'absent' }

export interface ConstitutionStore {
  /**
   * Stores a new version, unless the latest one has the same digest, which is then returned. Its number is the declared
   * one if that is a whole number above all earlier ones, else the next (`nextVersion`). Atomic.
   */
  add(row: NewConstitution): Promise<{ version: ConstitutionVersion; created: boolean }>
  get(account: string, name: string, version: number): Promise<ConstitutionRow | undefined>
  /** Newest first; `before` is an exclusive version number. */
  versions(
    account: string,
    name: string,
    page: { before?: number | undefined; limit: number }
  ): Promise<ConstitutionVersion[]>
  /** One name, or every name in order. */
  states(account: string, name?: string): Promise<ConstitutionState[]>
  /** Puts a version in force and writes the history, in one transaction. `ifActive` makes it compare and set. */
  activate(change: {
    account: string
    name: string
    to: number
    ifActive?: number | null | undefined
    at: number
    by: string | null
    origin: ConstitutionOrigin
  }): Promise<ActivationOutcome>
  /**
   * Takes files over, all or none: a text with a new digest becomes a version. It is activated where `displaces`, or
   * where the active version came from a file.
   * @returns the activations
   */
  adopt(files: readonly ConstitutionFile[], at: number): Promise<ConstitutionActivation[]>
  /** Newest first; `before` is an exclusive `seq`. */
  activations(
    account: string,
    name: string,
    page: { before?: number | undefined; limit: number }
  ): Promise<ConstitutionActivation[]>
  /**
   * Binds a route if its present binding is `ifName` (null: none; undefined: any). Atomic.
   * @returns undefined where it is bound to another
   */
  bind(change: ConstitutionBinding & { ifName?: string | null | undefined }): Promise<ConstitutionBinding | undefined>
  /** The latest binding of each route, in the order of the routes, including null. */
  bindings(account: string): Promise<ConstitutionBinding[]>
  /** Grows with every version, activation and binding of any process on this storage; polling it shows changes. */
  revision(): Promise<number>
}

/** Larger declared numbers are ignored, so that labels stay short and fit every database. */
const mostDeclared = 1_000_000_000

/** The number of a new version: the author's own, where it is ascending. */
export function nextVersion(declared: string, latest: number): number {
  const own = /^[1-9]\d{0,9}$/.test(declared) ? Number(declared) : 0
  return own > latest && own <= mostDeclared ? own : latest + 1
}
