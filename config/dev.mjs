// What `npm run dev` runs: a server that is started anew after each change. The compiler watches `src` and writes to
// `.dist-dev`, Vite watches the dashboard, and the pages of `docs` are rendered again. Where a type is wrong the error is
// shown and the server that runs stays. What follows `npm run dev --` goes to `sluicegate serve`.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { renderDocs } from './docs.mjs'
import { tsc } from './tsc.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, '.dist-dev')
/** Changes of one save come together. */
const quietMs = 200

const say = (text) => process.stderr.write(`dev: ${text}\n`)

// The dashboard and the pages are read from `dist`, wherever the program lies.
const first = spawnSync(process.execPath, [join(root, 'config/build.mjs'), '--if-stale'], { stdio: 'inherit' })
if (first.status !== 0) process.exit(first.status ?? 1)

let server
let isCompiled = false
let isEnding = false
/** One restart after the other; those asked for meanwhile are one. */
let turn = Promise.resolve()
let timer

function restart(why) {
  if (!isCompiled || isEnding) return
  clearTimeout(timer)
  timer = setTimeout(() => {
    turn = turn.then(() => start(why))
  }, quietMs)
}

async function stop() {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}

async function start(why) {
  await stop()
  if (isEnding) return
  say(`${why}: the server starts`)
  const args = ['--enable-source-maps', join(out, 'cli.js'), 'serve', ...process.argv.slice(2)]
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
  server = child
  child.once('exit', (code, signal) => {
    if (server === child && signal !== 'SIGTERM' && code !== 0 && !isEnding)
      say(`the server ended with ${code ?? signal}; it starts again after the next change`)
  })
}

const flags = ['--watch', '--preserveWatchOutput', '--pretty', '--noEmitOnError', '--incremental']
const compiler = spawn(
  process.execPath,
  [tsc, '-p', root, '--outDir', out, '--tsBuildInfoFile', join(out, '.tsbuildinfo'), ...flags],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] }
)
createInterface(compiler.stdout).on('line', (line) => {
  process.stderr.write(`${line}\n`)
  const [, errors] = /Found (\d+) errors?\./.exec(line) ?? []
  if (errors === undefined) return
  if (errors !== '0') return say(server === undefined ? 'no server yet' : 'the server that runs stays')
  isCompiled = true
  restart('compiled')
})

const page = await build({
  configFile: join(root, 'config/vite.config.mjs'),
  logLevel: 'warn',
  build: { watch: {}, outDir: join(root, 'dist/dashboard') }
})
page.on('event', (event) => {
  if (event.code === 'ERROR') say(`the dashboard is not built: ${event.error.message}`)
  if (event.code === 'END') restart('the dashboard is built')
})

watch(join(root, 'docs'), { recursive: true }, () => {
  try {
    renderDocs(root, join(root, 'dist/docs'))
    restart('the pages are rendered')
  } catch (error) {
    // A page may be half written.
    say(`the pages are not rendered: ${error.message}`)
  }
})

async function end() {
  if (isEnding) return
  isEnding = true
  clearTimeout(timer)
  compiler.kill()
  await turn
  await stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, end)
