/** The time that a call has, by the windows that it asks for. Time is the test's. */
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { CallQueue, timeFor, windowsOfDeadline } from '../../src/encoder/call-queue.js'
import { noReport, openEncoder, type SlowFacts } from '../../src/encoder/open.js'
import type { TaskRunner } from '../../src/encoder/threads.js'
import { fixture } from './support.js'

const deadlineMs = 1000
const task = { ids: new BigInt64Array(0) }

/** Calls of one caller, one at a time; a thread answers nothing before the test says so. */
function queue(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let now = 0
  const answers: (() => void)[] = []
  const threads: TaskRunner = {
    waiting: 0,
    run: (_, __, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        answers.push(() => resolve({ logits: new Float32Array(), tags: undefined, ms: 1 }))
      }),
    close: async () => {}
  }
  const calls = new CallQueue({ threads, atOnce: 1, clock: { monotonic: () => now }, deadlineMs, report: noReport })
  /** @param windows as they become known, each before a task */
  const call = (...windows: number[]) => {
    const made = { outcome: '' }
    calls
      .run([], async (call) => {
        for (const more of windows) {
          call.expect(more)
          await call.run(task, 'k')
        }
      })
      .then(
        () => Object.assign(made, { outcome: 'read' }),
        ({ failure }) => Object.assign(made, { outcome: failure })
      )
    return made
  }
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  const pass = async (ms: number) => {
    await settle()
    now += ms
    mock.timers.tick(ms)
    await settle()
  }
  const answer = async () => {
    answers.shift()!()
    await settle()
  }
  return { call, pass, answer }
}

t.test('a call of few windows has the deadline, one of many in proportion more', async (t) => {
  const { call, pass, answer } = queue(t)
  for (const [windows, time] of [
    [0, 1000],
    [1, 1000],
    [16, 1000],
    [64, 4000]
  ] as const) {
    const made = call(windows)
    await pass(time - 1)
    t.equal(made.outcome, '', `${windows} windows after ${time - 1} ms`)
    await pass(1)
    t.equal(made.outcome, 'deadline', `${windows} windows after ${time} ms`)
    await answer()
  }
})

t.test('windows that become known later give more time from the turn on, and what was used stays used', async (t) => {
  const { call, pass, answer } = queue(t)
  const made = call(8, 24)
  await pass(900)
  await answer()
  await pass(1099)
  t.equal(made.outcome, '', '32 windows have two deadlines')
  await pass(1)
  t.equal(made.outcome, 'deadline')
})

t.test('the time counts from the turn on, and no number of windows gives more than sixteen deadlines', async (t) => {
  const { call, pass, answer } = queue(t)
  const first = call(1_000_000)
  const second = call(16)
  await pass(4999)
  await answer()
  t.equal(first.outcome, 'read')
  await pass(999)
  t.equal(second.outcome, '', 'it has waited for the first')
  await pass(1)
  t.equal(second.outcome, 'deadline')
  t.equal(timeFor(1_000_000, deadlineMs), 16 * deadlineMs)
  t.equal(timeFor(windowsOfDeadline, deadlineMs), deadlineMs)
  t.equal(timeFor(64, Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY, 'without a deadline there is none')
})

t.test('a start tells where the most windows of a request cannot be read in their time', async (t) => {
  const opened = async (deadlineMs: number) => {
    const told: SlowFacts[] = []
    const settings = { use: 'required', folder: fixture, threads: 1, queue: 64, deadlineMs } as const
    const deps = { clock: systemClock, report: noReport, crashed() {}, slow: (facts: SlowFacts) => told.push(facts) }
    const { encoder, close } = await openEncoder(settings, deps)
    t.ok(encoder)
    await close()
    return told
  }
  t.same(await opened(60_000), [])
  t.same(await opened(Number.POSITIVE_INFINITY), [])
  const [facts, ...more] = await opened(0.001)
  t.same(more, [], 'once')
  t.match(facts, { windows: 64, allowedMs: 0.004 })
  t.ok(facts!.windowMs > 0)
})
