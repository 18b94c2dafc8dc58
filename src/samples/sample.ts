/** Types of a sample: sealed, listed, and opened. */
import type { JsonObject, Role } from '../base/chat.js'
import type { Category, Decision, Detection } from '../policy/evaluation.js'

/** One judged text, without its pointer, which can contain a caller's words. */
export interface SamplePart {
  role: Role
  text: string
  /** Set where it is the name of a field. */
  isKey?: true
}

/** A detection by the index of its part, with UTF-16 offsets into the kept text. */
export type SampleDetection = Omit<Detection, 'pointer'> & { part: number }

/** The sealed content. */
export interface SampleText {
  direction: 'request' | 'answer'
  parts: SamplePart[]
  /** Runs of parts that a model reads as one. */
  joined: number[][]
  context?: JsonObject
  detections: SampleDetection[]
  scores: Partial<Record<Category, number>>
  /** Whether the call exceeded the size of a sample. */
  isCut: boolean
}

/** A sample in a list, for holders of `samples:read`. Times are ISO 8601 UTC. */
export interface SampleRecord {
  sample_id: string
  evaluation_id: string
  created_at: string
  decision: Decision
  risk_score: number
  matched_rules: string[]
  categories: Category[]
  surface: string
  route: string
  policy: string
  upstream: string | null
  model: string | null
  key_id: string
}

/** One sample, opened. */
export interface SampleDetail extends SampleRecord {
  direction: 'request' | 'answer'
  parts: { role: Role; text: string; is_key?: true }[]
  context: JsonObject | null
  detections: SampleDetection[]
  scores: Partial<Record<Category, number>>
  is_cut: boolean
  /** Kinds that were replaced for this reading. */
  redacted: string[]
}

/** The retention and number of samples. */
export interface SampleKeeping {
  what: 'off' | 'stopped' | 'share'
  share: number
  retention_seconds: number
  max_rows: number
  max_bytes: number
  rows: number
  bytes: number
}
