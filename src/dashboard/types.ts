/** What the gateway's API answers, as `/openapi.json` describes it. Times are ISO 8601 UTC. */

import type { Category, Decision, Detection } from './verdict-types'

export * from './verdict-types'

export const scopes = [
  '*',
  'safety:evaluate',
  'safety:metrics',
  'pdp:adjudicate',
  'constitutions:read',
  'constitutions:write',
  'billing:read',
  'keys:rotate',
  'mcp:call'
] as const
/** Beside them keys may have parts of `mcp:call`. */
export type Scope = (typeof scopes)[number] | `mcp:call:${string}`
/** What people hold: `samples:read` is no scope of a key. */
export type HeldScope = Scope | 'samples:read'
export type Role = 'viewer' | 'reviewer' | 'admin'

export interface Session {
  signed_in: boolean
  user?: { user_id: string; login: string; role: Role; signs_in_with: 'password' | 'oidc' }
  scopes?: HeldScope[]
  ends_at?: string
  confirmed_until?: string
  ways?: { password: boolean; oidc: boolean }
  /** Whether the sign-in travels in the clear. */
  plain_http?: boolean
  /** Why one cannot sign in here. */
  why?: string
}

export interface User {
  user_id: string
  login: string
  role: Role
  reads_samples: boolean
  status: 'active' | 'disabled'
  signs_in_with: 'password' | 'oidc'
  created_at: string
  signed_in_at: string | null
}

/** An invitation link that nobody has used yet; only its recipient has the token. */
export interface PendingInvitation {
  invitation_id: string
  role: Role
  created_at: string
  expires_at: string
  created_by: string | null
}

export interface KeyRecord {
  key_id: string
  name: string
  prefix: string
  environment: 'live' | 'test'
  scopes: Scope[]
  ip_allowlist: string[]
  status: 'active' | 'retiring' | 'revoked' | 'expired'
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  rotated_to: string | null
  rate_limit_per_minute: number | null
  max_concurrent: number | null
  created_by: string | null
  lineage: string
  self_rotation: boolean
  terms: { url: string; accepted_at: string; accepted_by: string | null } | null
}

export interface NewKey extends Partial<Record<'rate_limit_per_minute' | 'max_concurrent', number>> {
  name: string
  environment: 'live' | 'test'
  scopes: Scope[]
  ip_allowlist?: string[]
  expires_at?: string
  self_rotation?: boolean
  /** Where the gateway has terms. */
  accept_terms?: true
}

export type ReviewStatus = 'pending' | 'permitted' | 'forbidden' | 'expired'

export interface Review {
  review_id: string
  status: ReviewStatus
  surface: 'evaluate' | 'chat' | 'answer' | 'mcp_definition' | 'mcp_call' | 'mcp_result'
  route: string
  policy: string
  created_at: string
  expires_at: string
  decided_at: string | null
  used_at: string | null
  key_id: string
  decided_by: string | null
  claimed_by: string | null
  claimed_until: string | null
  approved_by: string | null
  approved_at: string | null
  risk_score: number
  matched_rules: string[]
  categories: Category[]
  detections: Detection[]
  digest: string
  purged_at: string | null
}

export interface ReviewDetail extends Review {
  /** The canonical request, JSON; null once deleted. */
  text: string | null
  context: Record<string, unknown> | null
  /** What was said before it and does not stand in it, oldest first. */
  history: { role: string; text: string }[] | null
  note: string | null
  approval_note: string | null
}

export interface Latency {
  count: number
  p50: number | null
  p90: number | null
  p95: number | null
  p99: number | null
}

/** The verdicts of a filter, from the audit. */
export interface AuditCourse {
  from: string
  to: string
  step_seconds: number
  counted_from: string
  evaluations: { total: number; by_decision: Record<Decision, number> }
  points: { at: string; decisions: Record<Decision, number> }[]
}

export interface SafetyMetrics {
  from: string
  to: string
  window_seconds: number
  step_seconds: number
  nodes: number
  processes: number
  evaluations: {
    total: number
    by_decision: Record<Decision, number>
    by_surface: Record<string, Record<Decision, number>>
  }
  categories: Record<Category, number>
  requests: Record<string, number>
  latency: { evaluation: Latency; overhead: Latency }
  upstreams: {
    name: string
    requests: number
    failures: number
    state: 'ok' | 'failing' | 'idle'
    last_failure_at: string | null
  }[]
  reviews: { depth: number; oldest_age_seconds: number }
  limits: { live_per_minute: number; test_per_minute: number }
  /** The limits beyond which there is an alert. */
  thresholds: {
    stopped: { usual: number; low: number | null; high: number | null } | null
    reviews_waiting: { count: number; age_seconds: number } | null
  }
  week_before: WeekBefore | null
  points: {
    at: string
    /** How many processes counted then; 0: no data. */
    processes: number
    decisions: Record<Decision, number>
    categories: Partial<Record<Category, number>>
    requests: Record<string, number>
    evaluation: Latency
    overhead: Latency
  }[]
}

/** The same window of the week before. */
export interface WeekBefore {
  from: string
  to: string
  /** 0..1, the share of the points of which anything is known. */
  covered: number
  evaluations: { total: number; stopped: number }
  p50: number | null
  /** One for each point of the window. */
  points: { known: boolean; evaluations: number; stopped: number; p50: number | null }[]
}

/** Something that is wrong now. */
export interface Alert {
  alert_id: string
  kind: string
  subject: string | null
  since: string
  /** One sentence. */
  summary: string
  /** The page to go to. */
  page: string
}

export interface Alerts {
  alerts: Alert[]
  /** Which channels for notices are configured. */
  notices: { webhook: boolean; email: boolean }
}

export interface Status {
  version: string
  node: string
  runtime: string
  started_at: string
  uptime_seconds: number
  configuration: { loaded_at: string; age_seconds: number; demo: boolean }
  storage: { kind: string; available: boolean }
  audit: { required: boolean; dropped: number }
  policies: { name: string; version: string }[]
  weakenings: string[]
  terms_url: string | null
  exceptions: number
  processes: Process[]
}

export interface Process {
  node: string
  worker: number | null
  pid: number
  version: string
  runtime: string
  started_at: string
  seen_at: string
  state: 'serving' | 'silent'
  answers: boolean
  configuration: { loaded_at: string; age_seconds: number }
  policies: { name: string; version: string }[]
  weakenings: string[]
}

export interface UsageCounts {
  evaluations: number
  characters: number
  billable_evaluations: number
  billable_characters: number
}
export interface Usage {
  from: string
  to: string
  total: UsageCounts
  days: (UsageCounts & { day: string; key_id: string; environment: 'live' | 'test' })[]
}

export const readers = ['rule', 'detector', 'screen', 'encoder', 'judge'] as const

export interface AuditRow {
  seq: number
  at: string
  kind: string
  by: string | null
  subject: string | null
  data: Record<string, unknown>
  node: string
  position: number
  hash: string
}

/** What people read, in the language that was asked for. */
export interface Texts {
  version: number
  /** What was written over the API: sentences by language, audience, occasion and category. */
  texts: {
    language?: string
    region?: string
    /** Whom a person in crisis can turn to, by region; `default` for every other. */
    help?: Record<string, string>
    languages?: Record<string, Record<string, Record<string, string | Record<string, string>>>>
  }
  changed_at: string | null
  changed_by: string | null
  languages: string[]
  sentences: Sentence[]
}

export interface Sentence {
  audience: 'developer' | 'end_user'
  occasion: string
  category: string
  text: string
  from: 'configuration' | 'api' | 'shipped'
}

export type BackendApi = 'openai' | 'anthropic' | 'gemini' | 'ollama' | 'azure'

export interface Upstream {
  name: string
  from: 'configuration' | 'api'
  url: string
  api: BackendApi | null
  has_key: boolean
  in_force: boolean
  version: number | null
  changed_at: string | null
  changed_by: string | null
}

export interface Upstreams {
  upstreams: Upstream[]
  /** Why nobody can connect a backend here; null if administrators may. */
  closed: string | null
}

export interface Delivery {
  delivery_id: string
  event: string
  review_id: string | null
  state: 'waiting' | 'dead'
  attempts: number
  last_error: string | null
  created_at: string
  next_attempt_at: string | null
  key_id: string | null
}

export interface Exception {
  exception_id: string
  state: 'proposed' | 'accepted' | 'rejected' | 'revoked' | 'expired'
  evaluation_id: string
  policy: string
  rules: string[]
  scope: 'key' | 'account'
  key_id: string
  note: string | null
  proposed_by: string
  proposed_at: string
  decided_by: string | null
  decided_at: string | null
  expires_at: string | null
}

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
  /** Each in the part with that index. */
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
