/**
 * Finds the present alert conditions, from the reports of all processes in the storage; run by the watching process.
 */
import type { AlertSettings } from '../base/settings.js'
import { isoTime } from '../base/units.js'
import { shownPrefix } from '../identity/key-format.js'
import type { Stretch } from '../observe/layout.js'
import type { ProcessReport } from '../observe/presence.js'
import type { Trouble } from '../observe/troubles.js'
import type { KeyRow } from '../storage/contracts/keys.js'
import type { AlertKind, Condition } from './kinds.js'
import { type Counted, stopWindows, unusualStops, type Window } from './stops.js'

/** Keys that are reported, soonest first; later ones follow as these end. */
const mostKeys = 100

export interface ConditionSources {
  reviews(): Promise<{ depth: number; oldestAgeSeconds: number }>
  deadLetters(): Promise<number>
  expiring(wanted: { now: number; until: number; limit: number }): Promise<KeyRow[]>
  processes(): Promise<readonly ProcessReport[]>
  totals(windows: readonly Window[]): Promise<Stretch[]>
}

/** The kinds of alerts that these settings watch. */
export function watchedKinds(settings: AlertSettings): ReadonlySet<AlertKind> {
  const watched: Record<Exclude<AlertKind, 'storage_down'>, boolean> = {
    audit_lost: settings.failing,
    encoder_failing: settings.failing,
    judge_failing: settings.failing,
    upstream_failing: settings.failing,
    stops_unusual: settings.stops !== undefined,
    reviews_waiting: settings.reviewsWaiting !== undefined,
    dead_letters: settings.deadLetters !== undefined,
    key_expiring: settings.keysExpiringMs !== undefined
  }
  return new Set((Object.keys(watched) as (keyof typeof watched)[]).filter((kind) => watched[kind]))
}

/** @throws Fault `storage_unavailable` */
export async function findConditions(
  sources: ConditionSources,
  settings: AlertSettings,
  now: number
): Promise<Condition[]> {
  const found = [
    reviews(sources, settings),
    deadLetters(sources, settings),
    keys(sources, settings, now),
    failures(sources, settings),
    stops(sources, settings, now)
  ]
  return (await Promise.all(found)).flat()
}

async function reviews(sources: ConditionSources, { reviewsWaiting }: AlertSettings): Promise<Condition[]> {
  if (reviewsWaiting === undefined) return []
  const { depth, oldestAgeSeconds } = await sources.reviews()
  const isLate = depth > 0 && oldestAgeSeconds * 1000 >= reviewsWaiting.ageMs
  if (depth < reviewsWaiting.count && !isLate) return []
  const facts = { count: depth, oldest_age_seconds: Math.round(oldestAgeSeconds) }
  return [{ kind: 'reviews_waiting', subject: '', facts }]
}

async function deadLetters(sources: ConditionSources, { deadLetters }: AlertSettings): Promise<Condition[]> {
  if (deadLetters === undefined) return []
  const count = await sources.deadLetters()
  return count < deadLetters ? [] : [{ kind: 'dead_letters', subject: '', facts: { count } }]
}

async function keys(sources: ConditionSources, { keysExpiringMs }: AlertSettings, now: number): Promise<Condition[]> {
  if (keysExpiringMs === undefined) return []
  const rows = await sources.expiring({ now, until: now + keysExpiringMs, limit: mostKeys })
  return rows
    .filter(({ createdAt, expiresAt }) => {
      const end = expiresAt as number
      // A short-lived key is reported only after half of its life.
      return end - now <= (end - createdAt) / 2
    })
    .map(({ keyId, environment, prefix, expiresAt }) => ({
      kind: 'key_expiring',
      subject: keyId,
      facts: { prefix: shownPrefix(environment, prefix), expires_at: isoTime(expiresAt as number) }
    }))
}

/** Failures in the processes' own reports; silent processes are ignored. */
async function failures(sources: ConditionSources, { failing }: AlertSettings): Promise<Condition[]> {
  if (!failing) return []
  const serving = (await sources.processes()).filter(({ isSilent }) => !isSilent)
  const found = new Map<string, { trouble: Trouble; nodes: Set<string> }>()
  const lost = { rows: 0, nodes: new Set<string>() }
  for (const { node, troubles = [], auditDropped } of serving) {
    for (const trouble of troubles) {
      const key = `${trouble.kind} ${trouble.subject}`
      const sum = found.get(key) ?? { trouble: { ...trouble, failures: 0, requests: 0 }, nodes: new Set() }
      sum.trouble.failures += trouble.failures
      sum.trouble.requests += trouble.requests
      sum.nodes.add(node)
      found.set(key, sum)
    }
    if (auditDropped === 0) continue
    lost.rows += auditDropped
    lost.nodes.add(node)
  }
  const conditions: Condition[] = [...found.values()].map(({ trouble, nodes }) => {
    const { kind, subject, failures, requests } = trouble
    const counts = kind === 'judge_failing' ? {} : { count: failures, of: requests }
    return { kind, subject, facts: { ...counts, nodes: [...nodes].sort() } }
  })
  if (lost.rows > 0) {
    conditions.push({ kind: 'audit_lost', subject: '', facts: { count: lost.rows, nodes: [...lost.nodes].sort() } })
  }
  return conditions
}

async function stops(sources: ConditionSources, { stops }: AlertSettings, now: number): Promise<Condition[]> {
  if (stops === undefined) return []
  const [current, ...before] = (await sources.totals(stopWindows(now, stops.windowMs))).map(countStops)
  const unusual = unusualStops([current!, ...before], stops)
  if (unusual === undefined) return []
  const { share, usual } = unusual
  const facts = {
    share: thousandths(share),
    usual_share: thousandths(usual),
    of: current!.evaluations,
    window_seconds: stops.windowMs / 1000
  }
  return [{ kind: 'stops_unusual', subject: '', facts }]
}

export function countStops({ decisions }: Pick<Stretch, 'decisions'>): Counted {
  let evaluations = 0
  let permitted = 0
  for (const counts of Object.values(decisions)) {
    for (const [decision, count] of Object.entries(counts)) {
      evaluations += count
      if (decision === 'permit') permitted += count
    }
  }
  return { evaluations, stopped: evaluations - permitted }
}

function thousandths(share: number): number {
  return Math.round(share * 1000) / 1000
}
