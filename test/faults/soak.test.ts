/** Mixed load for minutes while what the node stands on fails at random: it lives, answers as it should, and keeps its size. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { freePort } from '../support/fronts.js'
import { call } from '../support/gateway.js'
import { msUntil, smallConstitution, startNode } from '../support/node.js'
import { canStartPostgres, ownPostgres } from '../support/postgres.js'
import { startRedis } from '../support/redis.js'
import { hasCommand } from '../support/services.js'
import { type Answer, chunks, completion, fakeUpstream, json, raw, reset, sse, sseText } from '../support/upstream.js'
import { promise } from './report.js'

/** The short form shows that it runs; what grows takes longer to see. */
const minutes = Number(process.env['SOAK_MINUTES'] ?? (process.env['FAULTS'] === 'full' ? 30 : 0.4))
t.setTimeout(minutes * 60_000 + 240_000)
const key = generateKey('live')
const pick = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)]!

const whole = json(completion('The harbour is quiet today.'))
const streamed = sse(sseText(chunks('The harbour ', 'is quiet ', 'today.')))
/** Mostly well, at times as upstreams are on bad days. */
const answer: Answer = (res, request) => {
  const asksStream = request.body.includes('"stream":true')
  const kind = Math.random()
  if (kind < 0.9) return asksStream ? streamed(res, request) : whole(res, request)
  if (kind < 0.93) return reset(res, request)
  if (kind < 0.96)
    return raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"cut')(res, request)
  if (kind < 0.98) return json({ error: { message: 'busy' } }, 500)(res, request)
  return raw('garbage\r\n\r\n')(res, request)
}

const skip = !(canStartPostgres && hasCommand('redis-server')) && 'no PostgreSQL or Redis to start'

t.test('a soak with random faults', { skip }, async (t) => {
  const database = await ownPostgres(t)
  const redisPort = await freePort()
  let redis: ChildProcess = await startRedis(t, redisPort)
  const upstream = await fakeUpstream(t, answer)
  const node = await startNode(t, {
    ...smallConstitution(t, `upstreams: { default: { url: "${upstream.url}" } }\n`),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_DATABASE_URL: database.url,
    SLUICEGATE_REDIS_URL: `redis://127.0.0.1:${redisPort}`
  })
  const { pid } = node.child
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  const descriptors = () => readdirSync(`/proc/${pid}/fd`).length

  let isOver = false
  let answered = 0
  /** What only a mistake of ours makes: 500, and anything that got past without a verdict. */
  let wrong = 0
  const statuses = new Map<number, number>()
  const count = (status: number, allowed: readonly number[]) => {
    answered++
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (!allowed.includes(status)) wrong++
  }
  const evaluate = '/api/v1/safety/evaluate'
  const said = (content: string, stream = false) => ({ model: 'm', stream, messages: [{ role: 'user', content }] })
  const ask = async (path: string, body: object | string) => {
    const answer = await call(node.url, path, { key, body }).catch(() => ({ status: 0, body: undefined }))
    // An upstream's 500 is passed on; ours would be a mistake.
    if (JSON.stringify(answer.body ?? '').includes('internal_error')) wrong++
    return answer
  }
  /** 503 where the database is away for longer than a key is honoured for, or the node has too much to do. */
  const kinds: (() => Promise<void>)[] = [
    async () =>
      count((await ask(evaluate, { input_text: 'Hello', session_id: pick(['a', 'b', 'c']) })).status, [200, 503]),
    async () => count((await ask(evaluate, { input_text: 'x'.repeat(40_000) })).status, [200, 503]),
    async () => count((await ask(evaluate, { input_text: '\u{e0041}\u{e0042}' })).status, [200, 503]),
    async () => count((await ask('/v1/chat/completions', said('kaboom'))).status, [400, 503]),
    async () => count((await ask('/v1/chat/completions', said('hello'))).status, [200, 500, 502, 503]),
    async () => count((await ask('/v1/chat/completions', said('hello', true))).status, [0, 200, 500, 502, 503]),
    async () => count((await ask('/v1/chat/completions', '{"broken')).status, [400, 503]),
    async () =>
      count(
        (await call(node.url, evaluate, { key: generateKey('live'), body: { input_text: 'Hi' } })).status,
        [401, 429, 503]
      ),
    async () => {
      const made = await ask('/api/v1/ssaas/keys', { name: 'x', accept_terms: true })
      count(made.status, [201, 503])
    },
    async () => {
      // Leaves before the answer.
      const leave = new AbortController()
      const answer = fetch(`${node.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(said('hello', true)),
        signal: leave.signal
      }).then(
        (response) => response.text(),
        () => undefined
      )
      await setTimeout(Math.random() * 8)
      leave.abort()
      await answer.catch(() => undefined)
    }
  ]
  const clients = Array.from({ length: 6 }, async () => {
    while (!isOver) {
      await pick(kinds)().catch(() => wrong++)
      await setTimeout(Math.random() * 20)
    }
  })

  const faults: [name: string, work: () => Promise<unknown>][] = [
    [
      'PostgreSQL killed',
      async () => {
        database.kill()
        await setTimeout(Math.random() * 4000)
        database.start()
      }
    ],
    [
      'Redis killed',
      async () => {
        redis.kill('SIGKILL')
        await once(redis, 'exit')
        await setTimeout(Math.random() * 4000)
        redis = await startRedis(t, redisPort)
      }
    ],
    [
      'Redis frozen',
      async () => {
        redis.kill('SIGSTOP')
        await setTimeout(Math.random() * 4000)
        redis.kill('SIGCONT')
      }
    ],
    [
      'Redis flushed',
      async () => {
        const client = new Redis(redisPort, '127.0.0.1')
        await client.flushall()
        client.disconnect()
      }
    ],
    ['reload', async () => node.child.kill('SIGHUP')]
  ]
  const done = new Map<string, number>()
  const until = performance.now() + minutes * 60_000
  const failing = (async () => {
    for (;;) {
      await setTimeout(Math.min(20_000, minutes * 6_000) * (0.5 + Math.random()))
      // The last minute is quiet: what was waiting has come to rest.
      if (performance.now() > until - Math.min(60_000, minutes * 15_000)) return
      const [name, work] = pick(faults)
      await work()
      done.set(name, (done.get(name) ?? 0) + 1)
    }
  })()

  /** Medians of the second quarter and of the last: the first is the engine's and the caches'; garbage makes waves. */
  const seen: { memory: number; descriptors: number }[] = []
  for (; performance.now() < until && node.child.exitCode === null; await setTimeout(1000))
    seen.push({ memory: memory(), descriptors: descriptors() })
  await failing
  isOver = true
  await Promise.all(clients)
  const quarter = Math.floor(seen.length / 4)
  const median = (part: typeof seen, of: 'memory' | 'descriptors') =>
    part.map((one) => one[of]).sort((a, b) => a - b)[Math.floor(part.length / 2)]!
  const [early, late] = [seen.slice(quarter, 2 * quarter), seen.slice(-quarter)]
  const grown = median(late, 'memory') - median(early, 'memory')
  const opened = median(late, 'descriptors') - median(early, 'descriptors')
  const settled = await msUntil(async () => {
    const page = await (await fetch(`${node.opsUrl}/metrics`)).text()
    return /^sluicegate_audit_waiting_rows 0$/m.test(page) && /^sluicegate_audit_dropped_rows 0$/m.test(page)
  }, 30_000)
  const held = minutes < 10 ? ' (not held to in so short a time)' : ''
  promise(
    t,
    `${minutes} minutes of mixed load with random faults`,
    `${wrong} of ${answered} answers wrong ${JSON.stringify([...statuses].sort())}, faults ${JSON.stringify([...done])}, memory ${grown.toFixed(1)} MiB more (${median(late, 'memory').toFixed(0)} MiB), descriptors ${opened} more, ended ${node.child.exitCode}, audit settled ${Number.isFinite(settled)}`,
    `0, 64 MiB${held}, 8, null, true`,
    wrong === 0 &&
      (minutes < 10 || grown < 64) &&
      opened <= 8 &&
      node.child.exitCode === null &&
      Number.isFinite(settled)
  )
})
