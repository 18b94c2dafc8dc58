/**
 * A small client of the gateway's own API, for evaluating texts and managing keys: `sluicegate/client`. It needs nothing but
 * `fetch`, and runs in Node, in other runtimes and in a bundle. The whole API is in `/openapi.json`, from which clients of
 * any language are generated.
 */
import { SluicegateError, UnexpectedAnswerError } from './client/errors.js'
import {
  type Call,
  type CallOptions,
  type ClientOptions,
  createSend,
  type OnceOptions,
  type Send
} from './client/send.js'

export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  SluicegateError,
  TimeoutError,
  UnavailableError,
  UnexpectedAnswerError,
  ValidationError
} from './client/errors.js'
export type { CallOptions, ClientOptions, OnceOptions } from './client/send.js'

export type Decision = 'permit' | 'depends' | 'divert' | 'forbid'

export interface Detection {
  type: string
  category: string
  /** 0 to 1. */
  confidence: number
  rule: string
  /** UTF-16 offsets into the text. */
  span: { start: number; end: number }
  layer: string
  /** Which reader found it. */
  reader?: 'rule' | 'detector' | 'screen' | 'encoder' | 'judge'
  suppressed?: true
  kind?: string
}

export interface Evaluation {
  decision: Decision
  /** 0 to 1. */
  risk_score: number
  /** True exactly for `forbid`. `isPermitted` is what to ask before going on. */
  is_blocked: boolean
  matched_rules: string[]
  detections: Detection[]
  decision_time_ms: number
  scores: Record<string, number>
  evaluation_id: string
  policy: string
  missing_context?: string[]
  review_id?: string
  review_error?: 'review_queue_full'
}

export interface EvaluateInput {
  input_text: string
  context?: Record<string, unknown>
  session_id?: string
  detect?: 'names'[]
}

export interface KeyRecord {
  key_id: string
  name: string
  prefix: string
  environment: 'live' | 'test'
  scopes: string[]
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
  roots: string[]
  self_rotation: boolean
}

export interface CreateKeyInput {
  name: string
  accept_terms?: true
  environment?: 'live' | 'test'
  scopes?: string[]
  ip_allowlist?: string[]
  expires_at?: string
  rate_limit_per_minute?: number
  max_concurrent?: number
  self_rotation?: boolean
}

/** A text that may not go on: what `assertPermitted` throws for every decision but `permit`. */
export class NotPermittedError extends SluicegateError {
  override readonly name = 'NotPermittedError'
  readonly evaluation: Evaluation
  constructor(evaluation: Evaluation) {
    super(`The text may not go on: ${evaluation.decision}.`)
    this.evaluation = evaluation
  }
}

/** Whether a text may go on. Anything that is no whole verdict, an error among it, is a no. */
export function isPermitted(evaluation: unknown): boolean {
  return isEvaluation(evaluation) && evaluation.decision === 'permit' && !evaluation.is_blocked
}

const decisions: readonly unknown[] = ['permit', 'depends', 'divert', 'forbid'] satisfies Decision[]

function isEvaluation(value: unknown): value is Evaluation {
  if (typeof value !== 'object' || value === null) return false
  const { decision, is_blocked: isBlocked, evaluation_id: id } = value as Partial<Evaluation>
  return decisions.includes(decision) && isBlocked === (decision === 'forbid') && typeof id === 'string'
}

export class Sluicegate {
  readonly keys: Keys
  readonly #send: Send

  /** @throws TypeError for a `baseUrl` that is no URL, and for an `apiKey` that is empty */
  constructor(options: ClientOptions) {
    this.#send = createSend(options)
    this.keys = new Keys(this.#send)
  }

  /**
   * The verdict on one text.
   * @throws SluicegateError where there is none: never taken for a permit
   */
  async evaluate(input: string | EvaluateInput, options: CallOptions = {}): Promise<Evaluation> {
    const body = typeof input === 'string' ? { input_text: input } : input
    const { status, value } = await this.#send('POST', '/api/v1/safety/evaluate', { ...options, body, isSafe: true })
    const { evaluation } = value as { evaluation?: unknown }
    if (!isEvaluation(evaluation)) throw new UnexpectedAnswerError(status)
    return evaluation
  }

  /**
   * The same for who goes on with the text: comes back only with a permit.
   * @throws NotPermittedError with the evaluation, for every other decision
   * @throws SluicegateError where there is no verdict
   */
  async assertPermitted(input: string | EvaluateInput, options?: CallOptions): Promise<Evaluation> {
    const evaluation = await this.evaluate(input, options)
    if (!isPermitted(evaluation)) throw new NotPermittedError(evaluation)
    return evaluation
  }
}

/** `POST`, `GET` and `DELETE` of `/api/v1/ssaas/keys`. */
export class Keys {
  readonly #send: Send
  constructor(send: Send) {
    this.#send = send
  }

  /** @param key.accept_terms default true */
  async create(key: CreateKeyInput, options: OnceOptions = {}): Promise<{ key: string; record: KeyRecord }> {
    const body = { accept_terms: true, ...key }
    return this.#ask('POST', '', { ...options, body, isSafe: options.idempotencyKey !== undefined })
  }

  /** A page with `limit`, else all keys. */
  async list(
    query: { limit?: number; cursor?: string; lineage?: string } = {},
    options: CallOptions = {}
  ): Promise<{ keys: KeyRecord[]; next_cursor?: string }> {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
    return this.#ask('GET', search.size === 0 ? '' : `?${search}`, { ...options, isSafe: true })
  }

  /** The old key works for five more minutes. */
  async rotate(
    keyId: string,
    options: OnceOptions = {}
  ): Promise<{ key: string; record: KeyRecord; previous: KeyRecord }> {
    const isSafe = options.idempotencyKey !== undefined
    return this.#ask('POST', `/${encodeURIComponent(keyId)}/rotate`, { ...options, isSafe })
  }

  /** The key is dead before this comes back; a second time says the same. */
  async revoke(keyId: string, options: CallOptions = {}): Promise<KeyRecord> {
    return this.#ask('DELETE', `/${encodeURIComponent(keyId)}`, { ...options, isSafe: true })
  }

  async #ask<T>(method: string, path: string, call: Call): Promise<T> {
    const { value } = await this.#send(method, `/api/v1/ssaas/keys${path}`, call)
    return value as T
  }
}
