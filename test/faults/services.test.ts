/** A gateway whose Redis or database is gone: what is decided, what is refused, and how soon all is well again. */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { openStorage } from '../../src/storage/open.js'
import { call } from '../support/gateway.js'
import { msUntil, type Node, smallConstitution, startNode } from '../support/node.js'
import { startRedis } from '../support/redis.js'
import { createDatabase, hasCommand, noPostgres } from '../support/services.js'
import { tcpProxy } from '../support/tcp-proxy.js'
import { isFull, promise } from './report.js'

t.setTimeout(isFull ? 1_800_000 : 240_000)
const key = generateKey('live')
const requests = isFull ? 10_000 : 400
const evaluate = (url: string, key: string, input_text = 'Hello') =>
  call(url, '/api/v1/safety/evaluate', { key, body: { input_text } })

/** Statuses but 200, and the 99th percentile of the time, of many requests from few clients. */
async function load(url: string, count: number): Promise<{ failed: number; p99: number }> {
  const times: number[] = []
  let failed = 0
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let i = 0; i < count / 4; i++) {
        const begun = performance.now()
        const { status } = await evaluate(url, key)
        times.push(performance.now() - begun)
        if (status !== 200) failed++
      }
    })
  )
  times.sort((a, b) => a - b)
  return { failed, p99: times[Math.floor(times.length * 0.99)]! }
}

const isUp = async (node: Node) => /^sluicegate_redis_up 1$/m.test(await (await fetch(`${node.opsUrl}/metrics`)).text())

t.test('redis', { skip: !hasCommand('redis-server') && 'no redis-server' }, async (t) => {
  const port = 21_250
  let server = await startRedis(t, port)
  const proxy = await tcpProxy(t, { port, host: '127.0.0.1' })
  const env = {
    ...smallConstitution(t),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_REDIS_URL: `redis://127.0.0.1:${proxy.port}`
  }
  const node = await startNode(t, env)
  t.ok((await msUntil(() => isUp(node), 5000)) < 5000)
  await load(node.url, 200)
  const faults: [name: string, begin: () => unknown, end: () => unknown][] = [
    [
      'killed',
      async () => {
        server.kill('SIGKILL')
        await once(server, 'exit')
      },
      async () => {
        server = await startRedis(t, port)
      }
    ],
    ['frozen', () => server.kill('SIGSTOP'), () => server.kill('SIGCONT')],
    ['black-holed', () => proxy.set('swallow'), () => proxy.set('pass')],
    [
      'flushed',
      async () => {
        const redis = new Redis(port, '127.0.0.1')
        await redis.flushall()
        redis.disconnect()
      },
      () => {}
    ]
  ]
  for (const [name, begin, end] of faults) {
    // Beside each fault: what else the machine does changes by the minute.
    const usual = await load(node.url, requests)
    t.equal(usual.failed, 0)
    const running = load(node.url, requests)
    await setTimeout(50)
    await begin()
    const { failed, p99 } = await running
    await end()
    const back = await msUntil(() => isUp(node), 15_000)
    const added = p99 - usual.p99
    promise(
      t,
      `Redis ${name}`,
      `${failed} of ${requests} requests failed, p99 ${added.toFixed(1)} ms more, back after ${Math.round(back)} ms`,
      `0, 50 ms${isFull ? '' : ' (not held to in the short form)'}, 5000 ms`,
      failed === 0 && (added < 50 || !isFull) && back < 5000
    )
  }
})

t.test('database', { skip: noPostgres }, async (t) => {
  const direct = new URL(await createDatabase(t))
  const proxy = await tcpProxy(t, { port: Number(direct.port || 5432), host: direct.hostname })
  const url = new URL(direct)
  url.port = String(proxy.port)
  const env = { SLUICEGATE_BOOTSTRAP_KEY: key, SLUICEGATE_DATABASE_URL: url.href }
  const node = await startNode(t, { ...env, ...smallConstitution(t, 'storage: { stale_keys: 8s }\n') })
  t.equal((await evaluate(node.url, key)).status, 200)
  const audited = async () => {
    const storage = await openStorage({ url: direct.href })
    const rows = (await storage.audit.read({ filter: { kind: 'evaluation' }, limit: 9999 })).length
    const keys = await storage.keys.list('default', {})
    await storage.close()
    return { rows, keys: keys.length }
  }
  await msUntil(async () => (await audited()).rows === 1, 5000)

  proxy.set('cut')
  const unknown = generateKey('live')
  const known: number[] = []
  for (let i = 0; i < 20; i++) known.push((await evaluate(node.url, key)).status)
  const answers = {
    known: known.filter((status) => status === 200).length,
    unknown: (await evaluate(node.url, unknown)).status,
    create: (await call(node.url, '/api/v1/ssaas/keys', { key, body: { name: 'x', accept_terms: true } })).status,
    ready: (await fetch(`${node.opsUrl}/readyz`)).status
  }
  promise(
    t,
    'database gone',
    `known key ${answers.known} of 20 served, unknown ${answers.unknown}, create ${answers.create}, ready ${answers.ready}`,
    '20, 503, 503, 503',
    answers.known === 20 && answers.unknown === 503 && answers.create === 503 && answers.ready === 503
  )
  const stale = await msUntil(async () => (await evaluate(node.url, key)).status === 503, 20_000)
  promise(
    t,
    'known keys while it is gone',
    `refused ${Math.round(stale)} ms later`,
    'stale_keys, 8000 ms',
    stale < 9000
  )

  proxy.set('pass')
  const back = await msUntil(async () => (await evaluate(node.url, key)).status === 200, 15_000)
  const drained = await msUntil(async () => (await audited()).rows >= 22, 15_000)
  const { keys } = await audited()
  promise(
    t,
    'database back',
    `served after ${Math.round(back)} ms, audit drained ${Number.isFinite(drained)}, ${keys} key in the store`,
    '5000 ms, true, 1',
    back < 5000 && Number.isFinite(drained) && keys === 1
  )
})
