/** What is kept of what people are told and asked: the questions of conversations, and the texts of operators. */

/** A question that was put to a person in the place of an answer. */
export interface QuestionRow {
  /** Keyed digest of the conversation up to and including the question. */
  questionId: string
  /** Whose conversation it is: `Caller.lineage`. */
  lineage: string
  /** What was offered as an answer, in its order. */
  topics: readonly string[]
  /** Numbers of the turns that the question is about, from 0. */
  turns: readonly number[]
  askedAt: number
  expiresAt: number
  /** Keyed digest of the first answer; null until there is one. */
  answer: string | null
  /** What that answer settled; null where it was unclear. */
  topic: string | null
  /** Keyed digest of the id of the answer that the question stood in, where a later request may name it. */
  answerId: string | null
  /** What the request that names it goes on from, sealed. */
  sealedRequest: Uint8Array | null
}

export interface QuestionStore {
  /**
   * Keeps a question; one of the same digest is asked anew. Questions that are over go, and of one lineage the oldest
   * beyond `most`.
   */
  ask(row: QuestionRow, most: number): Promise<void>
  /** Those of the digests that are kept and not over. */
  find(questionIds: readonly string[], now: number): Promise<QuestionRow[]>
  /** The question that stood in an answer, where it is not over. */
  findByAnswer(answerId: string, now: number): Promise<QuestionRow | undefined>
  /**
   * Notes the first answer; a later one changes nothing.
   * @returns the question as it stands; undefined where it is not kept any more
   */
  settle(
    questionId: string,
    answer: Pick<QuestionRow, 'topic' | 'expiresAt'> & { answer: string }
  ): Promise<QuestionRow | undefined>
  /** Keeps an answered question for longer. */
  extend(questionId: string, expiresAt: number): Promise<void>
}

/** The texts that an account has written over the API. */
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
  /** @returns false where `row.version` is not the one after what stands: somebody else was faster */
  put(row: TextsRow): Promise<boolean>
}
