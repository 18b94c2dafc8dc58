/** What a file finds that has taken over the process which reads it: the child as the built program starts it, with another script in it. */
import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)

/** Runs in a process of its own: what a test runner puts into every child is not what the program gives it. */
const outer = (port: number, hasNamespace: boolean) => `
const { startOf } = await import('./dist/files/isolation.js')
const { findPackages } = await import('./dist/files/packages.js')
const { spawnSync } = await import('node:child_process')
const { entries, languages } = findPackages(['eng'])
const { program, args, env, cwd = '/' } = startOf(512 * 1024 * 1024, ${hasNamespace}, entries, languages)
const probe = ${JSON.stringify(`
const guarded = process.argv.includes('guarded')
if (guarded) { const { shutDoors } = await import(process.argv[1]); process.stdin; process.stdout; shutDoors() }
const tries = {
  env: async () => JSON.stringify(process.env),
  secrets: async () => (await import('node:fs')).readFileSync('/etc/passwd', 'utf8'),
  config: async () => (await import('node:fs')).readdirSync('/'),
  write: async () => (await import('node:fs')).writeFileSync('/tmp/sluicegate-probe', 'x'),
  process: async () => (await import('node:child_process')).execSync('id').toString(),
  thread: async () => new (await import('node:worker_threads')).Worker('1', { eval: true }),
  code: async () => Function('return 1')(),
  network: async () => { const net = await import('node:net'); return new Promise((resolve, reject) => { net.connect(PORT, '127.0.0.1', () => resolve('connected')).on('error', reject) }) },
  names: async () => (await import('node:dns')).promises.lookup('localhost').then(() => 'found'),
  fetch: async () => (await fetch('http://127.0.0.1:PORT')).status
}
const found = {}
for (const [name, attempt] of Object.entries(tries)) {
  try { found[name] = String(await attempt()).slice(0, 40) } catch (error) { found[name] = 'refused' }
}
process.stdout.write(JSON.stringify(found))
process.exit(0)
`)}.replaceAll('PORT', ${port})
const guard = new URL('./dist/files/guard.js', 'file://' + process.cwd() + '/').href
const child = spawnSync(program, [...args.slice(0, -1 - languages.length), '--input-type=module', '-e', probe, guard, ${!hasNamespace} ? 'guarded' : 'free'], { env, cwd, encoding: 'utf8' })
process.stdout.write(child.stdout || child.stderr)
`

t.test('neither secrets nor files, processes, threads or code from texts; and no network', async (t) => {
  const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const { canUnshare } = await import('../../src/files/isolation.js')
  const ways = (await canUnshare()) ? [true, false] : [false]
  for (const hasNamespace of ways) {
    // `env -i`: without what the test runner hands to children.
    const env = ['-i', 'SECRET=s', process.execPath, '--input-type=module', '-e', outer(port, hasNamespace)]
    const { stdout } = await run('/usr/bin/env', env)
    const { env: seen, names, ...others } = JSON.parse(stdout)
    t.equal(seen, '{}', 'the environment is empty')
    for (const [name, outcome] of Object.entries(others))
      t.equal(outcome, 'refused', `${name}, ${hasNamespace ? 'namespace' : 'guard'}`)
    if (!hasNamespace) t.equal(names, 'refused')
  }
})
