/** What Redis has to do as the state that nodes share: its contract, and its script beside the window in memory. */
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { take } from '../../src/storage/redis/scripts.js'
import { openRedisState } from '../../src/storage/redis/shared-state.js'
import { grainOf, SlidingWindow } from '../../src/storage/shared/local.js'
import { sharedStateSuite } from '../storage/shared-state-suite.js'
import { startRedis } from '../support/redis.js'
import { hasCommand, noRedis, redisPrefix, redisServer } from '../support/services.js'

/** The script with the time of the test's: what is compared is everything but where time comes from. */
const timed = take.replace(`redis.call('TIME')`, `{ math.floor(ARGV[5] / 1000000), ARGV[5] % 1000000 }`)

t.test('the script and the window in memory tell the same of every sequence', { skip: noRedis }, async (t) => {
  t.not(timed, take)
  const redis = new Redis(redisServer!)
  t.teardown(() => redis.disconnect())
  const prefix = redisPrefix(t)
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const windowMs = 60_000
  for (const [run, limit] of [1, 2, 20, 100, 1000, 1001, 1040, 5000].entries()) {
    const window = new SlidingWindow()
    const grain = grainOf(limit, windowMs)
    /** µs */
    let now = 1_700_000_000_000_000
    for (let step = 0; step < 250; step++) {
      now += [0, 0, 1, 99_999, 100_000, 100_001, 59_999_999, 60_000_000, random(3_000_000)][random(9)]!
      const cost = [0, 1, 1, 1, random(limit) + 1, limit, limit + 1][random(7)]!
      const expected = window.take(now / 1000, cost, limit, windowMs, grain)
      const answer = (await redis.eval(
        timed,
        1,
        `${prefix}${run}`,
        cost,
        limit,
        windowMs * 1000,
        grain * 1000,
        now
      )) as number[]
      const [allowed, remaining, reset, retry] = answer
      const found = { allowed: allowed === 1, remaining, resetMs: reset! / 1000, retryMs: retry! / 1000 }
      const rounded = {
        ...expected,
        resetMs: Math.round(expected.resetMs * 1000) / 1000,
        retryMs: Math.round(expected.retryMs * 1000) / 1000
      }
      if (JSON.stringify(found) !== JSON.stringify(rounded)) {
        t.same(found, rounded, `limit ${limit}, step ${step}, cost ${cost}`)
        return
      }
    }
    t.pass(`limit ${limit}`)
  }
})

t.test('a server whose clock is set back neither opens nor closes a window', { skip: noRedis }, async (t) => {
  const redis = new Redis(redisServer!)
  t.teardown(() => redis.disconnect())
  const name = `${redisPrefix(t)}back`
  const at = (seconds: number, cost = 1) =>
    redis.eval(timed, 1, name, cost, 3, 60_000_000, 0, 1_700_000_000_000_000 + seconds * 1e6) as Promise<number[]>
  for (const second of [0, 10, 20]) t.equal((await at(second))[0], 1)
  t.same(await at(-3600), [0, 0, 40_000_000, 40_000_000], 'an hour back: ages are as they were')
  t.equal((await at(-3600 + 39.9))[0], 0)
  t.equal((await at(-3600 + 40))[0], 1, 'the oldest has left its window')
})

/** Shows that what is stored is what the seal gave. */
const seal = {
  seal: (bytes: Uint8Array) => Buffer.from(bytes).reverse(),
  open: (sealed: Uint8Array) => Buffer.from(sealed).reverse()
}

t.test('the contract of a shared state', { skip: noRedis }, async (t) =>
  sharedStateSuite(t, async (t) => {
    const prefix = redisPrefix(t)
    const open = async () => {
      const state = await openRedisState({ url: redisServer!, prefix, clock: systemClock, seal, onChange() {} })
      t.teardown(() => state.close())
      return state
    }
    return [await open(), await open()]
  })
)

t.test(
  'an outage is told once and its end once, at the start too',
  {
    skip: !hasCommand('redis-server') && 'no redis-server'
  },
  async (t) => {
    const port = 21_262
    const told: boolean[] = []
    const state = await openRedisState({
      url: `redis://127.0.0.1:${port}`,
      prefix: 'outage:',
      clock: systemClock,
      seal,
      onChange: (up) => told.push(up)
    })
    t.teardown(() => state.close())
    t.same(told, [false], 'nothing listens there')
    const server = await startRedis(t, port)
    while (!state.status()?.up) await setTimeout(20)
    t.same(told, [false, true])
    server.kill('SIGKILL')
    while (state.status()?.up) await setTimeout(20)
    await setTimeout(600)
    t.same(told, [false, true, false], 'further tries are not told')
  }
)
