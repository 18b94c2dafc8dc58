import t, { type Test } from 'tap'
import { loadPolicy } from '../../src/policy/evaluate/entry.js'
import { createPool, type PoolOptions } from '../../src/policy/evaluate/pool.js'
import { call, source } from './support.js'

t.setTimeout(300_000)
const rules = '  - { name: kill, category: violence, weight: 0.9, any: [kill it] }'
const { constitution } = await loadPolicy(source({ rules }), 'default.yaml')
const long = `${'some words and more words. '.repeat(10_000)} kill it`

async function start(t: Test, options: Partial<PoolOptions>) {
  const pool = createPool({ deadlineMs: 60_000, maxThreads: 1, ...options })
  t.teardown(() => pool.close())
  const judge = (text: string | string[], whose = '') =>
    pool.judge({ whose, key: 'default', constitution, input: { ...call(text), session: undefined } })
  // The thread starts, and compiles the policy.
  await judge('hello')
  return judge
}

t.test('what texts wait for each other is not taken off their deadlines', async (t) => {
  const time = async (judge: (text: string) => Promise<unknown>) => {
    const begun = performance.now()
    await judge(long)
    return performance.now() - begun
  }
  const unhurried = await start(t, {})
  const each = Math.max(await time(unhurried), await time(unhurried), 20)
  // Ten times what one takes here and now, so that no text is late by itself; all of them together are.
  const judge = await start(t, { deadlineMs: 10 * each, longestWaitMs: 250_000 })
  const verdicts = await Promise.all(Array.from({ length: 40 }, () => judge(long)))
  t.equal(verdicts.filter(({ decision }) => decision === 'forbid').length, 40)
})

t.test('texts wait for a thread up to a number', async (t) => {
  const judge = await start(t, {})
  const outcomes = await Promise.allSettled(Array.from({ length: 300 }, () => judge('kill it')))
  t.same(
    outcomes.map(({ status }) => status),
    [...Array(257).fill('fulfilled'), ...Array(43).fill('rejected')],
    'one is judged, 256 wait'
  )
  const late = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.name] : []))
  t.same(new Set(late), new Set(['TimeoutError']), 'which counts as late')
  t.match(await judge('kill it'), { decision: 'forbid' }, 'and then all is well')
})

t.test('texts wait for a thread up to a time', async (t) => {
  const judge = await start(t, { longestWaitMs: 1 })
  const [first, second] = await Promise.allSettled([judge(long.repeat(16)), judge('kill it')])
  t.match(first, { status: 'fulfilled' })
  t.match(second, { status: 'rejected', reason: { name: 'TimeoutError', message: 'no thread was free in time' } })
  t.match(await judge('kill it'), { decision: 'forbid' }, 'and then all is well')
})

t.test('who floods the threads leaves one to others, and room to wait', async (t) => {
  const judge = await start(t, { maxThreads: 2, mostEach: 1 })
  // Both threads start.
  await Promise.all([judge(long, 'flood'), judge(long, 'other')])
  let isFirstDone = false
  const first = judge(long.repeat(32), 'flood').finally(() => {
    isFirstDone = true
  })
  const flood = [first, ...Array.from({ length: 299 }, () => judge('hello', 'flood'))]
  const settled = Promise.allSettled(flood)
  t.match(await judge('kill it', 'other'), { decision: 'forbid' })
  t.notOk(isFirstDone, 'another caller does not wait for the long text')
  const outcomes = await settled
  t.same(
    outcomes.map(({ status }) => status),
    [...Array(257).fill('fulfilled'), ...Array(43).fill('rejected')]
  )
})

t.test('a thread stops by itself where its time is over', async (t) => {
  const judge = await start(t, { deadlineMs: 1000 })
  // Words that may stand for others take long to read.
  const odd = 'h3llo w0rld ag41n '.repeat(1000)
  await t.rejects(judge(Array.from({ length: 300 }, () => odd)), {
    name: 'TimeoutError',
    message: 'the text was not judged in time'
  })
  t.match(await judge('kill it'), { decision: 'forbid' }, 'and then all is well')
})
