/** The words and shapes of a decision: docs/api.md, section 4. */
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

/** Which view of a text revealed a finding: `plain`, `unicode`, `leet`, `spaced`, `base64`, `hex`, `url`, `rot13`, …, `joined`; `judge` for what a judge said. */
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
  /** Of a name: what it names. Such a detection counts in no decision. */
  kind?: NameKind
  /** True where people have excepted this match: it did not count. */
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

/** What is excepted for the caller at hand. */
export interface Exceptions {
  covers(rule: string, text: string): boolean
}

/** The end of a call whose caller has left. */
export interface Cancellation {
  readonly reason: Error | undefined
  /** @returns what takes the listener off again */
  onCancel(listener: (reason: Error) => void): () => void
}

/** Whose turn of a session it is: a person's, or a model's that has called a tool. */
export type Speaker = 'user' | 'assistant'

/** Words of an earlier turn. */
export interface Said {
  readonly role: Speaker
  readonly text: string
}

/** What is to be judged, in one call, as one verdict. */
export interface EvaluationInput {
  parts: readonly ChatPart[]
  joined: readonly (readonly number[])[]
  /** Effective context: already filtered to the keys that count on this surface. */
  context: JsonObject | undefined
  /** What people have answered of earlier texts in it. */
  settled?: readonly Settled[] | undefined
  /** Whose call it is, so that callers take turns. Default: nobody's. */
  whose?: string | undefined
  /** Session of one account, or undefined: `<account>:<session id>`. */
  session: string | undefined
  /** Of a call of a tool: the first part of what a model says in it. Default: the turn of a session is a person's. */
  calledFrom?: number | undefined
  /** Of what a tool has brought: it is no turn, and its session knows it where it comes back. */
  isBrought?: boolean | undefined
  /** `request` for what a caller sends, `answer` for what a model says. */
  direction: 'request' | 'answer'
  /** Of an answer: the system prompts that it was given under. A request holds its own among its parts. */
  prompts?: readonly string[] | undefined
  /** Whether names of persons, places and organisations are looked for too. */
  names?: boolean | undefined
  /** Pictures whose texts are among the parts: what they show, judges that see are asked. */
  pictures?: readonly Picture[] | undefined
  /** Told of each picture that a judge has seen, before the verdict. */
  seen?: ((picture: Picture) => void) | undefined
  /** What people have excepted for this caller. */
  exceptions?: Exceptions | undefined
  /** Told of a verdict in a session, before it is answered: the turns before this one as they counted, oldest first. */
  recalled?: ((history: readonly Said[]) => void) | undefined
  /** Told how a verdict in which anything counted came about, before it is answered. */
  explained?: ((explanation: KeptExplanation) => void) | undefined
  /** Told where the encoder is asked: what comes next of the same text had better be more than a word. */
  raised?: (() => void) | undefined
  /** What windows of the encoder cost whoever calls. Default: nothing. */
  pay?: Pay | undefined
  /** Ends the wait for the encoder, or a judge, when the caller leaves. */
  cancel?: Cancellation | undefined
}

/** Whose text is being written, and what of it is replaced under `permit`. */
export interface Growing {
  role: Role
  direction: 'request' | 'answer'
  redact: readonly (Category | 'names')[]
  /** What has left of the same text before it, as it is judged with it. */
  before?: string
  /** As for an evaluation. */
  prompts?: readonly string[] | undefined
}

/**
 * What a person has said a text was about, when asked. It counts as their context for these parts alone, within what the
 * rules let a context settle.
 */
export interface Settled {
  /** Indexes of the parts that the question was about. */
  readonly parts: readonly number[]
  /** Indexes of the parts that hold the question and its answer: a match that reaches into them is still about those parts. */
  readonly beside: readonly number[]
  /** Undefined where the answer was unclear: there is nothing more to ask. */
  readonly topic: string | undefined
}

/** What a constitution says to people: its own texts, and what it can ask them. */
export interface Speech {
  readonly texts: TextsSource | undefined
  /** From this score on a category counts. */
  readonly middle: number
  /** Whether every one of the rules that a context can settle would be settled by this topic, and at least one is. */
  settles(rules: readonly string[], topic: string): boolean
  /** The topics that the rules name outright, without `*`, in their order. */
  topicsOf(rules: readonly string[]): readonly string[]
}

/** One version of a constitution. Whoever holds it is judged by it, whatever is put in force meanwhile. */
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
   * Of a text that is still being written, how much is settled: UTF-16 units from its start before which no rule can begin
   * to match any more, whatever follows. A constitution that is not loaded settles nothing.
   */
  settled(text: string, growing: Growing, constitution: string | HeldPolicy): number
  /** The version in force, for the evaluations of one exchange; the name itself where there is none. */
  hold(constitution: string): string | HeldPolicy
  /** Name and version of every loaded constitution, for metrics and logs. */
  loaded(): readonly { name: string; version: string }[]
  close(): Promise<void>
}
