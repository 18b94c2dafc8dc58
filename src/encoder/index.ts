/**
 * The second reader: a small encoder that knows the language, asked about what the first one raised. This is all that the
 * rest of the program knows of it; `open.ts` opens it.
 */
import type { Role } from '../base/chat.js'

/** What the encoder can find: names of policy categories. */
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
  /** The text goes for what a system prompt keeps. A question with a `guard` is read for this kind alone, others for all but this. */
  'guarded'
] as const
export type EncoderKind = (typeof encoderKinds)[number]

/** What its second head finds: names, which stop nothing. */
export const nameKinds = ['person', 'place', 'organisation'] as const
export type NameKind = (typeof nameKinds)[number]

/** UTF-16 offsets in a text. */
export interface Stretch {
  start: number
  end: number
}

export interface EncoderQuestion {
  /** Who speaks. */
  role: Role
  text: string
  /**
   * The chat's system prompts. The encoder reads them by themselves for the sentences that keep something, and the text beside
   * those, for `guarded` alone.
   */
  guard?: string
  /** The stretches that were raised, read first and with their neighbours; none given: all of the text is to be read. */
  spans?: readonly Stretch[]
  /** Whose question it is: who waits takes turns with others. */
  whose: string
  /** Ends the waiting, where nobody needs the reading any more. */
  cancel?: AbortSignal
}

export interface EncoderFinding extends Stretch {
  kind: EncoderKind
  /** 0 to 1: how few harmless texts of unseen sources reach it (`calibration.ts`). */
  confidence: number
}

export interface EncoderReading {
  /** The highest of each kind, from 0.05 on, and the window that it is from. */
  findings: readonly EncoderFinding[]
  /** What was to be read and was not, for there was more than a request may ask for. */
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
 * What a request pays for windows before they are read; those that were read before cost nothing.
 * @returns why it may not have them; undefined: it has paid
 */
export type Pay = (windows: number) => Promise<Error | undefined> | Error | undefined

export interface Encoder {
  /** Names weights and calibration: two encoders with one label give the same readings. */
  readonly label: string
  /**
   * All questions of one request.
   * @param pay Default: nobody pays
   * @throws EncoderError where they could not be read; whoever asks must treat the texts as not permitted
   */
  read(questions: readonly EncoderQuestion[], pay?: Pay): Promise<readonly EncoderReading[]>
  /** Whether system prompts are known to keep nothing: no text needs to be read beside them. False where they were not read yet. */
  keepsNothing(guard: string): boolean
  /** Whether the weights have a head for names. */
  readonly findsNames: boolean
  /**
   * The names in all texts of one request, by question, from left to right.
   * @throws EncoderError where they could not all be read, `too_long` where they are more than is read for one request
   */
  names(questions: readonly NamesQuestion[], pay?: Pay): Promise<readonly (readonly Name[])[]>
  close(): Promise<void>
}

/** Why a text was not read. Never what was in it. */
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

/** What is counted; see `observe/metrics.ts`. */
export interface EncoderReport {
  /** Windows, by whether a thread read them or they were remembered. */
  windows(from: 'model' | 'memory', count: number): void
  /** One window in a thread. */
  window(seconds: number): void
  /** All questions of one request, their waiting included. */
  reading(seconds: number): void
  failure(cause: EncoderFailure): void
}
