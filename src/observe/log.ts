/**
 * The log, with an allow-list of fields: others are not written, so that no header, body or key can reach a log through
 * an object. docs/architecture.md, rule 12.
 */
import { type Logger, pino } from 'pino'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'debug' | 'fatal'>

interface ErrorLike {
  name?: string
  code?: unknown
  message?: string
  internal?: string
  stack?: string
  cause?: unknown
}

/**
 * Describes an error without a message that could contain a client's bytes: JSON and header errors of Node quote their
 * input. Stack frames (lines that begin with `at`) name only places.
 */
export function describeError(error: unknown): Record<string, unknown> {
  const { name, code, internal, stack, cause } = (error ?? {}) as ErrorLike
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : []
  return {
    name,
    ...(code === undefined ? {} : { code: String(code) }),
    ...(internal === undefined ? {} : { internal }),
    stack: frames.slice(0, 12).map((line) => line.trim()),
    ...(cause === undefined ? {} : { cause: describeError(cause) })
  }
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
