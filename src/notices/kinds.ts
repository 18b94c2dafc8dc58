/** The kinds of alerts, each with its sentence of names, counts and times, and its page of the dashboard. */
import { isoTime } from '../base/units.js'

export const alertKinds = [
  'storage_down',
  'audit_lost',
  'encoder_failing',
  'judge_failing',
  'upstream_failing',
  'stops_unusual',
  'reviews_waiting',
  'dead_letters',
  'key_expiring'
] as const
export type AlertKind = (typeof alertKinds)[number]

/** Names come from the configuration; for a key its id and shown prefix. Never a text or another name. */
export interface AlertFacts {
  /** Number of waiting, undelivered, lost or failed ones. */
  count?: number
  /** Out of how many. */
  of?: number
  oldest_age_seconds?: number
  /** 0..1 */
  share?: number
  usual_share?: number
  window_seconds?: number
  /** ISO 8601, UTC. */
  expires_at?: string
  prefix?: string
  /** Nodes where it was seen. */
  nodes?: readonly string[]
}

/** A present alert condition. */
export interface Condition {
  kind: AlertKind
  /** See `AlertRow`. */
  subject: string
  facts: AlertFacts
}

interface Telling {
  /** The subject of a message: fixed words. */
  title: string
  sentence(subject: string, facts: AlertFacts): string
  /** The page of the dashboard, as its address has it. */
  page: string
}

export const tellings: Readonly<Record<AlertKind, Telling>> = {
  storage_down: {
    title: 'The storage takes nothing',
    sentence: (_, { nodes }) => `The storage takes nothing that is written${on(nodes)}.`,
    page: 'status'
  },
  audit_lost: {
    title: 'Rows of the audit are lost',
    sentence: (_, { count, nodes }) =>
      `${many(count, 'row', 'rows')} of the audit ${count === 1 ? 'is' : 'are'} lost${on(nodes)}.`,
    page: 'status'
  },
  encoder_failing: {
    title: 'The encoder fails',
    sentence: (_, { count, of, nodes }) => `The encoder failed ${count} of ${of} times in five minutes${on(nodes)}.`,
    page: 'status'
  },
  judge_failing: {
    title: 'A judge fails',
    sentence: (subject, { nodes }) => `The judge ${subject} keeps failing and is left alone for now${on(nodes)}.`,
    page: 'status'
  },
  upstream_failing: {
    title: 'An upstream fails',
    sentence: (subject, { count, of, nodes }) =>
      `The upstream ${subject} failed ${count} of ${of} requests in five minutes${on(nodes)}.`,
    page: 'live'
  },
  stops_unusual: {
    title: 'The share of what is stopped is unusual',
    sentence: (_, { share = 0, usual_share = 0, of, window_seconds = 0 }) =>
      `${percent(share)} of ${of} evaluations in the last ${span(window_seconds)} were not permitted; ${percent(usual_share)} is usual at this time of day.`,
    page: 'live'
  },
  reviews_waiting: {
    title: 'Reviews wait for a decision',
    sentence: (_, { count, oldest_age_seconds = 0 }) =>
      `${many(count, 'review waits', 'reviews wait')} for a decision, the oldest for ${span(oldest_age_seconds)}.`,
    page: 'reviews'
  },
  dead_letters: {
    title: 'Messages were given up',
    sentence: (_, { count = 0 }) =>
      `${count >= 10_000 ? '10000 or more messages were' : many(count, 'message was', 'messages were')} given up after all attempts.`,
    page: 'status'
  },
  key_expiring: {
    title: 'Keys expire soon',
    sentence: (subject, { prefix, expires_at }) => `The key ${prefix} (${subject}) ends at ${expires_at}.`,
    page: 'keys'
  }
}

/** Kinds that are reported only when they begin. */
export const toldOnce: ReadonlySet<AlertKind> = new Set(['key_expiring'])

export function isAlertKind(kind: string): kind is AlertKind {
  return (alertKinds as readonly string[]).includes(kind)
}

function many(count = 0, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`
}

function on(nodes: readonly string[] = []): string {
  return nodes.length === 0 ? '' : ` (on ${nodes.join(', ')})`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function span(seconds: number): string {
  const [unit, name] = (
    [
      [86_400, 'd'],
      [3_600, 'h'],
      [60, 'min']
    ] as const
  ).find(([unit]) => seconds >= 2 * unit) ?? [1, 's']
  return seconds === 3_600 ? 'hour' : `${Math.round(seconds / unit)} ${name}`
}

/** An alert for the API. */
export interface Alert {
  alert_id: string
  kind: AlertKind
  subject: string | null
  since: string
  summary: string
  page: string
  facts: AlertFacts
}

export function alertOf({ alertId, since, ...condition }: Condition & { alertId: string; since: number }): Alert {
  const { kind, subject, facts } = condition
  const { sentence, page } = tellings[kind]
  return {
    alert_id: alertId,
    kind,
    subject: subject === '' ? null : subject,
    since: isoTime(since),
    summary: sentence(subject, facts),
    page,
    facts
  }
}
