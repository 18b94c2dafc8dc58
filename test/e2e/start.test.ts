/** `npm start` as a supervisor runs it: a signal to npm, which its shell does not pass on, stops the gateway. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { tempDir } from '../support/gateway.js'

t.setTimeout(300_000)

t.test('a signal to npm start stops the gateway as if it had been told itself', async (t) => {
  const child = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      ...process.env,
      SLUICEGATE_DATA_DIR: tempDir(t),
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_ENCODER: 'off'
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const until = async (told: RegExp) => {
    for (let i = 0; i < 1200 && !told.test(said); i++) await new Promise((resolve) => setTimeout(resolve, 100))
    t.match(said, told)
  }
  await until(/slg_live_/)
  child.kill('SIGTERM')
  // Pipes close when every process that holds them is gone, the gateway too.
  const closed = once(child, 'close')
  await until(/told to stop/)
  await closed
  t.match(said, /stopped/)
})
