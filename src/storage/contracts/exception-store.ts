/** The contract of what keeps exceptions. `index.ts` says what holds for every contract. */

export const exceptionStates = ['proposed', 'accepted', 'rejected', 'revoked'] as const
export type ExceptionState = (typeof exceptionStates)[number]

/** A decision that someone found wrong, and what people made of that. No text: only fingerprints of texts. */
export interface ExceptionRow {
  exceptionId: string
  account: string
  evaluationId: string
  /** `name@version` of the constitution that decided. */
  policy: string
  rules: readonly string[]
  /** Of a rule and a text each, under a key: see `review/fingerprint.ts`. */
  fingerprints: readonly string[]
  /** The client that the decision was about. */
  lineage: string
  /** The very key of it; null where a version before this one took the proposal. */
  causedBy: string | null
  /** Whether it holds for that client, or for the whole account. */
  scope: 'key' | 'account'
  state: ExceptionState
  sealedNote: Uint8Array | null
  proposedBy: string
  proposedAt: number
  decidedBy: string | null
  decidedAt: number | null
  /** Null until it is accepted: the first moment at which it no longer holds. */
  expiresAt: number | null
}

export interface ExceptionStore {
  /** Stores a proposal, unless one about the same evaluation waits: then the id of that one is returned. Atomic. */
  propose(row: ExceptionRow): Promise<{ exceptionId: string; created: boolean }>
  get(exceptionId: string): Promise<ExceptionRow | undefined>
  /** Over all accounts, newest first; `after` is an exclusive id. */
  list(page: { state?: ExceptionState | undefined; after?: string | undefined; limit: number }): Promise<ExceptionRow[]>
  /** Compare and set from one state to another; false where it is not in the first. */
  decide(
    exceptionId: string,
    from: ExceptionState,
    decision: Pick<ExceptionRow, 'state' | 'scope' | 'decidedBy' | 'decidedAt' | 'expiresAt'>
  ): Promise<boolean>
  /** Those that hold at `now`, over all accounts, in no order. */
  active(now: number): Promise<ExceptionRow[]>
}
