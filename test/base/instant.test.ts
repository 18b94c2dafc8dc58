import t from 'tap'
import { dayOf, parseDay, parseInstant } from '../../src/base/instant.js'

t.test('days of the calendar, and no others', async (t) => {
  t.equal(parseDay('2026-01-31'), Date.UTC(2026, 0, 31))
  t.equal(parseDay('2024-02-29'), Date.UTC(2024, 1, 29))
  for (const text of [
    '2026-02-29',
    '2026-02-30',
    '2026-13-01',
    '2026-1-31',
    '31',
    '2026-01-31T00:00',
    ' 2026-01-31',
    ''
  ]) {
    t.equal(parseDay(text), undefined, text)
  }
  t.equal(dayOf(Date.UTC(2026, 0, 31, 23, 59)), '2026-01-31')
})

t.test('a time is read with its offset, and as UTC without one, in every zone', async (t) => {
  const noon = Date.UTC(2026, 0, 31, 12)
  t.equal(parseInstant('2026-01-31'), Date.UTC(2026, 0, 31))
  for (const text of [
    '2026-01-31T12:00',
    '2026-01-31T12:00:00',
    '2026-01-31T12:00:00.000000Z',
    '2026-01-31T14:00:00+02:00'
  ]) {
    t.equal(parseInstant(text), noon, text)
  }
  const zone = process.env['TZ']
  process.env['TZ'] = 'Asia/Tokyo'
  t.teardown(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  t.equal(parseInstant('2026-01-31T12:00'), noon)
})

t.test('what is no time is none, whatever `Date` makes of it', async (t) => {
  for (const text of [
    '5',
    '2026',
    'March 7',
    '2026-02-30T12:00:00Z',
    '2026-01-31 12:00',
    '2026-01-31T25:00:00Z',
    '2026-01-31T12:00:00+99:99',
    '2026-01-31T12:00:00Z x'
  ]) {
    t.equal(parseInstant(text), undefined, text)
  }
})
