/** The contract of what keeps the samples: sealed texts of what was judged. `index.ts` says what holds for every contract. */
import type { Category, Decision } from '../../policy/evaluation.js'
import type { stopped } from './audit.js'

/** A sample at rest. Its text is sealed (see `sealing/seal.ts`): the store never holds a readable one. */
export interface SampleRow {
  /** Ascends with time. */
  sampleId: string
  /** What the audit knows it by. */
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
  /** Of the detections that counted, each once. */
  categories: readonly Category[]
  upstream: string | null
  model: string | null
  createdAt: number
  sealedText: Uint8Array
}

/** A sample without its text. */
export interface SampleFacts extends Omit<SampleRow, 'sealedText'> {
  /** Of the sealed text. */
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

/** Of one account. */
export interface SampleTotals {
  rows: number
  bytes: number
}

export interface SampleStore {
  /**
   * Stores a group in one transaction, and removes as many of the oldest of each account as its bounds ask for, a few
   * hundred more than came in at most.
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
  /** All that fit. @returns how many */
  removeAll(account: string, filter: SampleFilter): Promise<number>
  totals(account: string): Promise<SampleTotals>
  /**
   * Over all accounts: removes what was created before, and of each account the oldest beyond its bounds.
   * @returns how many, `limit` or so at most
   */
  purge(wanted: { createdBefore: number; bounds: SampleTotals; limit: number }): Promise<number>
}
