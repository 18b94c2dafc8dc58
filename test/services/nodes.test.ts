/**
 * Many processes, one gateway: docs/operations.md, docs/api.md section 3 on the built command, real PostgreSQL and
 * real Redis.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { built } from '../support/cli.js'
import { call } from '../support/gateway.js'
import { msUntil, type Node, sharedKey, smallConstitution, startNode } from '../support/node.js'
import { createDatabase, noPostgres, noRedis, redisPrefix, redisServer } from '../support/services.js'

t.setTimeout(300_000)
const key = generateKey('live')
const configured = (t: Test, yaml = '') => ({ ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: key })

const evaluate = (node: { url: string }, key: string, input_text = 'Hello', more: object = {}) =>
  call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text, ...more } })
const list = (node: { url: string }, key: string) => call(node.url, '/api/v1/ssaas/keys', { key })

async function createKey(node: Node): Promise<{ key: string; id: string }> {
  const { body } = await call(node.url, '/api/v1/ssaas/keys', {
    key,
    body: { name: 'x', accept_terms: true, rate_limit_per_minute: 100 }
  })
  return { key: body.key, id: body.record.key_id }
}

interface Bars {
  revokedMs: number
  activatedMs: number
  /** Whether an activation waits until the others have read the version: where they can say so. */
  waits: boolean
}

/** What must hold of any nodes that share a storage. */
async function agree(t: Test, nodes: Node[], bars: Bars): Promise<void> {
  const [first, ...others] = nodes as [Node, ...Node[]]

  await t.test(`a revoked key is refused everywhere within ${bars.revokedMs} ms`, async (t) => {
    for (let round = 0; round < 3; round++) {
      const made = await createKey(first)
      for (const node of nodes) t.equal((await list(node, made.key)).status, 200)
      await call(first.url, `/api/v1/ssaas/keys/${made.id}`, { key, method: 'DELETE' })
      t.equal((await list(first, made.key)).status, 401, 'where it was revoked at once')
      const late = await Promise.all(
        others.map((node) => msUntil(async () => (await list(node, made.key)).status === 401, 10_000))
      )
      t.ok(Math.max(...late) <= bars.revokedMs, `after ${late.map(Math.round)} ms`)
    }
  })

  await t.test(`a constitution activated on one is in force on all within ${bars.activatedMs} ms`, async (t) => {
    const path = '/api/v1/constitutions/default'
    const putInForce = async (version: number) => {
      const { status } = await call(first.url, `${path}/activate`, { key, body: { version } })
      t.equal(status, 200)
      const late = await Promise.all(
        others.map((node) =>
          msUntil(async () => (await evaluate(node, key)).body.evaluation.policy === `default@${version}`, 20_000)
        )
      )
      t.ok(Math.max(...late) <= bars.activatedMs, `after ${late.map(Math.round)} ms`)
    }
    // One that takes a second to read, and more where three nodes do so on the same cores.
    const source = `name: default\nversion: '0'\nextends: default\n# ${Math.random()}\n`
    const { version } = (await call(first.url, path, { key, method: 'PUT', body: { source } })).body
    if (!bars.waits) {
      const hasRead = ({ logs }: Node) =>
        logs.some((line) => /was read/.test(`${line['msg']}`) && line['version'] === version)
      t.ok((await msUntil(async () => others.every(hasRead), 60_000)) < 60_000, 'they read what is stored')
    }
    await putInForce(version)
    await putInForce(1)
  })

  await t.test('whoever is asked answers for all: the course of the metrics, and which processes serve', async (t) => {
    const total = async (node: Node) => {
      const { body } = await call(node.url, '/api/v1/safety/metrics?window=15m', { key })
      return { nodes: body.nodes, processes: body.processes, forbidden: body.evaluations.by_decision.forbid }
    }
    // Asked, each writes what it has counted before; the last one's answer holds it all.
    let before = 0
    for (const node of nodes) before = (await total(node)).forbidden
    for (const [i, node] of nodes.entries()) {
      for (let times = 0; times <= i; times++) await evaluate(node, key, 'kaboom')
      // Else it writes within ten seconds.
      await total(node)
    }
    const counted = before + nodes.reduce((sum, _, i) => sum + i + 1, 0)
    for (const node of nodes) t.same(await total(node), { nodes: 3, processes: 3, forbidden: counted })
    for (const node of nodes) {
      const { processes, node: own } = (await call(node.url, '/api/v1/status', { key })).body
      t.same(
        processes.map(({ node, state, answers, worker }: Record<string, unknown>) => [node, state, answers, worker]),
        ['n1', 'n2', 'n3'].map((name) => [name, 'serving', name === own, null])
      )
    }
  })

  await t.test('a review is decided once, whoever is asked', async (t) => {
    const { evaluation } = (await evaluate(first, key, 'Slay it', { context: { topic: 'unclear' } })).body
    t.equal(evaluation.decision, 'divert')
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        call(nodes[i % nodes.length]!.url, '/api/v1/pdp/adjudicate', {
          key,
          body: { review_id: evaluation.review_id, decision: i % 2 ? 'permit' : 'forbid' }
        })
      )
    )
    t.same(
      answers.map(({ status }) => status).sort(),
      [200, ...Array.from({ length: 29 }, () => 409)],
      'one decision stands'
    )
  })
}

async function accepted(nodes: { url: string }[], key: string, requests: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: requests }, (_, i) => evaluate(nodes[i % nodes.length]!, key)))
  return answers.filter(({ status }) => status === 200).length
}

const risky = 'Slay it'
async function sessionsAreShared(t: Test, nodes: { url: string }[]): Promise<void> {
  const score = async (node: { url: string }, session_id: string) =>
    (await evaluate(node, key, risky, { session_id })).body.evaluation.risk_score
  const alone = await score(nodes[0]!, 'fresh')
  for (let turn = 0; turn < 4; turn++) {
    await evaluate(nodes[turn % 2]!, key, 'kaboom', { session_id: 'shared' })
  }
  t.ok((await score(nodes.at(-1)!, 'shared')) > alone, 'what was said on other nodes counts')
}

t.test('three nodes on PostgreSQL and Redis', { skip: noPostgres || noRedis }, async (t) => {
  const env = {
    ...configured(t, `redis: { prefix: "${redisPrefix(t)}" }\n`),
    SLUICEGATE_DATABASE_URL: await createDatabase(t),
    SLUICEGATE_REDIS_URL: redisServer
  }
  const nodes = await Promise.all([1, 2, 3].map((i) => startNode(t, { ...env, SLUICEGATE_NODE: `n${i}` })))
  await t.test('the limit is accepted over all nodes, and no more', async (t) => {
    const made = await createKey(nodes[0]!)
    const count = await accepted(nodes, made.key, 210)
    t.ok(count <= 100, `${count} accepted`)
    // A node that had to wait for Redis for longer than it does has counted by itself, up to its share.
    const waited = nodes.some(({ logs }) => logs.some(({ msg }) => /Redis does not answer/.test(String(msg))))
    if (!waited) t.equal(count, 100)
  })
  await t.test('sessions are shared', (t) => sessionsAreShared(t, nodes))
  await t.test('what the command revokes is refused by all within 1 s', async (t) => {
    const made = await createKey(nodes[0]!)
    for (const node of nodes) t.equal((await list(node, made.key)).status, 200)
    const command = spawn(process.execPath, [built, 'keys', 'revoke', made.id], {
      env: { PATH: process.env['PATH'], SLUICEGATE_DATA_KEY: sharedKey, ...env },
      stdio: 'ignore'
    })
    t.same(await once(command, 'exit'), [0, null])
    const late = await Promise.all(
      nodes.map((node) => msUntil(async () => (await list(node, made.key)).status === 401, 10_000))
    )
    t.ok(Math.max(...late) <= 1000, `after ${late.map(Math.round)} ms`)
  })
  await agree(t, nodes, { revokedMs: 1000, activatedMs: 2000, waits: true })
})

t.test('three nodes on PostgreSQL alone', { skip: noPostgres }, async (t) => {
  const env = { ...configured(t), SLUICEGATE_DATABASE_URL: await createDatabase(t) }
  const nodes = await Promise.all([1, 2, 3].map((i) => startNode(t, { ...env, SLUICEGATE_NODE: `n${i}` })))
  t.ok(nodes[0]!.logs.some(({ msg }) => /without Redis each node counts/.test(String(msg))))
  await agree(t, nodes, { revokedMs: 5000, activatedMs: 2000, waits: false })
})

t.test('workers of one machine are one gateway', async (t) => {
  const node = await startNode(t, { ...configured(t), SLUICEGATE_WORKERS: '2' }, { lastLine: /workers serve/ })
  const made = await createKey(node)
  t.equal(await accepted([node, node], made.key, 210), 100, 'one limit')
  await sessionsAreShared(t, [node, node])
  const page = async () => (await fetch(`${node.opsUrl}/metrics`)).text()
  const value = async (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await page())?.[1])
  const permitted = 'sluicegate_evaluations_total{surface="evaluate",decision="permit"}'.replace(/[{}]/g, '\\$&')
  t.equal(await value(permitted), 100, 'metrics are summed up')
  t.equal(await value('sluicegate_workers'), 2)

  const course = async () => (await call(node.url, '/api/v1/safety/metrics?window=15m', { key })).body
  // Each connection is of some worker; whichever it is, what the other counted has come within ten seconds and a look.
  const all = async () => {
    const { nodes, processes, evaluations } = await course()
    return nodes === 1 && processes === 2 && evaluations.by_surface.evaluate.permit === 100
  }
  t.ok((await msUntil(all, 20_000)) < 20_000, 'the course of the metrics is of both')
  const { processes } = (await call(node.url, '/api/v1/status', { key })).body
  t.same(processes.map(({ worker }: { worker: number }) => worker).sort(), [1, 2])

  await call(node.url, `/api/v1/ssaas/keys/${made.id}`, { key, method: 'DELETE' })
  const revoked = await Promise.all(Array.from({ length: 20 }, () => list(node, made.key)))
  t.ok(revoked.every(({ status }) => status === 401))

  const { pid } = node.child
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  process.kill(Number(children[0]), 'SIGKILL')
  t.ok((await msUntil(async () => (await value('sluicegate_worker_restarts_total')) === 1, 10_000)) < 10_000)
  t.equal((await list(node, key)).status, 200, 'the other one serves')
  t.ok((await msUntil(async () => (await value('sluicegate_workers')) === 2, 60_000)) < 60_000, 'it is replaced')
  t.equal(await value(permitted), 100, 'what it had counted is not lost')

  node.child.kill('SIGTERM')
  await new Promise((resolve) => node.child.once('exit', resolve))
  t.equal(node.child.exitCode, 0)
  for (const pid of children) t.throws(() => process.kill(Number(pid), 0), 'no worker outlives the primary')
})
