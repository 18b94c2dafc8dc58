/** The built command, run as a user runs it: another process, a working directory of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { source } from '../policy/support.js'
import { firstReaderAlone } from './first-reader.js'

export const built = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export const rules = `
  - { name: kill_words, category: violence, weight: 0.5, any: [slay], context: { keys: [topic], permit: { topic: [programming] } } }
  - { name: bomb_words, category: weapons, weight: 0.9, any: [kaboom] }
`

/** A working directory with a configuration of its own, whose constitutions are the test's. */
export function workplace(t: Test): { cwd: string; env: NodeJS.ProcessEnv } {
  const cwd = t.testdir({
    'gateway.yaml': 'constitutions: { default: default.yaml, other: other.yaml }\n',
    'default.yaml': source({ rules }),
    'other.yaml': source({ name: 'other', version: '7', rules: rules.replace('kaboom', 'thud') })
  })
  const { PATH } = process.env
  return {
    cwd,
    env: {
      PATH,
      ...firstReaderAlone,
      SLUICEGATE_CONFIG: 'gateway.yaml',
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0'
    }
  }
}

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

export async function run(
  args: string[],
  place: { cwd: string; env: NodeJS.ProcessEnv },
  input?: string | Buffer
): Promise<Ran> {
  const child = spawn(process.execPath, [built, ...args], { ...place, stdio: 'pipe' })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, stdout, stderr }
}

export async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}
