import t from 'tap'
import { noReport } from '../../src/encoder/open.js'
import { watchTroubles } from '../../src/observe/troubles.js'
import { steppedClock } from '../identity/support.js'
import { testMetrics } from '../proxy/harness.js'

t.test(
  'an upstream that fails every other time, an encoder that fails one time in ten, a judge that is left alone',
  (t) => {
    const clock = steppedClock()
    const metrics = testMetrics()
    const states = [{ judge: 'guard', state: 'closed' }]
    const troubles = watchTroubles({ metrics, judges: () => states, clock })
    const encoder = troubles.watching(noReport)
    const answered = (upstream: string, status: string, times: number) =>
      metrics.upstreamRequests.of(upstream, status).inc(times)
    answered('a', '2xx', 5)
    answered('a', '5xx', 4)
    answered('b', '4xx', 100)
    for (let i = 0; i < 40; i++) encoder.reading(0.1)
    for (const cause of ['cancelled', 'closed', 'cancelled', 'closed', 'cancelled'] as const) encoder.failure(cause)
    t.same(troubles.now(), [], 'four failures are an accident, and who leaves is none')
    answered('a', '5xx', 1)
    for (let i = 0; i < 5; i++) encoder.failure('deadline')
    states[0]!.state = 'half_open'
    t.same(troubles.now(), [
      { kind: 'judge_failing', subject: 'guard', failures: 0, requests: 0 },
      { kind: 'encoder_failing', subject: '', failures: 5, requests: 45 },
      { kind: 'upstream_failing', subject: 'a', failures: 5, requests: 10 }
    ])
    for (let i = 0; i < 31; i++) {
      clock.advance(10_000)
      if (i < 30) troubles.now()
    }
    states[0]!.state = 'closed'
    t.same(troubles.now(), [], 'five minutes later')
    answered('a', '5xx', 5)
    answered('a', '2xx', 6)
    t.same(troubles.now(), [], 'less than every other time')
    t.end()
  }
)
