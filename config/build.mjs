// Compiles src into dist. The output is written to a temporary folder and moved into place, so that a program that is
// running from dist, or a second build started beside this one, never sees half a build.
// With --if-stale nothing is done while dist is newer than every source file.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

/** The latest modification time, in ms, of the files below a folder or of one file; 0 where there is none. */
function newest(path) {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

function isFresh() {
  const built = join(dist, 'cli.js')
  if (!existsSync(built)) return false
  const sources = ['src', 'tsconfig.json', 'package-lock.json'].map((name) => newest(join(root, name)))
  return statSync(built).mtimeMs > Math.max(...sources)
}

if (process.argv.includes('--if-stale') && isFresh()) process.exit(0)

const out = mkdtempSync(join(root, '.dist-'))
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const run = spawnSync(process.execPath, [tsc, '-p', root, '--outDir', out], { stdio: 'inherit' })
if (run.status !== 0) {
  rmSync(out, { recursive: true, force: true })
  process.exit(run.status ?? 1)
}
chmodSync(join(out, 'cli.js'), 0o755)
const old = `${out}-old`
if (existsSync(dist)) renameSync(dist, old)
renameSync(out, dist)
rmSync(old, { recursive: true, force: true })
