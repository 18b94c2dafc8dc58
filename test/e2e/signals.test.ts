import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { built } from '../support/cli.js'
import { call, tempDir } from '../support/gateway.js'

t.test('the process reloads on SIGHUP and ends at once on SIGTERM, whatever stands open unused', async (t) => {
  const dir = tempDir(t)
  const file = join(dir, 'gateway.yaml')
  const key = generateKey('live')
  const write = (limit: number) =>
    writeFileSync(file, `storage: { url: "memory:" }\nlimits: { live_per_minute: ${limit} }\n`)
  write(50)
  const child = spawn(process.execPath, [built, 'serve'], {
    cwd: dir,
    env: {
      PATH: process.env['PATH'],
      SLUICEGATE_CONFIG: file,
      SLUICEGATE_DATA_DIR: dir,
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_BOOTSTRAP_KEY: key
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  const until = async (done: () => boolean | Promise<boolean>) => {
    for (let tries = 0; tries < 1200; tries++) {
      if (await done()) return true
      await setTimeout(50)
    }
    return false
  }
  t.ok(await until(() => /"url":"(http[^"]+)"/.test(output)), 'it listens')
  const url = /"url":"(http[^"]+)"/.exec(output)![1]!
  t.notMatch(output, key.slice(-48), 'a key that was given is never printed')
  const limit = async () =>
    (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'hello' } })).headers.get(
      'x-ratelimit-limit'
    )
  t.equal(await limit(), '50')
  write(70)
  child.kill('SIGHUP')
  t.ok(await until(async () => (await limit()) === '70'), 'the new limit is in force')
  t.equal(child.exitCode, null)

  const { hostname, port } = new URL(url)
  const unused = connect(Number(port), hostname)
  await once(unused, 'connect')
  unused.on('error', () => {})
  const asked = Date.now()
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
  t.ok(Date.now() - asked < 15_000, 'long before the drain’s deadline')
})
