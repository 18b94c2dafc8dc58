/** The gateway's public API, typed. The browser keeps the session cookie; no code here can read its secret. */
import type * as C from './constitution-types'
import type * as T from './types'

/** A refusal or a failure, in the API's own words. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** The field that is wrong, as the API names it. */
  readonly field: string | undefined
  readonly requestId: string | undefined
  /** Seconds to wait before another try. */
  readonly retryAfter: number | undefined
  /** The problems of a refused constitution, each with its place. */
  readonly problems: C.Problem[]

  constructor(
    status: number,
    body: {
      error?: string
      message?: string
      request_id?: string
      retry_after?: number
      details?: { field?: string }
      problems?: C.Problem[]
    }
  ) {
    super(body.message ?? `The gateway answered ${status}.`)
    this.name = 'ApiError'
    this.status = status
    this.code = body.error ?? 'unknown'
    this.field = body.details?.field
    this.requestId = body.request_id
    this.retryAfter = body.retry_after
    this.problems = body.problems ?? []
  }
}

/** Beside the dashboard, whatever prefix the gateway has. */
const base = new URL('../api/v1', document.baseURI).pathname

type Query = Record<string, string | number | undefined>

export function path(route: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]]
  )
  return `${base}${route}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`
}

function send(method: string, url: string, body?: unknown): Promise<Response> {
  return fetch(url, {
    method,
    // No other site can set it (CSRF): see src/edge/same-site.ts.
    headers: { 'x-sluicegate-csrf': '1', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
}

/** Answers to requests that were sent ahead, by address. */
const early = new Map<string, Promise<Response>>()
/** The age in ms after which such an answer is out of date. */
const earlyMs = 10_000

/**
 * Sends a request that a view will soon need: the first caller gets its answer, later callers send their own request.
 */
export function askAhead(route: string, query?: Query): void {
  const url = path(route, query)
  const answer = send('GET', url)
  // Whoever takes it learns of it.
  answer.catch(() => {})
  early.set(url, answer)
  setTimeout(() => early.delete(url), earlyMs)
}

function taken(url: string): Promise<Response> | undefined {
  const answer = early.get(url)
  early.delete(url)
  return answer
}

async function call<R>(
  method: string,
  route: string,
  { query, body }: { query?: Query; body?: unknown } = {}
): Promise<R> {
  let response: Response
  try {
    const url = path(route, query)
    response = await ((method === 'GET' ? taken(url) : undefined) ?? send(method, url, body))
  } catch {
    throw new ApiError(0, { error: 'unreachable', message: 'The gateway cannot be reached.' })
  }
  const text = await response.text()
  const parsed = text === '' ? undefined : readJson(text)
  if (!response.ok) throw new ApiError(response.status, (parsed ?? {}) as object)
  return parsed as R
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const id = encodeURIComponent
type Paged<K extends string, R> = { [name in K]: R[] } & { next_cursor?: string }

export const api = {
  session: () => call<T.Session>('GET', '/auth/session'),
  signIn: (body: { login: string; password: string }) => call<T.Session>('POST', '/auth/sign-in', { body }),
  accept: (body: { token: string; login: string; password: string }) =>
    call<T.Session>('POST', '/auth/accept', { body }),
  confirm: (password: string) => call<T.Session>('POST', '/auth/confirm', { body: { password } }),
  changePassword: (body: { current: string; password: string }) => call<void>('POST', '/auth/password', { body }),
  signOut: (everywhere: boolean) => call<{ ended: number }>('POST', '/auth/sign-out', { body: { everywhere } }),

  users: () => call<{ users: T.User[] }>('GET', '/auth/users'),
  invite: (role: T.Role) => call<{ path: string; expires_at: string }>('POST', '/auth/invitations', { body: { role } }),
  invitations: () => call<{ invitations: T.PendingInvitation[] }>('GET', '/auth/invitations'),
  withdraw: (invitation: string) => call<void>('DELETE', `/auth/invitations/${id(invitation)}`),
  changeUser: (user: string, body: { role?: T.Role; reads_samples?: boolean; disabled?: boolean }) =>
    call<T.User>('PATCH', `/auth/users/${id(user)}`, { body }),

  keys: () => call<{ keys: T.KeyRecord[] }>('GET', '/ssaas/keys'),
  createKey: (body: T.NewKey) => call<{ key: string; record: T.KeyRecord }>('POST', '/ssaas/keys', { body }),
  rotateKey: (key: string) =>
    call<{ key: string; record: T.KeyRecord; previous: T.KeyRecord }>('POST', `/ssaas/keys/${id(key)}/rotate`),
  revokeKey: (key: string) => call<T.KeyRecord>('DELETE', `/ssaas/keys/${id(key)}`),
  revokeLineage: (lineage: string) => call<{ keys: T.KeyRecord[] }>('DELETE', '/ssaas/keys', { query: { lineage } }),

  reviews: (query: Query) => call<Paged<'reviews', T.Review>>('GET', '/pdp/reviews', { query }),
  review: (review: string) => call<T.ReviewDetail>('GET', `/pdp/reviews/${id(review)}`),
  claim: (review: string) => call<T.Review>('POST', `/pdp/reviews/${id(review)}/claim`),
  release: (review: string) => call<T.Review>('DELETE', `/pdp/reviews/${id(review)}/claim`),
  adjudicate: (body: { review_id: string; decision: 'permit' | 'forbid'; note?: string }) =>
    call<T.ReviewDetail>('POST', '/pdp/adjudicate', { body }),
  deliveries: () => call<Paged<'deliveries', T.Delivery>>('GET', '/pdp/deliveries'),
  retryDelivery: (delivery: string) => call<T.Delivery>('POST', `/pdp/deliveries/${id(delivery)}/retry`),

  exceptions: () => call<Paged<'exceptions', T.Exception>>('GET', '/safety/exceptions'),
  feedback: (body: { evaluation_id: string; note?: string }) => call<T.Exception>('POST', '/safety/feedback', { body }),
  decideException: (exception: string, body: { decision: 'accept' | 'reject'; scope?: string; expires_in?: string }) =>
    call<T.Exception>('POST', `/safety/exceptions/${id(exception)}/decide`, { body }),
  endException: (exception: string) => call<T.Exception>('DELETE', `/safety/exceptions/${id(exception)}`),

  samples: (query: Query) =>
    call<Paged<'samples', T.Sample> & { keeping: T.SampleKeeping }>('GET', '/safety/samples', { query }),
  sample: (sample: string, redact: string) =>
    call<T.SampleDetail>('GET', `/safety/samples/${id(sample)}`, { query: { redact } }),
  deleteSample: (sample: string) => call<void>('DELETE', `/safety/samples/${id(sample)}`),
  deleteSamples: (query: Query) => call<{ deleted: number }>('DELETE', '/safety/samples', { query }),

  constitutions: () => call<{ constitutions: C.Constitution[] }>('GET', '/constitutions'),
  constitution: (name: string) => call<C.Constitution & { source?: string }>('GET', `/constitutions/${id(name)}`),
  versions: (name: string) => call<Paged<'versions', C.Version>>('GET', `/constitutions/${id(name)}/versions`),
  version: (name: string, version: number) =>
    call<C.Version & { source: string }>('GET', `/constitutions/${id(name)}/versions/${version}`),
  store: (name: string, body: { source: string; note?: string }) =>
    call<C.Version>('PUT', `/constitutions/${id(name)}`, { body }),
  activate: (name: string, body: { version: number; if_active?: number | null }) =>
    call<{ changed: boolean; previous: number | null }>('POST', `/constitutions/${id(name)}/activate`, { body }),
  tryOut: (name: string, body: C.TrialRequest) => call<C.Trial>('POST', `/constitutions/${id(name)}/test`, { body }),

  activations: (name: string) =>
    call<Paged<'activations', C.Activation>>('GET', `/constitutions/${id(name)}/activations`, { query: { limit: 50 } }),
  language: () => call<C.Language>('GET', '/constitution-language'),
  check: (name: string, source: string) =>
    call<C.Checked>('POST', `/constitutions/${id(name)}/check`, { body: { source } }),
  routes: () => call<{ routes: C.BoundRoute[] }>('GET', '/constitution-routes'),
  bind: (body: { route: string; constitution: string | null; if_constitution?: string | null }) =>
    call<C.BoundRoute>('PUT', '/constitution-routes', { body }),
  texts: (language: string) => call<T.Texts>('GET', '/texts', { query: { language } }),
  putTexts: (body: { texts: T.Texts['texts']; version: number }) => call<T.Texts>('PUT', '/texts', { body }),

  upstreams: () => call<T.Upstreams>('GET', '/upstreams'),
  connectUpstream: (name: string, body: { url: string; api: T.BackendApi; key?: string }) =>
    call<{ upstream: T.Upstream; models: string[] }>('PUT', `/upstreams/${id(name)}`, { body }),
  disconnectUpstream: (name: string) => call<void>('DELETE', `/upstreams/${id(name)}`),

  metrics: (window: string) => call<T.SafetyMetrics>('GET', '/safety/metrics', { query: { window } }),
  alerts: () => call<T.Alerts>('GET', '/alerts'),
  status: () => call<T.Status>('GET', '/status'),
  usage: (query: { from: string; to: string }) => call<T.Usage>('GET', '/billing/usage', { query }),
  auditCourse: (query: Query) => call<T.AuditCourse>('GET', '/audit/course', { query }),
  audit: (query: Query) => call<Paged<'rows', T.AuditRow>>('GET', '/audit', { query })
}
