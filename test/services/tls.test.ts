/** TLS to PostgreSQL and Redis, with a certificate that only who is told of it believes. */
import { spawn } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { freePort } from '../support/fronts.js'
import { call, tempDir } from '../support/gateway.js'
import { msUntil, smallConstitution, startNode } from '../support/node.js'
import { canStartPostgres, ownPostgres } from '../support/postgres.js'
import { hasCommand } from '../support/services.js'

t.setTimeout(120_000)
const key = generateKey('live')
const tls = fileURLToPath(new URL('../fixtures/config/tls/', import.meta.url))
const certificate = join(tls, 'test.crt')
const works = async (url: string) =>
  (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'Hello' } })).status

t.test('PostgreSQL', { skip: !canStartPostgres && 'no PostgreSQL to start' }, async (t) => {
  const server = await ownPostgres(t, { certificate, key: join(tls, 'test.key') })
  const env = (query: string) => ({
    ...smallConstitution(t),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_DATABASE_URL: `${server.url.replace('127.0.0.1', 'localhost')}?${query}`
  })
  const node = await startNode(t, env(`sslmode=verify-full&sslrootcert=${certificate}`))
  t.equal(await works(node.url), 200)
  t.equal(server.encrypted(), 'encrypted', 'by its own word')
  await t.rejects(startNode(t, env('sslmode=verify-full')), /cannot be opened: .*(self.signed|certificate)/i)
})

async function tlsRedis(t: Test): Promise<number> {
  const port = await freePort()
  const folder = tempDir(t)
  for (const name of ['test.crt', 'test.key']) copyFileSync(join(tls, name), join(folder, name))
  const args = [
    '--port',
    '0',
    '--tls-port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--tls-auth-clients',
    'no'
  ]
  const files = ['--tls-cert-file', 'test.crt', '--tls-key-file', 'test.key', '--tls-ca-cert-file', 'test.crt']
  const child = spawn('redis-server', [...args, ...files], { cwd: folder, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  return port
}

t.test('Redis', { skip: !hasCommand('redis-server') && 'no redis-server' }, async (t) => {
  const url = `rediss://localhost:${await tlsRedis(t)}`
  const env = { ...smallConstitution(t), SLUICEGATE_BOOTSTRAP_KEY: key, SLUICEGATE_REDIS_URL: url }
  const up = async ({ opsUrl }: { opsUrl: string }) =>
    /^sluicegate_redis_up (\d)$/m.exec(await (await fetch(`${opsUrl}/metrics`)).text())?.[1]
  const node = await startNode(t, { ...env, NODE_EXTRA_CA_CERTS: certificate })
  t.ok(Number.isFinite(await msUntil(async () => (await up(node)) === '1', 15_000)), 'it is believed')
  t.equal(await works(node.url), 200)
  const stranger = await startNode(t, env)
  t.equal(await works(stranger.url), 200, 'by itself')
  t.equal(await up(stranger), '0', 'not believed')
})
