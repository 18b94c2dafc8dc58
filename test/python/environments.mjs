// Makes the virtual environments of Python packages that the tests in this folder run: one for each list of requirements,
// outside the checkout, under a name that is the list's own hash, so that it is made once.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const environments = ['sdks', 'frameworks']
const python = process.env['PYTHON'] || 'python3'
const listOf = (name) => fileURLToPath(new URL(`${name}.txt`, import.meta.url))

function folderOf(name) {
  const hash = createHash('sha256')
    .update(python)
    .update(readFileSync(listOf(name)))
    .digest('hex')
    .slice(0, 16)
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(process.env['SLUICEGATE_PYTHON_ENVS'] || join(cache, 'sluicegate-python'), `${name}-${hash}`)
}

/** The interpreter of an environment. It is there once all of its packages are. */
export const pythonOf = (name) => join(folderOf(name), 'python')

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `ended with ${status}`}`)
}

function make(name) {
  const folder = folderOf(name)
  if (existsSync(pythonOf(name))) return
  run(python, ['-c', 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed")'])
  // What an earlier run left half done.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  run(python, ['-m', 'venv', join(folder, 'venv')])
  const interpreter = join(folder, 'venv', 'bin', 'python')
  // The list names everything, each file by its hash, and nothing is built: no code of a package runs here. What is used of
  // it is compiled when it is first used.
  const exact = [
    '--require-hashes',
    '--no-deps',
    '--only-binary',
    ':all:',
    '--no-input',
    '--disable-pip-version-check',
    '--no-compile'
  ]
  run(interpreter, ['-m', 'pip', 'install', '--quiet', ...exact, '-r', listOf(name)])
  writeFileSync(pythonOf(name), `#!/bin/sh\nexec "${interpreter}" "$@"\n`, { mode: 0o755 })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of process.argv.length > 2 ? process.argv.slice(2) : environments) {
    console.log(`Python packages of ${listOf(name)}: ${folderOf(name)}`)
    make(name)
  }
}
