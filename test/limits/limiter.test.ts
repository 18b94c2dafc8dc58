import fc from 'fast-check'
import t from 'tap'
import type { LimitState } from '../../src/limits/limit.js'
import { createLimiter } from '../../src/limits/limiter.js'
import { createMemoryCounters } from '../../src/storage/shared/local.js'
import { steppedClock } from '../identity/support.js'

const windowMs = 60_000

function build(limitPerMinute: number) {
  const clock = steppedClock()
  const counters = createMemoryCounters({ clock })
  const limiter = createLimiter({ counters })
  const counted = { lineage: 'key_a', limitPerMinute }
  const charge = (cost = 1) => limiter.charge(counted, cost) as LimitState
  return { clock, counters, limiter, charge }
}

/** The most that was taken in any window: only windows that begin at a taking can be the fullest. */
function fullest(taken: [at: number, cost: number][]): number {
  let most = 0
  for (const [from] of taken) {
    let sum = 0
    for (const [at, cost] of taken) if (at >= from && at < from + windowMs) sum += cost
    most = Math.max(most, sum)
  }
  return most
}

/** A binary fraction: sums of it are exact, so that a test meets an edge from the side it means to. */
const moment = 1 / 1024

/** Gaps that meet the edges: none, within a grain, a second, a window less a moment, exactly one. */
const gap = fc.oneof(
  fc.constantFrom(0, 0.25, 1, 99, 100, 101, 59_999, 59_999.5, 60_000, 60_001),
  fc.integer({ min: 0, max: 20_000 * 1024 }).map((n) => n * moment)
)

for (const [name, limit, costs] of [
  ['exact', fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 25 })],
  ['in buckets', fc.integer({ min: 1001, max: 1040 }), fc.integer({ min: 1, max: 1100 })]
] as const) {
  t.test(`${name}: in no 60 s is more than the limit taken, and what is told is true`, (t) => {
    fc.assert(
      fc.property(limit, fc.array(fc.tuple(gap, costs), { maxLength: 60 }), (limit, steps) => {
        const { clock, charge } = build(limit)
        const taken: [number, number][] = []
        for (const [wait, cost] of steps) {
          clock.advance(wait)
          const before = charge(0)
          const state = charge(cost)
          if (state.allowed !== cost <= before.remaining) return false
          if (state.remaining !== before.remaining - (state.allowed ? cost : 0)) return false
          if ((state.reset === 0) !== state.remaining > 0 || state.reset > 60) return false
          if (state.allowed ? state.retryAfter !== 0 : state.retryAfter < 1 || state.retryAfter > 60) return false
          if (state.allowed) taken.push([clock.monotonic(), cost])
        }
        return fullest(taken) <= limit
      }),
      { numRuns: 200 }
    )
    t.pass('for every course tried')
    t.end()
  })

  t.test(`${name}: who waits as long as told is served, and not a second sooner`, (t) => {
    fc.assert(
      fc.property(limit, fc.array(fc.tuple(gap, costs), { minLength: 5, maxLength: 40 }), (limit, steps) => {
        const { clock, charge } = build(limit)
        for (const [wait, cost] of steps) {
          clock.advance(wait)
          const { allowed, retryAfter } = charge(cost)
          if (allowed || cost > limit) continue
          // A whole second is what it is rounded up to, so one less is too early.
          if (retryAfter > 1) {
            clock.advance((retryAfter - 1) * 1000 - moment)
            if (charge(cost).allowed) return false
            clock.advance(1000 + moment)
          } else {
            clock.advance(1000)
          }
          if (!charge(cost).allowed) return false
        }
        return true
      }),
      { numRuns: 200 }
    )
    t.pass('for every course tried')
    t.end()
  })
}

t.test('a burst over the edge of a minute is refused as any other', (t) => {
  const { clock, charge } = build(100)
  clock.advance(59_000)
  for (let i = 0; i < 100; i++) t.match(charge(), { allowed: true, limit: 100, remaining: 99 - i })
  clock.advance(2000)
  t.same(charge(), { allowed: false, limit: 100, remaining: 0, reset: 58, retryAfter: 58 })
  clock.advance(57_999.9)
  t.equal(charge().allowed, false)
  clock.advance(0.2)
  t.match(charge(100), { allowed: true, remaining: 0, reset: 60 })
  t.end()
})

t.test('above 1,000 a minute a steady stream at the limit loses at most one in a hundred', (t) => {
  const limit = 6000
  const { clock, charge } = build(limit)
  let refused = 0
  const minutes = 5
  for (let i = 0; i < limit * minutes; i++) {
    if (!charge().allowed) refused++
    clock.advance(windowMs / limit)
  }
  t.ok(refused / (limit * minutes) <= 0.01, `${refused} refused`)
  t.end()
})

t.test('what shares a bucket expires with the last of it', (t) => {
  const { clock, charge } = build(2000)
  charge(1)
  clock.advance(99)
  charge(1999)
  clock.advance(59_901)
  t.match(charge(), { allowed: false, reset: 1 }, 'a minute after the first of them')
  clock.advance(99)
  t.match(charge(2000), { allowed: true }, 'a minute after the last')
  t.end()
})

t.test('a counter that rests is kept for its whole minute, while others come and go', (t) => {
  for (let start = 0; start < 60; start += 5) {
    const { clock, limiter, charge } = build(1)
    const second = (i: number) => {
      limiter.charge({ lineage: `other ${i}`, limitPerMinute: 1 }, 1)
      clock.advance(1000)
    }
    for (let i = 0; i < start; i++) second(i)
    charge()
    for (let i = start; i < start + 59; i++) second(i)
    t.equal(charge().allowed, false, `begun at ${start} s`)
  }
  t.end()
})

t.test('lineages do not share, and a cost above the limit is refused and takes nothing', (t) => {
  const { limiter, charge } = build(3)
  t.match(charge(4), { allowed: false, remaining: 3, reset: 0, retryAfter: 60 })
  t.match(charge(3), { allowed: true, remaining: 0 })
  t.match(limiter.charge({ lineage: 'key_b', limitPerMinute: 3 }, 1), { allowed: true, remaining: 2 })
  t.match(charge(0), { allowed: true, remaining: 0, reset: 60 })
  t.end()
})

t.test('a limit that is changed counts what was taken before', (t) => {
  const { limiter, counters } = build(5)
  const charge = (limitPerMinute: number) => limiter.charge({ lineage: 'key_a', limitPerMinute }, 1)
  for (let i = 0; i < 5; i++) charge(5)
  t.match(charge(2), { allowed: false, limit: 2, remaining: 0 })
  t.match(charge(2000), { allowed: true, limit: 2000, remaining: 1994 })
  t.match(charge(7), { allowed: true, remaining: 0 })
  t.match(charge(7), { allowed: false })
  t.equal(counters.size, 1)
  t.end()
})

t.test('an idle counter returns as new, however long it was idle', (t) => {
  for (const idle of [60_000, 90_000, 120_000, 10_000_000]) {
    const { clock, charge } = build(2)
    charge(2)
    clock.advance(idle)
    t.match(charge(2), { allowed: true, remaining: 0 })
    t.equal(charge().allowed, false, 'and still counts')
  }
  t.end()
})

t.test('counters of a window that has ended go, while longer windows are in use', (t) => {
  const { clock, counters } = build(1)
  for (let i = 0; i < 100; i++) counters.take(`short ${i}`, 1, 1, windowMs)
  counters.take('long', 1, 1, 10 * windowMs)
  t.equal(counters.size, 101)
  clock.advance(2 * windowMs)
  t.equal(counters.take('long', 1, 1, 10 * windowMs).allowed, false)
  t.equal(counters.size, 1)
  t.end()
})

t.test('counters that answer with a promise are waited for', async (t) => {
  const limiter = createLimiter({
    counters: {
      take: async () => ({ allowed: false, remaining: 0, resetMs: 1, retryMs: 1 }),
      close() {}
    }
  })
  const state = { allowed: false, limit: 9, remaining: 0, reset: 1, retryAfter: 1 }
  t.same(await limiter.charge({ lineage: 'a', limitPerMinute: 9 }, 1), state)
})

t.test(
  'windows of the encoder have a counter of their own, which a request with the most of them always fits',
  async (t) => {
    const { clock, limiter, charge } = build(100)
    const windows = (count: number) => limiter.chargeWindows({ lineage: 'k', limitPerMinute: 100 }, count) as LimitState
    t.match(windows(1600), { allowed: true, limit: 1600, remaining: 0 })
    t.match(windows(1), { allowed: false, retryAfter: 60 })
    t.match(charge(100), { allowed: true }, 'requests are another matter')
    clock.advance(60_000)
    t.match(windows(64), { allowed: true })
    const least = { lineage: 'small', limitPerMinute: 1 }
    t.match(limiter.chargeWindows(least, 256), { allowed: true, remaining: 0 })
  }
)
