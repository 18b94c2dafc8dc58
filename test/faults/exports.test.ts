/** Whoever takes out everything that is kept holds nobody up, and whoever takes it slowly takes no memory for it. */
import { execFileSync } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import t, { type Test } from 'tap'
import { generateKey, parseKey } from '../../src/identity/key-format.js'
import { migrateStorage } from '../../src/storage/open.js'
import { call, tempDir } from '../support/gateway.js'
import { smallConstitution, startNode } from '../support/node.js'
import { isFull, promise } from './report.js'

t.setTimeout(900_000)
const rows = isFull ? 1_000_000 : 20_000
/** ms. The short form runs beside other tests: what it looks for is a loop that stands still for seconds. */
const bar = isFull ? 200 : 2_000
const key = generateKey('live')

/** A store of a server that has served for long. */
async function fill(path: string): Promise<void> {
  await migrateStorage(`sqlite:${path}`)
  const db = new DatabaseSync(path)
  db.exec('pragma synchronous = off')
  const insert = (text: string) =>
    db.exec(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) insert into ${text} from n`
    )
  db.exec("insert into accounts values ('default', 1)")
  insert(`audit (node, position, at, kind, account, key_id, subject, data, hash)
    select 'n', i, 1700000000000 + i, 'evaluation', 'default', 'key_' || (i % 20), 'ev_' || i,
      '{"filling":"' || hex(zeroblob(100)) || '"}', hex(zeroblob(32))`)
  insert(`usage select 'default', 'key_' || (i / 30), 'live', case i % 3 when 0 then 'evaluate' when 1 then 'chat' else 'answer' end,
      date('now', '-' || (i / 3 % 10) || ' days'), 5, 500`)
  insert(`keys (key_id, account, lineage, prefix, environment, name, scopes, ip_allowlist, hash, created_at)
    select 'key_' || printf('%026d', i), 'default', 'key_' || i, printf('%08d', i), 'live', 'n', '["billing:read"]', '[]', zeroblob(32), i`)
  db.close()
}

/** The longest that another caller waits for a verdict while something goes on. */
async function longestWait<T>(url: string, work: Promise<T>): Promise<{ waits: number[]; outcome: T }> {
  const waits: number[] = []
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  do {
    const began = performance.now()
    const { status } = await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'Hello' } })
    if (status !== 200) throw new Error(`an evaluation was answered ${status}`)
    waits.push(performance.now() - began)
  } while (!isOver)
  return { waits, outcome: await over }
}

async function lengthOf(url: string, path: string): Promise<number> {
  const response = await fetch(url + path, { headers: { 'x-api-key': key } })
  if (response.status !== 200) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`)
  let length = 0
  for await (const chunk of response.body!) length += chunk.length
  return length
}

const memoryOf = (pid: number) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024

async function start(t: Test) {
  const dir = tempDir(t)
  await fill(join(dir, 'sluicegate.db'))
  addKey(join(dir, 'sluicegate.db'))
  const node = await startNode(
    t,
    { ...smallConstitution(t, `storage: { url: "sqlite:${join(dir, 'sluicegate.db')}" }`), SLUICEGATE_DATA_DIR: dir },
    { lastLine: /listening/ }
  )
  await lengthOf(node.url, '/api/v1/audit?limit=1')
  return node
}

t.test('while everything is taken out others are answered', async (t) => {
  const node = await start(t)
  await longestWait(node.url, setTimeout(1_000))
  // What the machine itself makes callers wait, which other tests may keep busy.
  const idle = Math.max(...(await longestWait(node.url, setTimeout(2_000))).waits)
  for (const [path, least] of [
    ['/api/v1/audit?format=jsonl', rows * 300],
    ['/api/v1/audit?format=jsonl&node=none', 0],
    ['/api/v1/audit?kind=none&by=key_1', 0],
    ['/api/v1/billing/usage', rows * 30],
    ['/api/v1/billing/usage?format=csv', rows * 10],
    ['/api/v1/ssaas/keys', rows * 200]
  ] as const) {
    const { waits, outcome } = await longestWait(node.url, lengthOf(node.url, path))
    t.ok(outcome >= least, `${path}: ${outcome} bytes`)
    const longest = Math.max(...waits)
    promise(
      t,
      `${rows} rows by ${path}`,
      `${longest.toFixed(0)} ms at most, of ${waits.length} (${idle.toFixed(0)} ms with nothing going on)`,
      `< ${bar} ms more`,
      longest < bar + idle
    )
  }
})

t.test('a reader that takes nothing costs no memory', async (t) => {
  const node = await start(t)
  const { hostname, port } = new URL(node.url)
  const readers = 40
  for (let i = 0; i < readers; i++) {
    const socket = connect(Number(port), hostname)
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.write(`GET /api/v1/audit?format=jsonl HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${key}\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
  }
  const before = await settled(node.child.pid!)
  await setTimeout(3_000)
  const each = Math.max(0, (await settled(node.child.pid!)) - before) / readers
  // What each of them has not taken is some 9 MiB in the short form, and 50 times that in the full one.
  promise(t, 'what a reader that takes nothing adds in 3 s', `${each.toFixed(2)} MiB`, '< 1 MiB', each < 1)
})

/**
 * MiB of a process once its buffers are full and nothing is left to collect: it grows and shrinks by some 20 MiB between two
 * collections of garbage, so that the most of a few seconds is compared with the most of a few others.
 */
async function settled(pid: number): Promise<number> {
  for (let before = Number.NEGATIVE_INFINITY, tries = 0; ; tries++) {
    let most = 0
    for (let i = 0; i < 6; i++) {
      most = Math.max(most, memoryOf(pid))
      await setTimeout(500)
    }
    if (most - before < 1 || tries === 20) return most
    before = most
  }
}

/** The one that the tests come with. */
function addKey(path: string): void {
  const db = new DatabaseSync(path)
  const { prefix, hash } = parseKey(key)!
  db.prepare(
    `insert into keys (key_id, account, lineage, prefix, environment, name, scopes, ip_allowlist, rate_limit_per_minute, hash, created_at)
     values ('key_0', 'default', 'key_0', ?, 'live', 'test', '["*"]', '[]', 1000000, ?, 1)`
  ).run(prefix, hash)
  db.close()
}
