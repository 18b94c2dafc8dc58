/** What the API says of samples: texts of what was judged. */
import type { Category, Decision, Detection } from './verdict-types'

export interface Sample {
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

export interface SampleDetail extends Sample {
  direction: 'request' | 'answer'
  parts: { role: string; text: string; is_key?: true }[]
  context: Record<string, unknown> | null
  /** Each in the part of that number. */
  detections: (Detection & { part: number })[]
  is_cut: boolean
  redacted: string[]
}

export interface SampleKeeping {
  what: 'off' | 'stopped' | 'share'
  share: number
  retention_seconds: number
  max_rows: number
  max_bytes: number
  rows: number
  bytes: number
}
