/** PostgreSQL under load whose connections are ended and whose server is killed, again and again. */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { openStorage } from '../../src/storage/open.js'
import { call, tempDir } from '../support/gateway.js'
import { msUntil, smallConstitution, startNode } from '../support/node.js'
import { canStartPostgres, ownPostgres } from '../support/postgres.js'
import { isFull, promise } from './report.js'
import { lostIn, nothingYet, write, writesOf } from './writes.js'

t.setTimeout(isFull ? 1_200_000 : 240_000)
const key = generateKey('live')
const terminations = isFull ? 50 : 3
const kills = isFull ? 50 : 2

t.test('connections ended and servers killed', { skip: !canStartPostgres && 'no PostgreSQL to start' }, async (t) => {
  const server = await ownPostgres(t)
  const env = {
    ...smallConstitution(t, 'review: { allow_own: true }\n'),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_DATABASE_URL: server.url,
    SLUICEGATE_DATA_DIR: tempDir(t)
  }
  const node = await startNode(t, env)
  const evaluate = (key: string, input_text = 'Hello') =>
    call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text } })
  let ended: number | NodeJS.Signals | null = null
  node.child.once('exit', (code, signal) => {
    ended = signal ?? code
  })
  const acknowledged = nothingYet()
  let isOver = false
  const writers = Array.from({ length: 4 }, () => write(node.url, key, acknowledged, () => isOver))
  /** Nobody's key, asked all the time: whatever is down, it opens nothing. */
  let passes = 0
  let asked = 0
  const guessing = (async () => {
    for (; !isOver; asked++) {
      const { status } = await evaluate(generateKey('live')).catch(() => ({ status: 0 }))
      if (status === 200) passes++
      await setTimeout(20)
    }
  })()

  for (let i = 0; i < terminations; i++) {
    const before = writesOf(acknowledged)
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluicegate' and pid <> pg_backend_pid()`
    )
    await client.end()
    t.equal(ended, null, 'the node lives')
    await msUntil(async () => writesOf(acknowledged) > before + 8, 20_000)
  }
  for (let i = 0; i < kills; i++) {
    const before = writesOf(acknowledged)
    server.kill()
    await setTimeout(Math.random() * 300)
    server.start()
    t.ok(Number.isFinite(await msUntil(async () => writesOf(acknowledged) > before + 8, 30_000)), 'it writes again')
  }

  // A known key is served while the server is away, and the audit of it comes later, in order.
  t.equal((await evaluate(key)).status, 200)
  server.kill()
  const ids: string[] = []
  for (let i = 0; i < 30; i++) ids.push((await evaluate(key, `Hello ${i}`)).body.evaluation?.evaluation_id)
  server.start()
  isOver = true
  await Promise.all([...writers, guessing])
  const audited = async () => {
    const storage = await openStorage({ url: server.url })
    try {
      const subjects = (await storage.audit.read({ filter: { kind: 'evaluation' }, order: 'newest', limit: 5000 }))
        .map(({ subject }) => subject)
        .reverse()
      return subjects.filter((subject) => ids.includes(String(subject)))
    } finally {
      await storage.close()
    }
  }
  const drained = await msUntil(async () => (await audited().catch(() => [])).length === ids.length, 30_000)
  t.same(await audited(), ids, 'drained in order')
  t.equal(ended, null, 'the node lives')

  // The same, and the node is killed before the server is back: what it had on the disk is stored by the next.
  server.kill()
  for (let i = 0; i < 30; i++) ids.push((await evaluate(key, `Hello ${i}`)).body.evaluation?.evaluation_id)
  const spooled = async () =>
    Number(/^sluicegate_audit_waiting_rows (\d+)/m.exec(await (await fetch(`${node.opsUrl}/metrics`)).text())?.[1])
  t.ok((await spooled()) >= 30)
  await setTimeout(1000)
  node.child.kill('SIGKILL')
  await once(node.child, 'exit')
  server.start()
  await startNode(t, env, { lastLine: /the bootstrap key is ignored/ })
  t.same(await audited(), ids, 'stored by the next process, in order and once')
  const found = await lostIn(server.url, acknowledged)
  promise(
    t,
    'PostgreSQL ended again and again',
    `${found.lost} of ${writesOf(acknowledged)} acknowledged writes lost, ${found.half} half rotations, ${passes} of ${asked} unknown keys passed, audit drained ${Number.isFinite(drained)}, and after kill -9 of the node; ${terminations} times its connections, ${kills} times the server`,
    '0, 0, 0, true',
    found.lost + found.half + passes === 0 && Number.isFinite(drained)
  )
  const statuses = [...acknowledged.statuses.keys()].filter((status) => ![200, 201, 409, 503].includes(status))
  t.same(statuses, [], 'what could not be done was answered with 503')
})
