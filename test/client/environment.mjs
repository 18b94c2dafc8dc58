// Installs the packages of this folder's list, which read the OpenAPI document: outside the checkout, under a name that is
// the hash of the list, so that it is done once. They need a TypeScript of their own.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const files = ['package.json', 'package-lock.json', '.npmrc']
const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url))

/** The folder with `node_modules`. It is there once all packages are. */
export function folder() {
  const hash = createHash('sha256')
    .update(readFileSync(pathOf('package-lock.json')))
    .digest('hex')
    .slice(0, 16)
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(process.env['SLUICEGATE_CLIENT_ENV'] || join(cache, 'sluicegate-client'), hash)
}

function make() {
  const made = folder()
  if (existsSync(made)) return
  const half = `${made}.${process.pid}`
  mkdirSync(half, { recursive: true })
  for (const name of files) copyFileSync(pathOf(name), join(half, name))
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: half, stdio: 'inherit' })
  if (status !== 0) {
    rmSync(half, { recursive: true, force: true })
    throw new Error('npm ci failed')
  }
  renameSync(half, made)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`Packages that read the OpenAPI document: ${folder()}`)
  make()
}
