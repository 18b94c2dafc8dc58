/** The common part of the sub-commands: exit codes, error sentences, output with back-pressure. */
import { once } from 'node:events'
import { Fault } from '../base/errors.js'
import { ConfigError } from '../config/problem.js'
import { ConstitutionError } from '../policy/constitution/problems.js'

export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const

/** An error in the arguments that Commander cannot detect. */
export class UsageError extends Error {}

/** A failure that was reported completely. */
export class Told extends Error {}

/** Prints an error as sentences, never as a stack, and returns the exit code. */
export function complain(error: unknown): number {
  if (error instanceof Told) return exitCodes.failure
  process.stderr.write(`${sentence(error)}\n`)
  const isUsage =
    error instanceof UsageError ||
    (error instanceof Fault && error.code === 'validation_error') ||
    (error instanceof ConfigError && error.problems.every(({ source }) => source === 'option'))
  return isUsage ? exitCodes.usage : exitCodes.failure
}

function sentence(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is not valid.\n${error.message}`
  if (error instanceof ConstitutionError) return error.message
  // Whoever may open the store may read its log too, and without the cause could not act.
  if (error instanceof Fault && error.internal !== undefined) {
    return `sluicegate: ${error.message} The cause: ${error.internal}`
  }
  return `sluicegate: ${error instanceof Error ? error.message : String(error)}`
}

/** An option that may be repeated, each time with a list. */
export function collect(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...text.split(/[\s,]+/).filter((item) => item !== '')]
}

/**
 * Resolves when standard output accepts more, so that a slow reader slows the work down instead of filling the memory.
 */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Exits when the reader of the output stops (`| head`). A full disk is reported on standard error. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? exitCodes.failure : complain(error))
  })
}
