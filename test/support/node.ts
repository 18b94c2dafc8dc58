/** A gateway as an operator runs it: the built command in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { built } from './cli.js'
import { tempDir } from './gateway.js'

type Teardown = { teardown(fn: () => unknown): unknown }

export interface Node {
  url: string
  opsUrl: string
  child: ChildProcess
  /** Parsed lines of the log. */
  logs: Record<string, unknown>[]
}

/** Environment that nodes of one test have in common. */
export const sharedKey = randomBytes(32).toString('base64')

/** Resolves when it serves. Stopped by the test, the hard way. */
export async function startNode(
  t: Teardown,
  env: NodeJS.ProcessEnv,
  lastLine = /listening|workers serve/
): Promise<Node> {
  const cwd = tempDir(t)
  const child = spawn(process.execPath, [built, 'serve'], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_DATA_DIR: cwd,
      SLUICEGATE_DATA_KEY: sharedKey,
      ...env
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const node: Node = { url: '', opsUrl: '', child, logs: [] }
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
