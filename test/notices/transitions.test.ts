import t from 'tap'
import { type AlertKind, alertKinds, type Condition } from '../../src/notices/kinds.js'
import { transitions } from '../../src/notices/transitions.js'
import type { AlertRow } from '../../src/storage/contracts/alerts.js'

const minute = 60_000
const hour = 60 * minute
const start = Date.UTC(2026, 0, 1)
const waiting: Condition = { kind: 'reviews_waiting', subject: '', facts: { count: 60, oldest_age_seconds: 5 } }
const key: Condition = { kind: 'key_expiring', subject: 'key_a', facts: { prefix: 'p', expires_at: 'e' } }

/** What a store would hold, look after look. */
function looks(watched: ReadonlySet<AlertKind> = new Set(alertKinds)) {
  let rows: AlertRow[] = []
  return (now: number, ...found: Condition[]) => {
    const next = transitions(rows, found, { now: start + now, remindMs: 24 * hour, watched })
    const fresh = new Set(next.rows.map(({ alertId }) => alertId))
    rows = [...rows.filter(({ alertId }) => !fresh.has(alertId) && !next.removed.includes(alertId)), ...next.rows]
    return { told: next.told.map(({ event }) => event), rows }
  }
}

t.test('a beginning, one reminder, an end', async (t) => {
  const look = looks()
  t.same(look(0, waiting).told, ['alert.began'])
  for (const at of [1, 60, 23 * 60]) t.same(look(at * minute, waiting).told, [])
  t.same(look(24 * hour, waiting).told, ['alert.reminded'])
  t.same(look(72 * hour, waiting).told, [], 'once')
  const { rows, told } = look(72 * hour + minute)
  t.same([rows[0]!.holds, rows[0]!.endedAt, told], [false, null, []], 'gone, and not over yet')
  t.same(look(72 * hour + 6 * minute).told, ['alert.ended'])
  t.same(look(73 * hour).told, [])
  t.same(look(75 * hour).rows, [], 'forgotten')
})

t.test('what comes and goes is told at most once an hour, and its end only where its beginning was', async (t) => {
  const look = looks()
  let told = 0
  for (let at = 0; at < 24 * 60; at += 1) {
    // Ten minutes so, ten minutes otherwise.
    told += look(at * minute, ...(at % 20 < 10 ? [waiting] : [])).told.length
  }
  t.ok(told <= 48, `${told} in a day`)
  t.ok(told >= 24)
})

t.test('for a moment gone, it is the same; its id stays when it comes back', async (t) => {
  const look = looks()
  const [first] = look(0, waiting).rows
  look(minute)
  const back = look(2 * minute, waiting)
  t.same(back.told, [])
  t.match(back.rows, [{ alertId: first!.alertId, since: start, holds: true }])
  look(3 * minute)
  look(20 * minute)
  const again = look(30 * minute, waiting)
  t.same(again.told, [], 'within the hour')
  t.match(again.rows, [{ alertId: first!.alertId, since: start + 30 * minute }])
  t.same(look(61 * minute, waiting).told, ['alert.began'], 'still so when the hour is over')
})

t.test('a key is told of once: no reminder, no end', async (t) => {
  const look = looks()
  t.same(look(0, key).told, ['alert.began'])
  t.same(look(48 * hour, key).told, [])
  t.same(look(72 * hour).told, [])
  t.same(look(74 * hour).rows, [])
})

t.test('what is not watched any more goes without a word', async (t) => {
  const rows = transitions([], [waiting, key], { now: start, remindMs: hour, watched: new Set(alertKinds) }).rows
  const { removed, told } = transitions(rows, [key], {
    now: start + 1,
    remindMs: hour,
    watched: new Set(['key_expiring'])
  })
  t.same([removed, told], [[rows[0]!.alertId], []])
})
