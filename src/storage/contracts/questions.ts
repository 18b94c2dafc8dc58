/** The contracts of the stores of clarification questions, and of operators' texts. */

/** A question that a person got instead of an answer. */
export interface QuestionRow {
  /** Keyed digest of the conversation up to and including the question. */
  questionId: string
  /** Caller of the conversation: `Caller.lineage`. */
  lineage: string
  /** The offered answers, in order. */
  topics: readonly string[]
  /** Numbers of the turns that the question is about, from 0. */
  turns: readonly number[]
  askedAt: number
  expiresAt: number
  /** Keyed digest of the first answer; null until there is one. */
  answer: string | null
  /** The topic of that answer; null where it was unclear. */
  topic: string | null
  /** Keyed digest of the id of the answer with the question, where a later request may name it. */
  answerId: string | null
  /** The earlier request, sealed, for a request that names this answer. */
  sealedRequest: Uint8Array | null
}

export interface QuestionStore {
  /**
   * Stores a question; one with the same digest is replaced. Removes expired questions, and the oldest of the lineage
   * beyond `most`.
   */
  ask(row: QuestionRow, most: number): Promise<void>
  /** The stored, unexpired questions among these digests. */
  find(questionIds: readonly string[], now: number): Promise<QuestionRow[]>
  /** The unexpired question in an answer. */
  findByAnswer(answerId: string, now: number): Promise<QuestionRow | undefined>
  /**
   * Stores the first answer; later ones change nothing.
   * @returns the stored question; undefined where it is gone
   */
  settle(
    questionId: string,
    answer: Pick<QuestionRow, 'topic' | 'expiresAt'> & { answer: string }
  ): Promise<QuestionRow | undefined>
  /** Keeps an answered question for longer. */
  extend(questionId: string, expiresAt: number): Promise<void>
}

/** The texts for people that an account has written over the API. */
export interface TextsRow {
  account: string
  /** Counts up from 1. */
  version: number
  /** JSON. */
  source: string
  changedAt: number
  changedBy: string
}

export interface TextsStore {
  get(account: string): Promise<TextsRow | undefined>
  /** @returns false where `row.version` is not the next one, since another write was faster */
  put(row: TextsRow): Promise<boolean>
}
