/** Sends one call of the client: time-out, retries, and conversion of its answer. */
import {
  ConnectionError,
  errorOf,
  RateLimitError,
  TimeoutError,
  UnavailableError,
  UnexpectedAnswerError
} from './errors.js'

export interface ClientOptions {
  /** Address of the gateway, with the prefix under which it is mounted. */
  baseUrl: string
  /** `slg_live_…` or `slg_test_…`. */
  apiKey: string
  /** Milliseconds for one call, its retries and their waiting included. Default 10,000. */
  timeoutMs?: number
  /** How often a call is sent again. Default 2. */
  retries?: number
  /**
   * The longest wait, in milliseconds, before another try; an answer that asks for a longer one is final. Default
   * 5,000.
   */
  maxRetryWaitMs?: number
  /** Default: the runtime's own. */
  fetch?: typeof fetch
}

export interface CallOptions {
  signal?: AbortSignal
  /** Overrides the client's. */
  timeoutMs?: number
}

export interface OnceOptions extends CallOptions {
  /**
   * A unique name of this request: with it the request takes effect at most once, so that it can be retried. If it took
   * effect and the answer was lost, the error is `duplicate_request`.
   */
  idempotencyKey?: string
}

export interface Call extends OnceOptions {
  body?: unknown
  /** Whether it may be sent again: it changes nothing, or it takes effect once. */
  isSafe: boolean
}
export type Send = (method: string, path: string, call: Call) => Promise<{ status: number; value: object }>

/** @throws TypeError for a `baseUrl` that is no URL, and for an `apiKey` that is empty */
export function createSend(options: ClientOptions): Send {
  const { apiKey, retries = 2, maxRetryWaitMs = 5000 } = options
  const base = new URL(options.baseUrl).href.replace(/\/+$/, '')
  if (apiKey === '') throw new TypeError('apiKey is empty.')

  return async function send(method, path, call) {
    const timeoutMs = call.timeoutMs ?? options.timeoutMs ?? 10_000
    const deadline = performance.now() + timeoutMs
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    const leave = () => late.abort()
    call.signal?.addEventListener('abort', leave, { once: true })
    try {
      for (let tries = 0; ; tries++) {
        // Checked before each try, so that an aborted call sends nothing more.
        call.signal?.throwIfAborted()
        const error = await attempt(method, path, call, late.signal)
        if (!(error instanceof Error)) return error
        const waitMs = waitOf(error, call.isSafe)
        if (waitMs === undefined || waitMs > maxRetryWaitMs || tries >= retries) throw error
        if (performance.now() + waitMs >= deadline) throw error
        await pause(waitMs, late.signal)
      }
    } catch (error) {
      call.signal?.throwIfAborted()
      if (late.signal.aborted) throw new TimeoutError(`No answer within ${timeoutMs} ms.`)
      throw error
    } finally {
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', leave)
    }
  }

  async function attempt(method: string, path: string, call: Call, signal: AbortSignal) {
    const headers: Record<string, string> = { 'x-api-key': apiKey, accept: 'application/json' }
    if (call.body !== undefined) headers['content-type'] = 'application/json'
    if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey
    const body = call.body === undefined ? {} : { body: JSON.stringify(call.body) }
    let response: Response
    let text: string
    try {
      // No redirects: they would send the key and the text elsewhere.
      response = await (options.fetch ?? fetch)(base + path, { method, headers, ...body, signal, redirect: 'error' })
      text = await response.text()
    } catch (error) {
      return new ConnectionError('The gateway could not be reached, or its answer ended early.', { cause: error })
    }
    const value = objectOf(text)
    if (value === undefined) return new UnexpectedAnswerError(response.status)
    if (response.ok) return { status: response.status, value }
    if (typeof value['error'] !== 'string') return new UnexpectedAnswerError(response.status)
    return errorOf(response.status, value, response.headers)
  }
}

/** Milliseconds to wait before another try; undefined where there is none. */
function waitOf(error: Error, isSafe: boolean): number | undefined {
  if (!isSafe) return undefined
  if (!(error instanceof RateLimitError || error instanceof UnavailableError)) return undefined
  return error.retryAfter === undefined ? undefined : error.retryAfter * 1000
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
