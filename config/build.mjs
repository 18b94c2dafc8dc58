// Compiles src into dist, the dashboard into dist/dashboard, and the pages of docs into dist/docs. The output is written to a temporary folder and moved into
// place, so that a program that is running from dist, or a second build started beside this one, never sees half a build.
// With --if-stale nothing is done while dist is newer than every source file.
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { renderDocs } from './docs.mjs'
import { tsc } from './tsc.mjs'
import { vendor } from './vendor.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')
/** What the dashboard is made from, the libraries in it included. */
const dashboardSources = ['src/dashboard', 'config/vite.config.mjs', 'package-lock.json']

/** The latest modification time, in ms, of the files below a folder or of one file; 0 where there is none. */
function newest(path) {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

/** Whether a file of dist is newer than all that it is made from. */
function isFresh(file, sources) {
  const built = join(dist, file)
  return existsSync(built) && statSync(built).mtimeMs > Math.max(...sources.map((name) => newest(join(root, name))))
}

if (
  process.argv.includes('--if-stale') &&
  isFresh('cli.js', [
    'src',
    'docs',
    'config/docs.mjs',
    'config/vendor.mjs',
    'config/vite.config.mjs',
    'tsconfig.json',
    'package-lock.json'
  ])
)
  process.exit(0)

const require = createRequire(import.meta.url)
const began = Date.now()
/** Whoever waits for a first start sees that it goes on. */
const tell = (what) =>
  process.stderr.write(`[build ${((Date.now() - began) / 1000).toFixed(0).padStart(3)} s] ${what}\n`)
if (!existsSync(join(dist, 'cli.js'))) tell('The first build takes a minute or two; later starts take seconds.')
const out = mkdtempSync(join(root, '.dist-'))

/** Ends the build where a step of it fails. */
function step(program, ...args) {
  const run = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit', cwd: root })
  if (run.status === 0) return
  rmSync(out, { recursive: true, force: true })
  process.exit(run.status ?? 1)
}

tell('TypeScript …')
step(tsc, '-p', root, '--outDir', out)
tell('documents …')
try {
  await vendor(out)
  renderDocs(root, join(out, 'docs'))
} catch (error) {
  rmSync(out, { recursive: true, force: true })
  throw error
}
// A folder made for one moment is its owner's alone; the image runs as another user than the one that builds.
chmodSync(out, 0o755)
chmodSync(join(out, 'cli.js'), 0o755)

// What the shipped constitutions and lists hold, by the SHA-256 of their text: see src/policy/constitution/shipped.ts.
const constitutions = join(root, 'config/constitutions')
const texts = readdirSync(constitutions, { recursive: true })
  .filter((name) => /^(lists\/)?\w+\.yaml$/.test(name))
  .map((name) => readFileSync(join(constitutions, name), 'utf8'))
mkdirSync(join(out, 'policy/constitution/shipped'))
for (const text of texts) {
  writeFileSync(
    join(out, `policy/constitution/shipped/${hash('sha256', text, 'hex')}.json`),
    JSON.stringify(parse(text))
  )
}

// The texts that people read, likewise: see src/wording/shipped.ts.
const spoken = join(root, 'config/texts')
const languages = readdirSync(spoken).map((name) => readFileSync(join(spoken, name), 'utf8'))
const read = Object.fromEntries(languages.map((text) => [hash('sha256', text, 'hex'), parse(text)]))
writeFileSync(join(out, 'wording/shipped.json'), JSON.stringify(read))

const page = join(out, 'dashboard')
if (isFresh('dashboard/index.html', dashboardSources)) {
  cpSync(join(dist, 'dashboard'), page, { recursive: true, preserveTimestamps: true })
} else {
  tell('dashboard …')
  const vite = join(dirname(require.resolve('vite/package.json')), 'bin/vite.js')
  step(vite, 'build', '--config', join(root, 'config/vite.config.mjs'), '--outDir', page, '--logLevel', 'warn')
}

const old = `${out}-old`
if (existsSync(dist)) renameSync(dist, old)
renameSync(out, dist)
rmSync(old, { recursive: true, force: true })
tell('done')
