/** The contract of the store of samples, sealed judged texts. `index.ts` has the rules of all contracts. */
import type { Category, Decision } from '../../policy/evaluation.js'
import type { stopped } from './audit.js'

/** A sample at rest. Its text is sealed (see `sealing/seal.ts`): the store never holds a readable one. */
export interface SampleRow {
  /** Ascends with time. */
  sampleId: string
  /** Id of its evaluation in the audit. */
  evaluationId: string
  account: string
  keyId: string
  /** `evaluate`, `moderations`, `chat`, `answer`, `guard`. */
  surface: string
  /** Id of the route, or the path of the endpoint. */
  route: string
  /** `name@version` of the constitution that judged. */
  policy: string
  decision: Decision
  riskScore: number
  matchedRules: readonly string[]
  /** Categories of the counted detections, each once. */
  categories: readonly Category[]
  upstream: string | null
  model: string | null
  createdAt: number
  sealedText: Uint8Array
}

/** A sample without its text. */
export interface SampleFacts extends Omit<SampleRow, 'sealedText'> {
  /** Bytes of the sealed text. */
  bytes: number
}

export interface SampleFilter {
  decision?: Decision | typeof stopped | undefined
  rule?: string | undefined
  category?: Category | undefined
  route?: string | undefined
  keyId?: string | undefined
  evaluationId?: string | undefined
  /** Both inclusive, ms. */
  from?: number | undefined
  to?: number | undefined
}

/** Totals of one account. */
export interface SampleTotals {
  rows: number
  bytes: number
}

export interface SampleStore {
  /**
   * Stores a group in one transaction, and removes the oldest samples of each account beyond its bounds, at most a few
   * hundred more than were added.
   */
  add(rows: readonly SampleRow[], bounds: SampleTotals): Promise<void>
  get(account: string, sampleId: string): Promise<SampleRow | undefined>
  /** Newest first; `after` is an exclusive id. */
  list(
    account: string,
    page: { filter?: SampleFilter | undefined; after?: string | undefined; limit: number }
  ): Promise<SampleFacts[]>
  /** False where there is none. */
  remove(account: string, sampleId: string): Promise<boolean>
  /** Removes all that match. @returns their number */
  removeAll(account: string, filter: SampleFilter): Promise<number>
  totals(account: string): Promise<SampleTotals>
  /**
   * Over all accounts: removes samples created before, and the oldest of each account beyond its bounds.
   * @returns their number, about `limit` at most
   */
  purge(wanted: { createdBefore: number; bounds: SampleTotals; limit: number }): Promise<number>
}
