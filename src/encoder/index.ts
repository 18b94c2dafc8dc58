/**
 * The interface of the second reader, the encoder: a small language model that reads the texts raised by the first
 * reader. The rest of the program uses only this interface; `open.ts` opens it.
 */
import type { Role } from '../base/chat.js'

/** Kinds of findings: names of policy categories. */
export const encoderKinds = [
  'hate',
  'harassment',
  'violence',
  'self_harm',
  'sexual',
  'illicit',
  'cyber_misuse',
  'weapons',
  'jailbreak',
  'prompt_injection',
  'misinformation',
  'profanity',
  /** The writer may be in danger from himself. Only users' words are read for it; its confidence ends at 0.60. */
  'in_need',
  /**
   * The text tries to get guarded content of a system prompt. A question with a `guard` is read for this kind alone,
   * others for all other kinds.
   */
  'guarded'
] as const
export type EncoderKind = (typeof encoderKinds)[number]

/** Kinds of names, found by its second head; they stop nothing. */
export const nameKinds = ['person', 'place', 'organisation'] as const
export type NameKind = (typeof nameKinds)[number]

/** UTF-16 offsets in a text. */
export interface Stretch {
  start: number
  end: number
}

export interface EncoderQuestion {
  /** Role of the speaker. */
  role: Role
  text: string
  /**
   * The chat's system prompts. The encoder first selects their guarding sentences, then reads the text with those, for
   * `guarded` alone.
   */
  guard?: string
  /** The raised stretches, which are read first and with their neighbours; undefined: all of the text is read. */
  spans?: readonly Stretch[]
  /** What it quotes, none overlapping another: there an attempt to talk to the model has to sound surer. */
  quoted?: readonly Stretch[]
  /** Name of the caller: waiting callers take turns. */
  whose: string
  /** Ends the wait when the reading is no longer needed. */
  cancel?: AbortSignal
}

export interface EncoderFinding extends Stretch {
  kind: EncoderKind
  /** 0 to 1: the higher, the fewer harmless texts of unseen sources reach it (`calibration.ts`). */
  confidence: number
}

export interface EncoderReading {
  /** The highest finding of each kind, from 0.05 on, with its window. */
  findings: readonly EncoderFinding[]
  /** Stretches that were not read because the request exceeded its windows. */
  unread: readonly Stretch[]
}

/** All of a text is read. */
export interface NamesQuestion extends Pick<EncoderQuestion, 'role' | 'text' | 'whose' | 'cancel'> {}

export interface Name extends Stretch {
  kind: NameKind
  /** 0 to 1: the least of its pieces. */
  confidence: number
}

/**
 * Charges a request for windows before they are read; cached ones are free.
 * @returns the error that refuses them; undefined: paid
 */
export type Pay = (windows: number) => Promise<Error | undefined> | Error | undefined

export interface Encoder {
  /** Names weights and calibration: encoders with the same label give the same readings. */
  readonly label: string
  /**
   * Answers all questions of one request.
   * @param pay Default: free
   * @throws EncoderError where they could not be read; the caller must treat the texts as not permitted
   */
  read(questions: readonly EncoderQuestion[], pay?: Pay): Promise<readonly EncoderReading[]>
  /**
   * Whether system prompts are known to guard nothing, so that no text needs to be read with them. False where they
   * were not read yet.
   */
  keepsNothing(guard: string): boolean
  /** Whether the weights have a head for names. */
  readonly findsNames: boolean
  /**
   * The names in all texts of one request, by question, from left to right.
   * @throws EncoderError where not all could be read, `too_long` where they exceed the limit of one request
   */
  names(questions: readonly NamesQuestion[], pay?: Pay): Promise<readonly (readonly Name[])[]>
  close(): Promise<void>
}

/** Reasons why a text was not read; they never quote it. */
export const encoderFailures = [
  'queue_full',
  'deadline',
  'crashed',
  'cancelled',
  'closed',
  'too_long',
  'unpaid'
] as const
export type EncoderFailure = (typeof encoderFailures)[number]

const sentences: Readonly<Record<EncoderFailure, string>> = {
  queue_full: 'too many windows wait for the encoder',
  deadline: 'the encoder did not come to its end in time',
  crashed: 'a thread of the encoder ended',
  cancelled: 'the caller left before the reading',
  closed: 'the encoder is closed',
  too_long: 'there is more to look for names in than is read for one request',
  unpaid: 'the caller has had as many windows as it may have for now'
}

export class EncoderError extends Error {
  override readonly name = 'EncoderError'
  readonly failure: EncoderFailure

  constructor(failure: EncoderFailure, cause?: unknown) {
    super(sentences[failure], cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}

/** Receiver of counts; see `observe/metrics.ts`. */
export interface EncoderReport {
  /** Windows that a thread read, or that were cached. */
  windows(from: 'model' | 'memory', count: number): void
  /** One window in a thread. */
  window(seconds: number): void
  /** All questions of one request, their waiting included. */
  reading(seconds: number): void
  failure(cause: EncoderFailure): void
}
