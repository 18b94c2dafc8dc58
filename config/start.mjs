// What `npm start` runs: builds what is stale, then serves in this very process. npm runs a script through a shell, and a
// shell does not pass signals on: npm's SIGTERM ends the shell alone. So the gateway watches for its parent and stops as
// if told to when that is gone.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const everyMs = 250

const parent = process.ppid
const built = spawnSync(process.execPath, [join(root, 'config/build.mjs'), '--if-stale'], { stdio: 'inherit' })
if (built.status !== 0) process.exit(built.status ?? 1)

const timer = setInterval(() => {
  if (process.ppid === parent) return
  process.kill(process.pid, 'SIGTERM')
  // Once: a second signal would end what the first one lets finish.
  clearInterval(timer)
}, everyMs)
timer.unref()

const cli = join(root, 'dist/cli.js')
process.argv = [process.argv[0], cli, 'serve', ...process.argv.slice(2)]
await import(pathToFileURL(cli).href)
