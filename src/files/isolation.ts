/**
 * Starts a child process for files with as few rights as possible, so that a file that compromises it gains nothing.
 */
import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBuilt, threadFile } from '../base/thread.js'

export interface Start {
  program: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** Default: the root. */
  cwd?: string
}

const unshare = ['/usr/bin/unshare', '/bin/unshare'].find((path) => process.platform === 'linux' && existsSync(path))

/**
 * Whether the kernel lets us start a process in a network namespace of its own, which holds nothing but a loopback that is
 * down. Containers as a rule forbid it.
 */
export function canUnshare(): Promise<boolean> {
  if (unshare === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    execFile(unshare, [...namespaces, process.execPath, '--version'], { timeout: 5_000, env: {} }, (error) =>
      resolve(error === null)
    )
  })
}

const namespaces = ['--user', '--map-root-user', '--net', '--ipc', '--uts', '--']

/**
 * @param memoryBytes of the whole child
 * @param entries paths of files in the packages that it reads with
 * @param languages paths of OCR data; none: pictures are not read
 */
export function startOf(
  memoryBytes: number,
  hasNamespace: boolean,
  entries: readonly string[],
  languages: readonly string[]
): Start {
  const file = threadFile(import.meta.url, 'reader-process')
  const flags = [
    // Half of it for the heap: unpacked data lies outside.
    `--max-old-space-size=${Math.floor(memoryBytes / 2 / 1024 / 1024)}`,
    '--no-warnings',
    '--disable-proto=delete',
    '--disallow-code-generation-from-strings'
  ]
  // Run from the sources, a loader comes first: only for tests of the readers.
  if (!isBuilt) {
    const { NODE_OPTIONS } = process.env
    const args = [...process.execArgv, flags[0]!, '--no-warnings', file, ...languages]
    return {
      program: process.execPath,
      args,
      env: NODE_OPTIONS === undefined ? {} : { NODE_OPTIONS },
      cwd: process.cwd()
    }
  }
  const args = [...flags, ...permission([...entries, ...languages]), file, ...languages]
  return hasNamespace && unshare !== undefined
    ? { program: unshare, args: [...namespaces, process.execPath, ...args], env: {} }
    : { program: process.execPath, args, env: {} }
}

/**
 * Node's permission model: the child reads the program and its packages, writes nothing, starts no process, thread or
 * add-on. https://nodejs.org/api/permissions.html
 */
function permission(entries: readonly string[]): string[] {
  const dist = dirname(dirname(fileURLToPath(import.meta.url)))
  const folders = new Set([dist, ...entries.map(modulesOf)])
  const readable = [...folders].flatMap((folder) => [`${folder}${sep}*`, `${realpathSync(folder)}${sep}*`])
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'
  const files = [join(dist, '..', 'package.json'), ...readable]
  return [flag, ...[...new Set(files)].map((path) => `--allow-fs-read=${path}`)]
}

/** The outermost `node_modules` of a path, which also holds the dependencies of a package. */
function modulesOf(path: string): string {
  const name = `${sep}node_modules${sep}`
  const at = path.lastIndexOf(name)
  return at === -1 ? dirname(path) : path.slice(0, at + name.length - 1)
}
