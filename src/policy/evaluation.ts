/** Types of an evaluation: its input, its detections, its decision (docs/api.md, section 4). */
import type { ChatPart, JsonObject, Picture, Role } from '../base/chat.js'
import type { Category, Decision, DetectionType, Reader } from '../base/decision.js'
import type { TextsSource } from '../base/texts.js'
import type { NameKind, Pay } from '../encoder/index.js'
import type { KeptExplanation } from './explanation.js'

export {
  type Category,
  categories,
  type Decision,
  type DetectionType,
  decisions,
  detectionTypes,
  type Reader,
  readers,
  strictest
} from '../base/decision.js'

/**
 * The view of a text that revealed a finding: `plain`, `unicode`, `leet`, `spaced`, `base64`, `hex`, `url`, `rot13`, …,
 * `joined`; `judge` for a judge's finding.
 */
export type Layer = string

/** One finding. Spans are UTF-16 offsets into the original text, never the text itself. */
export interface Detection {
  type: DetectionType
  category: Category
  /** 0..1 */
  confidence: number
  rule: string
  span: { start: number; end: number }
  layer: Layer
  /** Absent where an earlier version stored it. */
  reader?: Reader
  /** Kind of a name. Such a detection counts in no decision. */
  kind?: NameKind
  /** True where an exception covers this match: it did not count. */
  suppressed?: true
  /** RFC 6901 pointer of the part, on chat surfaces; absent on the evaluate endpoint, whose only text is `input_text`. */
  pointer?: string
}

export type Scores = Record<Category, number>

/** Extra fields stand last, so that the specification's own come first on the wire. */
export interface Evaluation {
  /** 0 (safe) to 1 (dangerous); never contradicts the decision's band. */
  risk_score: number
  decision: Decision
  /** True exactly for `forbid`. */
  is_blocked: boolean
  matched_rules: string[]
  detections: Detection[]
  decision_time_ms: number
  scores: Scores
  evaluation_id: string
  /** `name@version` of the constitution. */
  policy: string
  /** For `depends`: the context keys that would settle it. */
  missing_context?: string[]
  /** For `divert`, where a review was stored. */
  review_id?: string
  /** With `divert` where no review could be opened: why. */
  review_error?: 'review_queue_full'
}

/** The exceptions for one caller. */
export interface Exceptions {
  covers(rule: string, text: string): boolean
}

/** Cancels a call whose caller has left. */
export interface Cancellation {
  readonly reason: Error | undefined
  /** @returns a function that removes the listener */
  onCancel(listener: (reason: Error) => void): () => void
}

/** Speaker of a session's turn: a person, or a model that has called a tool. */
export type Speaker = 'user' | 'assistant'

/** Words of an earlier turn. */
export interface Said {
  readonly role: Speaker
  readonly text: string
}

/** The input of one call, which gets one verdict. */
export interface EvaluationInput {
  parts: readonly ChatPart[]
  joined: readonly (readonly number[])[]
  /** Effective context: already filtered to the keys that count on this surface. */
  context: JsonObject | undefined
  /** Answers of people about earlier texts in it. */
  settled?: readonly Settled[] | undefined
  /** Name of the caller, so that callers take turns. Default: none. */
  whose?: string | undefined
  /** Session of one account, or undefined: `<account>:<session id>`. */
  session: string | undefined
  /** For a tool call: index of the first part with a model's words. Default: the session's turn is a person's. */
  calledFrom?: number | undefined
  /** Set for a tool's result: it is no turn, and the session recognises it where it comes back. */
  isBrought?: boolean | undefined
  /** `request` for what a caller sends, `answer` for what a model says. */
  direction: 'request' | 'answer'
  /** For an answer: the system prompts of its request. A request has its own among its parts. */
  prompts?: readonly string[] | undefined
  /** Whether to find names of persons, places and organisations too. */
  names?: boolean | undefined
  /** Pictures whose texts are among the parts; judges that see pictures are asked about them. */
  pictures?: readonly Picture[] | undefined
  /** Called with each picture that a judge has seen, before the verdict. */
  seen?: ((picture: Picture) => void) | undefined
  /** The exceptions for this caller. */
  exceptions?: Exceptions | undefined
  /** Called for a verdict in a session before it is returned, with the earlier turns that counted, oldest first. */
  recalled?: ((history: readonly Said[]) => void) | undefined
  /** Called with the explanation of a verdict in which anything counted, before it is returned. */
  explained?: ((explanation: KeptExplanation) => void) | undefined
  /** Called where the encoder is asked: the caller should then send more than a word before the next evaluation. */
  raised?: (() => void) | undefined
  /** Charges the caller for windows of the encoder. Default: free. */
  pay?: Pay | undefined
  /** Ends the wait for the encoder, or a judge, when the caller leaves. */
  cancel?: Cancellation | undefined
}

/** An unfinished text: its role, and the categories that are redacted under `permit`. */
export interface Growing {
  role: Role
  direction: 'request' | 'answer'
  redact: readonly (Category | 'names')[]
  /** The part of the same text that has left already, as it is judged with the rest. */
  before?: string
  /** As for an evaluation. */
  prompts?: readonly string[] | undefined
}

/**
 * A person's answer about the topic of a text. It counts as their context for these parts alone, and only where the
 * rules let a context settle them.
 */
export interface Settled {
  /** Indexes of the parts that the question was about. */
  readonly parts: readonly number[]
  /** Indexes of the parts that hold the question and its answer: a match that reaches into them is still about those parts. */
  readonly beside: readonly number[]
  /** Undefined where the answer was unclear: no further question is asked. */
  readonly topic: string | undefined
}

/** A constitution's own texts for people, and the topics that it can ask about. */
export interface Speech {
  readonly texts: TextsSource | undefined
  /** From this score on a category counts. */
  readonly middle: number
  /** Whether a category with this score would be stopped: refused, asked about or handed to people. */
  stops(category: Category, score: number): boolean
  /** Whether every one of the rules that a context can settle would be settled by this topic, and at least one is. */
  settles(rules: readonly string[], topic: string): boolean
  /** The topics that the rules name outright, without `*`, in their order. */
  topicsOf(rules: readonly string[]): readonly string[]
}

/** One version of a constitution. Its holder is judged by it, even if another is put in force meanwhile. */
export interface HeldPolicy {
  /** `name@version` */
  readonly label: string
  readonly speech: Speech
}

/**
 * The policy decision point. Short texts are judged at the end of the event loop's turn, together with all that came in
 * it; long ones off the event loop; doubtful ones wait for the judge that the constitution names. The promise is rejected
 * (never resolved with less) on time-out, crash or partial coverage.
 */
export interface Evaluator {
  /** `constitution` is a name, of which the version in force is used, or a version that is held. */
  evaluate(input: EvaluationInput, constitution?: string | HeldPolicy): Promise<Evaluation>
  /**
   * The settled length of an unfinished text: UTF-16 units from its start in which no rule can begin a new match,
   * whatever follows. Without a loaded constitution nothing is settled.
   */
  settled(text: string, growing: Growing, constitution: string | HeldPolicy): number
  /** The version in force, for the evaluations of one exchange; the name itself where there is none. */
  hold(constitution: string): string | HeldPolicy
  /** Name and version of every loaded constitution, for metrics and logs. */
  loaded(): readonly { name: string; version: string }[]
  close(): Promise<void>
}
