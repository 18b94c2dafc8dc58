import t from 'tap'
import { type ConditionSources, findConditions } from '../../src/notices/conditions.js'
import { alertOf } from '../../src/notices/kinds.js'
import type { Stretch } from '../../src/observe/layout.js'
import type { ProcessReport } from '../../src/observe/presence.js'

const now = Date.UTC(2026, 0, 8)
const settings = {
  reviewsWaiting: { count: 10, ageMs: 3_600_000 },
  deadLetters: 2,
  storageDownMs: 1,
  stops: { windowMs: 3_600_000, factor: 3, difference: 0.05, least: 100 },
  keysExpiringMs: 86_400_000,
  failing: true
}
const none = {
  reviewsWaiting: undefined,
  deadLetters: undefined,
  storageDownMs: undefined,
  stops: undefined,
  keysExpiringMs: undefined,
  failing: false
}
const stretch = (permit: number, forbid: number) => ({ decisions: { chat: { permit, forbid } } }) as unknown as Stretch
const well: ConditionSources = {
  reviews: async () => ({ depth: 9, oldestAgeSeconds: 3599 }),
  deadLetters: async () => 1,
  expiring: async () => [],
  processes: async () => [],
  totals: async (windows) => windows.map(() => stretch(99, 1))
}
const find = async (sources: Partial<ConditionSources>, with_: Parameters<typeof findConditions>[1] = settings) =>
  (await findConditions({ ...well, ...sources }, with_, now)).map((condition) =>
    alertOf({ ...condition, alertId: 'alt_x', since: now })
  )
const report = (node: string, change: Partial<ProcessReport>) =>
  ({ node, isSilent: false, auditDropped: 0, ...change }) as ProcessReport

t.test('nothing is wrong, or nothing is watched', async (t) => {
  t.same(await find({}), [])
  const wrong = { reviews: async () => ({ depth: 99, oldestAgeSeconds: 0 }), deadLetters: async () => 9 }
  t.same(await find(wrong, none), [])
})

t.test('reviews by their number or their age, messages, stops', async (t) => {
  const reviews = (depth: number, oldestAgeSeconds: number) => ({ reviews: async () => ({ depth, oldestAgeSeconds }) })
  t.match(await find(reviews(10, 61)), [{ summary: '10 reviews wait for a decision, the oldest for 61 s.' }])
  t.match(await find(reviews(1, 7200)), [{ summary: '1 review waits for a decision, the oldest for 2 h.' }])
  t.same(await find(reviews(0, 9999)), [])
  t.match(await find({ deadLetters: async () => 2 }), [
    { kind: 'dead_letters', summary: '2 messages were given up after all attempts.', page: 'status' }
  ])
  const totals: ConditionSources['totals'] = async (windows) =>
    windows.map((_, day) => (day === 0 ? stretch(700, 300) : stretch(980, 20)))
  t.match(await find({ totals }), [
    {
      kind: 'stops_unusual',
      facts: { share: 0.3, usual_share: 0.02, of: 1000, window_seconds: 3600 },
      summary: '30.0 % of 1000 evaluations in the last hour were not permitted; 2.0 % is usual at this time of day.'
    }
  ])
})

t.test('what processes say fails is one alert for all of them; one that is silent says nothing any more', async (t) => {
  const judge = { kind: 'judge_failing', subject: 'guard', failures: 0, requests: 0 } as const
  const upstream = { kind: 'upstream_failing', subject: 'openai', failures: 6, requests: 10 } as const
  const processes = async () => [
    report('b', { troubles: [judge, upstream] }),
    report('a', { troubles: [upstream], auditDropped: 3 }),
    report('c', { isSilent: true, troubles: [{ ...judge, subject: 'other' }], auditDropped: 5 }),
    // Of an earlier release.
    report('d', {})
  ]
  t.match(
    (await find({ processes })).map(({ summary }) => summary),
    [
      'The judge guard keeps failing and is left alone for now (on b).',
      'The upstream openai failed 12 of 20 requests in five minutes (on a, b).',
      '3 rows of the audit are lost (on a).'
    ]
  )
})
