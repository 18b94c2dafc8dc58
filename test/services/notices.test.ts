/** Two nodes on one PostgreSQL tell once; and where it takes nothing any more, one of those that share a Redis tells that. */
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call } from '../support/gateway.js'
import { smallConstitution, startNode } from '../support/node.js'
import { createDatabase, noPostgres, noRedis, redisPrefix, redisServer } from '../support/services.js'
import { tcpProxy } from '../support/tcp-proxy.js'

t.setTimeout(300_000)
const key = generateKey('live')

t.test('reviews that wait, then a storage that is gone', { skip: noPostgres || noRedis }, async (t) => {
  const got: { type: string; data: { kind: string; alerts: { facts: { nodes?: string[] } }[] } }[] = []
  const hook = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.end()
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  t.teardown(() => hook.close())
  const database = new URL(await createDatabase(t))
  const proxy = await tcpProxy(t, { host: database.hostname, port: Number(database.port || 5432) })
  database.host = `127.0.0.1:${proxy.port}`
  const { port } = hook.address() as { port: number }
  const env = {
    ...smallConstitution(
      t,
      `notices:
  every: 200ms
  reviews_waiting: { count: 2 }
  storage_down: 2s
  webhook: { url: "http://127.0.0.1:${port}/", secret: "a-secret-of-many-characters" }
redis: { url: "${redisServer}", prefix: "${redisPrefix(t)}" }
`
    ),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_DATABASE_URL: database.href
  }
  const nodes = [
    await startNode(t, { ...env, SLUICEGATE_NODE: 'one' }),
    await startNode(t, { ...env, SLUICEGATE_NODE: 'two' }, { lastLine: /listening/ })
  ]
  for (const [i, { url }] of nodes.entries()) {
    const body = { input_text: `I will slay it, ${i}`, context: { topic: 'unclear' } }
    t.equal((await call(url, '/api/v1/safety/evaluate', { key, body })).body.evaluation.decision, 'divert')
  }
  while (got.length === 0) await wait(50)
  await wait(2_000)
  t.match(got, [{ type: 'alert.began', data: { kind: 'reviews_waiting' } }])
  t.equal(got.length, 1)
  for (const { url } of nodes)
    t.match((await call(url, '/api/v1/alerts', { key })).body.alerts, [{ kind: 'reviews_waiting' }])

  proxy.set('cut')
  while (got.length === 1) await wait(50)
  await wait(5_000)
  t.equal(got.length, 2, 'once for both nodes')
  t.match(got[1], { type: 'alert.began', data: { kind: 'storage_down', alerts: [{ facts: { nodes: [/one|two/] } }] } })
})
