/** Three nodes behind HAProxy that are replaced one by one under load: no request that is not a stream fails. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call, tempDir } from '../support/gateway.js'
import { msUntil, type Node, smallConstitution, startNode } from '../support/node.js'
import { createDatabase, hasCommand, noPostgres } from '../support/services.js'
import { completion, fakeUpstream, json } from '../support/upstream.js'
import { isFull, promise } from './report.js'

t.setTimeout(isFull ? 1_800_000 : 240_000)
const key = generateKey('live')
/** How often one of the three is replaced. */
const replacements = isFull ? 20 : 2

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

t.test('a rolling restart', { skip: noPostgres || (!hasCommand('haproxy') && 'no haproxy') }, async (t) => {
  const upstream = await fakeUpstream(t, json(completion('All is well.')))
  const url = await createDatabase(t)
  const env = {
    ...smallConstitution(t, `server: { drain_delay: 3s }\nupstreams: { default: { url: "${upstream.url}" } }\n`),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_DATABASE_URL: url
  }
  const ports = await Promise.all([1, 2, 3].map(async () => ({ main: await freePort(), ops: await freePort() })))
  const start = ({ main, ops }: { main: number; ops: number }) =>
    startNode(
      t,
      { ...env, SLUICEGATE_PORT: String(main), SLUICEGATE_OPS_PORT: String(ops) },
      { lastLine: /bootstrap key/ }
    )
  const nodes: Node[] = []
  for (const port of ports) nodes.push(await start(port))

  // The shipped file, with these nodes in the place of the names that Compose gives, and without its resolver.
  const folder = tempDir(t)
  const front = await freePort()
  const shipped = readFileSync(
    fileURLToPath(new URL('../../config/deploy/haproxy/haproxy.cfg', import.meta.url)),
    'utf8'
  )
  const config = shipped
    .replace(/^ {2}bind :8443 .*\n/m, '')
    .replace('bind :8080', `bind 127.0.0.1:${front}`)
    .replace('check port 9464 ', 'check ')
    .replace(' init-addr none resolvers docker', '')
    .replace(/^resolvers docker\n[\s\S]*$/m, '')
    .replace(/server gateway-(\d) gateway-\d:8080/g, (_, i) => {
      const { main, ops } = ports[Number(i) - 1]!
      return `server gateway-${i} 127.0.0.1:${main} port ${ops}`
    })
  writeFileSync(join(folder, 'haproxy.cfg'), config)
  const check = spawnSync('haproxy', ['-c', '-f', 'haproxy.cfg'], { cwd: folder, encoding: 'utf8' })
  t.equal(check.status, 0, check.stderr)
  const proxy = spawn('haproxy', ['-f', 'haproxy.cfg'], { cwd: folder, stdio: 'ignore' })
  t.teardown(() => proxy.kill('SIGKILL'))
  const chat = () =>
    call(`http://127.0.0.1:${front}`, '/v1/chat/completions', {
      key,
      body: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
    })
  t.ok(Number.isFinite(await msUntil(async () => (await chat().catch(() => ({ status: 0 }))).status === 200, 20_000)))

  let isOver = false
  let answered = 0
  const failures = new Map<string, number>()
  const clients = Array.from({ length: 6 }, async () => {
    while (!isOver) {
      const outcome = await chat().then(
        ({ status }) => String(status),
        (error) => String(error.cause?.code ?? error.message)
      )
      if (outcome === '200') answered++
      else failures.set(outcome, (failures.get(outcome) ?? 0) + 1)
      await setTimeout(5)
    }
  })
  for (let i = 0; i < replacements; i++) {
    const at = i % 3
    const { child } = nodes[at]!
    child.kill('SIGTERM')
    await once(child, 'exit')
    t.equal(child.exitCode, 0)
    nodes[at] = await start(ports[at]!)
    const ready = async () => (await fetch(`${nodes[at]!.opsUrl}/readyz`)).status === 200
    t.ok(Number.isFinite(await msUntil(ready, 30_000)))
    // Until HAProxy has seen it twice.
    await setTimeout(2500)
  }
  isOver = true
  await Promise.all(clients)
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0)
  promise(
    t,
    'a rolling restart',
    `${failed} of ${answered + failed} requests failed in ${replacements} replacements${failed === 0 ? '' : ` ${JSON.stringify([...failures])}`}`,
    '0',
    failed === 0 && answered > replacements * 20
  )
})
