/** A gateway as an operator runs it: the built command in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { source } from '../policy/support.js'
import { built, rules } from './cli.js'
import { firstReaderAlone } from './first-reader.js'
import { tempDir } from './gateway.js'

type Teardown = { teardown(fn: () => unknown): unknown }

export interface Node {
  url: string
  opsUrl: string
  child: ChildProcess
  dataDir: string
  /** Parsed lines of the log. */
  logs: Record<string, unknown>[]
}

/** Environment that nodes of one test have in common. */
export const sharedKey = randomBytes(32).toString('base64')

/**
 * A configuration with a constitution of two rules, which is read in no time, and with no limit that a test would meet:
 * what is measured is something else.
 */
export function smallConstitution(t: Teardown, yaml = ''): { SLUICEGATE_CONFIG: string } {
  const folder = tempDir(t)
  const config = join(folder, 'gateway.yaml')
  writeFileSync(join(folder, 'default.yaml'), source({ rules }))
  writeFileSync(
    config,
    `limits: { live_per_minute: 1000000, concurrent_per_key: 100000 }\nconstitutions: { default: default.yaml }\n${yaml}`
  )
  return { SLUICEGATE_CONFIG: config }
}

/** With SLUICEGATE_BOOTSTRAP_KEY set. `command` runs it, with the command line appended. Resolves when it serves and has its first key. Stopped by the test, the hard way. */
export async function startNode(
  t: Teardown,
  env: NodeJS.ProcessEnv,
  { lastLine = /bootstrap key/, command = [] }: { lastLine?: RegExp; command?: readonly string[] } = {}
): Promise<Node> {
  const cwd = tempDir(t)
  const [program = '', ...args] = [...command, process.execPath, built, 'serve']
  const child = spawn(program, args, {
    cwd,
    env: {
      PATH: process.env['PATH'],
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_DATA_DIR: cwd,
      SLUICEGATE_DATA_KEY: sharedKey,
      ...firstReaderAlone,
      ...env
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const node: Node = { url: '', opsUrl: '', child, dataDir: env['SLUICEGATE_DATA_DIR'] ?? cwd, logs: [] }
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}: ${errors}`)))
    createInterface(child.stdout).on('line', (line) => {
      if (!line.startsWith('{')) return
      const entry = JSON.parse(line)
      node.logs.push(entry)
      if (typeof entry.url === 'string') node.url = entry.url
      if (typeof entry.ops === 'string' && entry.ops !== '') node.opsUrl = entry.ops
      if (lastLine.test(entry.msg)) resolve(node)
    })
  })
}

/** Milliseconds until a check holds, each try a little after the last; fails the caller after the most. */
export async function msUntil(check: () => Promise<boolean>, mostMs: number): Promise<number> {
  const begun = performance.now()
  while (performance.now() - begun < mostMs) {
    if (await check()) return performance.now() - begun
    await setTimeout(25)
  }
  return Number.POSITIVE_INFINITY
}
