/** Days and times as people write them, ISO 8601. A day that no calendar has is none: `Date` makes 2 March of 30 February. */
import { parseDuration } from './units.js'

/** @param text such as `2026-01-31` @returns its beginning, ms since the epoch (UTC); undefined where it is no day */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) || dayOf(at) !== text ? undefined : at
}

/** @param at ms since the epoch @returns the day in UTC, such as `2026-01-31` */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

const time = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/

/**
 * @param text a day, or a day and a time such as `2026-01-31T12:00:00Z`; without an offset it is UTC, whatever zone the
 * machine is in
 * @returns ms since the epoch; undefined where it is no time
 */
export function parseInstant(text: string): number | undefined {
  const [, day, offset] = time.exec(text) ?? []
  if (day === undefined) return parseDay(text)
  if (parseDay(day) === undefined) return undefined
  const at = Date.parse(offset === undefined ? `${text}Z` : text)
  return Number.isNaN(at) ? undefined : at
}

/**
 * @param text a time as of `parseInstant`, or a duration before now such as `24h`
 * @returns ms since the epoch; undefined where it is neither
 */
export function parseMoment(text: string, now: number): number | undefined {
  const ago = parseDuration(text)
  return ago === undefined ? parseInstant(text) : now - ago
}
