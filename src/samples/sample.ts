/** The shapes of a sample: what was judged, as it is sealed, and as those read it who may. */
import type { JsonObject, Role } from '../base/chat.js'
import type { Category, Decision, Detection } from '../policy/evaluation.js'

/** One text of what was judged, without the names of its place: those can be a caller's words. */
export interface SamplePart {
  role: Role
  text: string
  /** Set where it is the name of a field. */
  isKey?: true
}

/** Where something was found: in which part, at which UTF-16 offsets of it as it is kept. */
export type SampleDetection = Omit<Detection, 'pointer'> & { part: number }

/** What is sealed. */
export interface SampleText {
  direction: 'request' | 'answer'
  parts: SamplePart[]
  /** Runs of parts that a model reads as one. */
  joined: number[][]
  context?: JsonObject
  detections: SampleDetection[]
  scores: Partial<Record<Category, number>>
  /** Whether there was more than is kept of one sample. */
  isCut: boolean
}

/** What a holder of `samples:read` sees in a list. Times are ISO 8601 UTC. */
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
  /** What was replaced for this reading. */
  redacted: string[]
}

/** How samples are kept, and how many there are. */
export interface SampleKeeping {
  what: 'off' | 'stopped' | 'share'
  share: number
  retention_seconds: number
  max_rows: number
  max_bytes: number
  rows: number
  bytes: number
}
