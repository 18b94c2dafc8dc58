/**
 * The log, with an allow-list of fields: others are not written, so that no header, body or key can reach a log through
 * an object. docs/architecture.md, rule 12.
 */
import { type Logger, pino } from 'pino'
import { logLevels } from '../base/settings.js'
import { encoderFailures } from '../encoder/index.js'

export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'debug' | 'fatal'>

interface ErrorLike {
  name?: string
  code?: unknown
  message?: string
  internal?: string
  failure?: unknown
  stack?: string
  cause?: unknown
}

/** Names of failures that are written. Other values of the field are not, since they could hold anything. */
const named: ReadonlySet<unknown> = new Set(encoderFailures)

/** What `describeError` made: a program's own log is given it, and `createLog` describes whatever it is given. */
const described = new WeakSet<object>()

/**
 * Describes an error without a message that could contain a client's bytes: JSON and header errors of Node quote their
 * input. Stack frames (lines that begin with `at`) name only places. A description stays as it is.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (typeof error === 'object' && error !== null && described.has(error)) return error as Record<string, unknown>
  const { name, code, internal, failure, stack, cause } = (error ?? {}) as ErrorLike
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : []
  const description = {
    name,
    ...(code === undefined ? {} : { code: String(code) }),
    ...(internal === undefined ? {} : { internal }),
    ...(named.has(failure) ? { failure } : {}),
    stack: frames.slice(0, 12).map((line) => line.trim()),
    ...(cause === undefined ? {} : { cause: describeError(cause) })
  }
  described.add(description)
  return description
}

/** @throws an Error that names the levels, for any other */
export function createLog(options: { level?: string; destination?: { write(line: string): void } } = {}): Logger {
  if (options.level !== undefined && !logLevels.includes(options.level)) {
    throw new Error(`SLUICEGATE_LOG_LEVEL: must be one of ${logLevels.join(', ')}`)
  }
  const settings = {
    level: options.level ?? 'info',
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError, error: describeError }
  }
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination)
}
