/**
 * From what was in force and what is wrong now to what is in force, and what people are told of the difference: once when
 * it begins, once more after a while, once when it is over. What comes and goes is told at most once an hour.
 */
import type { AlertEvent } from '../review/webhook.js'
import type { AlertRow } from '../storage/contracts/alerts.js'
import { newId } from '../storage/id.js'
import { type AlertKind, type Condition, isAlertKind, toldOnce } from './kinds.js'

/** Seen no more for so long it is over. */
const calmMs = 300_000
/** How exactly it is known when one was seen last: it is not written at every look. */
const heldMs = 60_000
/** How long one that is over is remembered; if it comes back meanwhile, nobody is told before. */
const againMs = 3_600_000

/** One thing to tell. */
export interface Told {
  event: AlertEvent
  condition: Condition
  /** When it began. */
  since: number
  alertId: string
}

export interface Transitions {
  /** What stands from now on, changed or not. */
  rows: AlertRow[]
  /** Ids. */
  removed: string[]
  told: Told[]
}

export interface Look {
  now: number
  remindMs: number
  /** Kinds that the look was for: others end without a word. */
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
    // Another release's, or not watched any more.
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

/** @param row what stands of it already */
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
