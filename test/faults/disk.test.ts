/** The disk under SQLite: written to before every acknowledgement, full, read-only. docs/api.md, section 8. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call, tempDir } from '../support/gateway.js'
import { msUntil, smallConstitution, startNode } from '../support/node.js'
import { isFull, promise } from './report.js'
import { lostIn, nothingYet, write, writesOf } from './writes.js'

t.setTimeout(isFull ? 600_000 : 240_000)
const key = generateKey('live')
const run = (command: string, ...args: string[]): SpawnSyncReturns<string> =>
  spawnSync(command, args, { encoding: 'utf8' })
const create = (url: string) => call(url, '/api/v1/ssaas/keys', { key, body: { name: 'x', accept_terms: true } })

const canTrace = run('strace', '-f', '-c', '-e', 'trace=fsync', 'true').status === 0
/** As Debian installs it. */
const eatMyData = run('sh', '-c', 'ls /usr/lib/*/libeatmydata.so').stdout.trim().split('\n')[0]

/** How often the process asked the disk to keep what was written, while so many keys were made one after the other. */
async function syncsFor(t: Test, count: number, env: NodeJS.ProcessEnv): Promise<number> {
  const trace = join(tempDir(t), 'trace')
  const node = await startNode(
    t,
    { ...smallConstitution(t), SLUICEGATE_BOOTSTRAP_KEY: key, ...env },
    { command: ['strace', '-D', '-f', '-qq', '-e', 'trace=fsync,fdatasync', '-o', trace] }
  )
  const syncs = () =>
    readFileSync(trace, 'utf8')
      .split('\n')
      .filter((line) => / (fsync|fdatasync)\(\d+\)/.test(line)).length
  const before = syncs()
  for (let i = 0; i < count; i++) t.equal((await create(node.url)).status, 201)
  const after = syncs()
  node.child.kill('SIGTERM')
  await once(node.child, 'exit')
  return after - before
}

t.test(
  'an acknowledgement follows a sync of the disk',
  { skip: !canTrace && 'strace cannot trace here' },
  async (t) => {
    const count = isFull ? 200 : 20
    const syncs = await syncsFor(t, count, {})
    promise(t, 'syncs to the disk', `${syncs} for ${count} acknowledged keys`, `at least ${count}`, syncs >= count)
    if (eatMyData === undefined || eatMyData === '') return
    const eaten = await syncsFor(t, 5, { LD_PRELOAD: eatMyData })
    t.ok(eaten < 5, `with libeatmydata, which swallows them, the same count is ${eaten}`)
  }
)

/** A disk of its own, small; undefined where nobody may mount one. */
function smallDisk(t: Test, mib: number): { path: string; remount(mode: 'ro' | 'rw'): boolean } | undefined {
  const path = join(tempDir(t), 'disk')
  mkdirSync(path)
  if (run('mount', '-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', path).status !== 0) return undefined
  t.teardown(() => run('umount', '--lazy', path))
  return { path, remount: (mode) => run('mount', '-o', `remount,${mode}`, path).status === 0 }
}

t.test('a disk that is full or read-only: refused, and nothing acknowledged that is not there', async (t) => {
  const disk = smallDisk(t, 12)
  if (disk === undefined) {
    t.pass('no disk may be mounted here')
    return
  }
  const env = {
    ...smallConstitution(t, 'review: { allow_own: true }\naudit: { decisions: stopped }\n'),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_DATABASE_URL: `sqlite:${join(disk.path, 'gate.db')}`
  }
  const node = await startNode(t, env)
  const acknowledged = nothingYet()
  const filler = join(disk.path, 'filler')
  const faults: [name: string, begin: () => unknown, end: () => unknown][] = [
    ['full', () => run('sh', '-c', `cat /dev/zero > ${filler}`), () => rmSync(filler)]
  ]
  for (const [name, begin, end] of faults) {
    let isOver = false
    const writers = Array.from({ length: 4 }, () => write(node.url, key, acknowledged, () => isOver))
    t.ok(Number.isFinite(await msUntil(async () => writesOf(acknowledged) > 20, 30_000)), 'it writes')
    begin()
    acknowledged.statuses.clear()
    const refused = await msUntil(async () => (acknowledged.statuses.get(503) ?? 0) > 20, 30_000)
    const known = (await call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text: 'Hello' } })).status
    const page = (await fetch(`${node.opsUrl}/healthz`)).status
    const ready = (await fetch(`${node.opsUrl}/readyz`)).status
    const metrics = await (await fetch(`${node.opsUrl}/metrics`)).text()
    t.equal(ready, 503, 'it is not ready')
    t.match(metrics, /^sluicegate_storage_up 0$/m)
    t.match(JSON.stringify(node.logs), /database or disk is full/, 'the log names the cause')
    t.notMatch(JSON.stringify(node.logs), /cannot rollback/)
    const statuses = [...acknowledged.statuses.keys()].sort()
    end()
    const back = await msUntil(async () => (await create(node.url)).status === 201, 15_000)
    isOver = true
    await Promise.all(writers)
    t.equal((await fetch(`${node.opsUrl}/readyz`)).status, 200, 'ready again by itself')
    promise(
      t,
      `disk ${name}`,
      `refused ${Number.isFinite(refused)}, evaluation ${known}, health ${page}, statuses ${statuses}, back after ${Math.round(back)} ms`,
      '503 for what cannot be stored, 200, 200, no 500, 15000 ms',
      Number.isFinite(refused) && known === 200 && page === 200 && !statuses.includes(500) && back < 15_000
    )
  }
  node.child.kill('SIGKILL')
  await once(node.child, 'exit')
  const found = await lostIn(env.SLUICEGATE_DATABASE_URL, acknowledged)
  promise(
    t,
    'after full disks',
    `${found.lost} of ${writesOf(acknowledged)} acknowledged writes lost, ${found.half} half`,
    '0 and 0',
    found.lost + found.half === 0
  )

  if (!disk.remount('ro')) return
  await t.rejects(
    startNode(t, env),
    /cannot be opened: .*(readonly|read-only|EROFS)/i,
    'a start on a read-only disk says so'
  )
  disk.remount('rw')
  const again = await startNode(t, env, { lastLine: /bootstrap key|listening/ })
  t.equal((await create(again.url)).status, 201)
})
