/** What the API answers about constitutions, and of dry runs. */
import type { Category, Decision, Detection } from './verdict-types'

export interface Constitution {
  name: string
  label: string | null
  version: number | null
  origin: string | null
  activated_at: string | null
  activated_by: string | null
  activated_origin: string | null
  in_force: boolean
  extends: string | null
  versions: number
  latest_version: number
}
export interface Version {
  name: string
  version: number
  label: string
  length: number
  origin: string
  note: string | null
  created_at: string
  created_by: string | null
  active: boolean
}

export interface Activation {
  from: number | null
  to: number
  at: string
  by: string | null
  origin: string
}

/** Something wrong in a text of a constitution; line and column from 1. */
export interface Problem {
  line: number
  column: number
  path: string
  message: string
  accepted?: string[]
}
export interface EffectiveRule {
  name: string
  category: Category
  weight: number
  nominate: boolean
  detector: string | null
  kinds: string[] | null
  min_confidence: number | null
  phrases: number
  patterns: number
  direction: string
  roles: string[] | null
}
/** What holds in the end, with what the constitution extends. */
export interface Effective {
  extends: string | null
  readers: string
  bands: { middle: number; high: number }
  categories: Record<Category, { high: string; middle: string; context?: string[] }>
  assume: Record<string, string>
  rules: EffectiveRule[]
}
export interface Checked {
  valid: boolean
  problems: Problem[]
  warnings: Problem[]
  effective: Effective | null
}

/** As much of JSON Schema as the language of constitutions uses. */
export interface JsonSchema {
  type?: string
  description?: string
  enum?: string[]
  properties?: Record<string, JsonSchema>
  patternProperties?: Record<string, JsonSchema>
  items?: JsonSchema
  required?: string[]
  minimum?: number
  maximum?: number
}
export interface ShippedExample {
  text: string
  decision: Decision
  context?: Record<string, string>
  role?: string
  because?: string
}
/** How many of so many measured texts reach each of the points. */
export interface Reached {
  rows: number
  reached: number[]
}
export interface Points {
  measured: { policy: string; rows: number }
  points: number[]
  groups: (Reached & { name: string; harmful: boolean })[]
  categories: Record<Category, { harmful: Reached | null; harmless: Reached }>
}
export interface Language {
  schemas: { whole: JsonSchema; overlay: JsonSchema }
  bases: string[]
  categories: Category[]
  detectors: { name: string; kinds: string[]; groups: string[] }[]
  lists: { name: string; lexicons: string[]; about: string }[]
  formats: string[]
  shipped: { name: string; description: string; source: string; examples: ShippedExample[] }[]
  points: Points | null
}

export interface BoundRoute {
  route: string
  path?: string
  dialect?: string
  upstream?: string
  models?: string[]
  constitution: string | null
  decided_by: 'file' | 'store' | 'default' | null
  in_force: boolean
  file: string | null
  store: { constitution: string | null; at: string; by: string | null; origin: string } | null
}

/** A verdict of a dry run. */
export interface Outcome {
  risk_score: number
  decision: Decision
  matched_rules: string[]
  detections: Detection[]
  decision_time_ms: number
  scores: Record<Category, number>
  policy: string
  missing_context?: string[]
}
export interface Explanation {
  summary: string[]
  thresholds: { middle: number; high: number }
  views: { layer: string; length: number; text?: string; matches: { rule: string; text?: string; weight: number }[] }[]
  rules: { rule: string; category: Category; weight: number; score: number; context: string; context_keys: string[] }[]
}
export interface ChatMessage {
  role: string
  content: string
  name?: string
  tool_call_id?: string
}
export interface TrialText {
  input_text?: string
  /** In its place a chat, as OpenAI writes it. */
  chat?: { messages: ChatMessage[]; tools?: object[] }
  direction?: 'request' | 'answer'
  context?: Record<string, unknown>
  role?: string
  history?: string[]
}
export interface TrialRequest {
  texts?: TrialText[]
  /** In the place of texts. */
  samples?: { decision?: string; limit?: number }
  source?: string
  version?: number
  beside?: string
  explain?: boolean
}
export interface Trial {
  active: { label: string } | null
  candidate: { label: string } | null
  results: {
    index: number
    id?: string
    active?: Outcome | null
    candidate?: Outcome | null
    changed: boolean
    explanation?: { active?: Explanation; candidate?: Explanation }
  }[]
  diff: {
    changed: number
    unchanged: number
    stricter: number
    milder: number
    transitions: { from: string; to: string; count: number }[]
    rules: { rule: string; active: number; candidate: number }[]
  } | null
}
