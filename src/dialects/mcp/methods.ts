/**
 * The permitted methods of the Model Context Protocol, with their sender and revisions. Other methods are refused in
 * both directions.
 */

/** Oldest first. The last one has no sessions: each request is self-contained. */
export const revisions = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
export type Revision = (typeof revisions)[number]
/** Revision of a request that names none (specification 2025-06-18, "Protocol Version Header"). */
export const assumedRevision: Revision = '2025-03-26'
export const stateless: Revision = '2026-07-28'

export function isRevision(text: string): text is Revision {
  return (revisions as readonly string[]).includes(text)
}

export interface Method {
  from: 'client' | 'server' | 'either'
  isNotification: boolean
  /** First and last; undefined: of all. */
  since?: Revision
  until?: Revision
}

const sessions = '2025-11-25'

function request(from: Method['from'], since?: Revision, until?: Revision): Method {
  return { from, isNotification: false, ...(since && { since }), ...(until && { until }) }
}

function notification(from: Method['from'], since?: Revision, until?: Revision): Method {
  return { ...request(from, since, until), isNotification: true }
}

export const methods: Readonly<Record<string, Method>> = {
  initialize: request('client', undefined, sessions),
  'server/discover': request('client', stateless),
  ping: request('either', undefined, sessions),
  'tools/list': request('client'),
  'tools/call': request('client'),
  'prompts/list': request('client'),
  'prompts/get': request('client'),
  'resources/list': request('client'),
  'resources/templates/list': request('client'),
  'resources/read': request('client'),
  'resources/subscribe': request('client', undefined, sessions),
  'resources/unsubscribe': request('client', undefined, sessions),
  'subscriptions/listen': request('client', stateless),
  'completion/complete': request('client'),
  'logging/setLevel': request('client', undefined, sessions),
  'tasks/get': request('either', '2025-11-25', sessions),
  'tasks/result': request('either', '2025-11-25', sessions),
  'tasks/list': request('either', '2025-11-25', sessions),
  'tasks/cancel': request('either', '2025-11-25', sessions),
  'sampling/createMessage': request('server', undefined, sessions),
  'elicitation/create': request('server', '2025-06-18', sessions),
  'roots/list': request('server', undefined, sessions),
  'notifications/initialized': notification('client', undefined, sessions),
  'notifications/roots/list_changed': notification('client', undefined, sessions),
  'notifications/cancelled': notification('either'),
  'notifications/progress': notification('either'),
  'notifications/tasks/status': notification('either', '2025-11-25', sessions),
  'notifications/message': notification('server'),
  'notifications/resources/updated': notification('server'),
  'notifications/resources/list_changed': notification('server'),
  'notifications/tools/list_changed': notification('server'),
  'notifications/prompts/list_changed': notification('server'),
  'notifications/elicitation/complete': notification('server', '2025-11-25', sessions),
  'notifications/subscriptions/acknowledged': notification('server', stateless)
}

/** @returns the method, where this side may send it in this revision and in this form */
export function methodOf(
  name: string,
  { from, revision, isNotification }: { from: 'client' | 'server'; revision: Revision; isNotification: boolean }
): Method | undefined {
  if (!Object.hasOwn(methods, name)) return undefined
  const method = methods[name]!
  const at = revisions.indexOf(revision)
  const isTheirs = method.from === 'either' || method.from === from
  const isOfRevision =
    at >= revisions.indexOf(method.since ?? revisions[0]) && at <= revisions.indexOf(method.until ?? stateless)
  return isTheirs && isOfRevision && method.isNotification === isNotification ? method : undefined
}

/** The parameter that the header `mcp-name` repeats, by method (revision 2026-07-28). */
export const nameFields: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri'
}
