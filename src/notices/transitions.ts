/**
 * Computes the new alerts from the old ones and the present conditions, and the notifications: when an alert begins,
 * once as a reminder, and when it ends. A flapping alert is reported at most once an hour.
 */

import { newId } from '../base/ids.js'
import type { AlertEvent } from '../review/webhook.js'
import type { AlertRow } from '../storage/contracts/alerts.js'
import { type AlertKind, type Condition, isAlertKind, toldOnce } from './kinds.js'

/** An alert ends after this time without its condition. */
const calmMs = 300_000
/** Precision of the time when a condition last held, since it is not written at every check. */
const heldMs = 60_000
/** How long an ended alert is remembered; one that returns within it is reported only afterwards. */
const againMs = 3_600_000

/** One notification. */
export interface Told {
  event: AlertEvent
  condition: Condition
  /** When it began. */
  since: number
  alertId: string
}

export interface Transitions {
  /** The new alerts, changed or not. */
  rows: AlertRow[]
  /** Ids. */
  removed: string[]
  told: Told[]
}

export interface Look {
  now: number
  remindMs: number
  /** Watched kinds; alerts of other kinds end without a notification. */
  watched: ReadonlySet<AlertKind>
}

export function transitions(
  before: readonly AlertRow[],
  found: readonly Condition[],
  { now, remindMs, watched }: Look
): Transitions {
  const rows: AlertRow[] = []
  const removed: string[] = []
  const told: Told[] = []
  const standing = new Map(before.map((row) => [keyOf(row), row]))

  for (const condition of found) {
    const row = { ...inForce(standing.get(keyOf(condition)), condition, now) }
    standing.delete(keyOf(condition))
    const silentMs = row.toldAt === null ? Number.POSITIVE_INFINITY : now - row.toldAt
    const event =
      row.told === 0 && silentMs >= againMs
        ? 'alert.began'
        : row.told === 1 && silentMs >= remindMs && !toldOnce.has(condition.kind)
          ? 'alert.reminded'
          : undefined
    if (event !== undefined) {
      row.told++
      row.toldAt = now
      told.push({ event, condition, since: row.since, alertId: row.alertId })
    }
    rows.push(row)
  }

  for (const row of standing.values()) {
    const { kind, subject, alertId } = row
    // A kind of another release, or no longer watched.
    if (!isAlertKind(kind) || !watched.has(kind)) {
      removed.push(alertId)
      continue
    }
    if (row.endedAt !== null) {
      if (now - Math.max(row.endedAt, row.toldAt ?? 0) >= againMs) removed.push(alertId)
      continue
    }
    const isOver = now - row.heldAt >= calmMs || toldOnce.has(kind)
    if (!row.holds && !isOver) continue
    rows.push({ ...row, holds: false, endedAt: isOver ? now : null })
    if (isOver && row.told > 0 && !toldOnce.has(kind)) {
      told.push({ event: 'alert.ended', condition: { kind, subject, facts: row.facts }, since: row.since, alertId })
    }
  }
  return { rows, removed, told }
}

/** @param row its present row */
function inForce(row: AlertRow | undefined, { kind, subject, facts }: Condition, now: number): AlertRow {
  const held = { facts: { ...facts }, holds: true, heldAt: now, endedAt: null }
  if (row !== undefined && row.endedAt === null) {
    const isExact = row.holds && (now - row.heldAt < heldMs || toldOnce.has(kind))
    return { ...row, ...held, heldAt: isExact ? row.heldAt : now }
  }
  const fresh = { alertId: newId('alt', now), kind, subject, ...held, since: now, told: 0 }
  // Its id stays, as its place in the store does.
  return row === undefined ? { ...fresh, toldAt: null } : { ...fresh, alertId: row.alertId, toldAt: row.toldAt }
}

function keyOf({ kind, subject }: Pick<AlertRow, 'kind' | 'subject'>): string {
  return `${kind} ${subject}`
}
