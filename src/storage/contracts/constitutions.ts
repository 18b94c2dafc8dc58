/** The contract of what keeps the versions of constitutions. `index.ts` says what holds for every contract. */

/** Where a text or an activation came from: a file of the configuration, the API, or the command line. */
export const constitutionOrigins = ['file', 'api', 'command'] as const
export type ConstitutionOrigin = (typeof constitutionOrigins)[number]

/** One version, without its text. Never changed once it is stored. */
export interface ConstitutionVersion {
  account: string
  name: string
  /** Ascends by name. */
  version: number
  /** What the text itself says in `version`. */
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

/** What stands of one name. */
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

/** Which constitution judges a route, by the word of the API or the command line. */
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
  /** False: leaves in force what someone activated by the API or the command. */
  displaces: boolean
}

export type ActivationOutcome =
  | { outcome: 'activated' | 'unchanged'; from: number | null }
  /** Not what `ifActive` said. */
  | { outcome: 'other'; from: number | null }
  | { outcome: 'absent' }

export interface ConstitutionStore {
  /**
   * Stores a new version, unless the latest one has the same digest: then that one is the answer. Its number is what the
   * text declares, where that is a whole number above all before, else the next one (`nextVersion`). Atomic.
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
   * Takes files over, all or none: a text whose digest is new becomes a version, and what the file holds is put in force
   * where `displaces`, or where a file is what is in force.
   * @returns what was put in force
   */
  adopt(files: readonly ConstitutionFile[], at: number): Promise<ConstitutionActivation[]>
  /** Newest first; `before` is an exclusive `seq`. */
  activations(
    account: string,
    name: string,
    page: { before?: number | undefined; limit: number }
  ): Promise<ConstitutionActivation[]>
  /**
   * Binds a route, where it is bound to what `ifName` says now (null: to none; undefined: whatever it is). Atomic.
   * @returns undefined where it is bound to another
   */
  bind(change: ConstitutionBinding & { ifName?: string | null | undefined }): Promise<ConstitutionBinding | undefined>
  /** The last word on each route, in the order of the routes, null among them. */
  bindings(account: string): Promise<ConstitutionBinding[]>
  /** Grows with every version, activation and binding of any process on this storage: asked for again and again, it tells when to look. */
  revision(): Promise<number>
}

/** Numbers above are left to the counting: a label stays short, and every database holds it. */
const mostDeclared = 1_000_000_000

/** The number of a new version: so a label says the author's own number wherever the author counts. */
export function nextVersion(declared: string, latest: number): number {
  const own = /^[1-9]\d{0,9}$/.test(declared) ? Number(declared) : 0
  return own > latest && own <= mostDeclared ? own : latest + 1
}
