/**
 * Reads and checks the configuration's environment variables (docs/configuration.md). An empty variable counts as
 * unset.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type EncoderUse, encoderUses, logLevels, type UpstreamAuth, upstreamAuths } from '../base/settings.js'
import { isHttpPrefix } from '../base/units.js'
import { errorCode } from './file.js'
import type { Problem } from './problem.js'

/** Variables that hold secrets: each may come as `<name>_FILE`, the path of a file that holds it (as containers mount them). */
const secrets: ReadonlySet<string> = new Set([
  'SLUICEGATE_UPSTREAM_KEY',
  'SLUICEGATE_BOOTSTRAP_KEY',
  'SLUICEGATE_DATA_KEY',
  'SLUICEGATE_DATABASE_URL',
  'SLUICEGATE_REDIS_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS'
])

/** Other variables, including those that are read elsewhere. */
const variables: readonly string[] = [
  ...[...secrets].filter((name) => name.startsWith('SLUICEGATE_')).flatMap((name) => [name, `${name}_FILE`]),
  'SLUICEGATE_CONFIG',
  'SLUICEGATE_DATA_DIR',
  'SLUICEGATE_ENCODER',
  'SLUICEGATE_HOST',
  'SLUICEGATE_LOG_LEVEL',
  'SLUICEGATE_NODE',
  'SLUICEGATE_OPS_HOST',
  'SLUICEGATE_OPS_PORT',
  'SLUICEGATE_PORT',
  'SLUICEGATE_PUBLIC_URL',
  'SLUICEGATE_UPSTREAM',
  'SLUICEGATE_UPSTREAM_AUTH',
  'SLUICEGATE_WORKERS'
]

/** Without `aws`, whose settings exist only in the file. */
const plainAuths = upstreamAuths.filter((auth) => auth !== 'aws')

/**
 * A warning for each set variable with our prefix that nothing reads: a mistyped name would otherwise silently have no
 * effect.
 */
export function unknownVariables(env: NodeJS.ProcessEnv, read: ReadonlySet<string>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICEGATE_') && !variables.includes(name) && !read.has(name))
    .sort()
    .map((name) => {
      const near = variables.find((known) => distance(name, known) <= 2)
      return near === undefined ? `${name} (docs/configuration.md lists them)` : `${name} (did you mean ${near}?)`
    })
}

/** How many letters differ (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]!
}

export interface Environment {
  host: string | undefined
  port: number | undefined
  opsHost: string | undefined
  opsPort: number | undefined
  config: string | undefined
  dataDir: string | undefined
  databaseUrl: string | undefined
  redisUrl: string | undefined
  dataKey: Buffer | undefined
  bootstrapKey: string | undefined
  upstream: string | undefined
  upstreamKey: string | undefined
  upstreamAuth: UpstreamAuth | undefined
  /** `auto`: as many as there are processors, less the threads of the encoder. */
  workers: number | 'auto' | undefined
  encoder: EncoderUse | undefined
  node: string | undefined
  publicUrl: string | undefined
  /** Any variable, for substitution in the file; for a secret, also from its `_FILE`. */
  lookup(name: string): string | undefined
  /** The variables that were looked up. */
  read: ReadonlySet<string>
}

export function readEnvironment(env: NodeJS.ProcessEnv, cwd: string, problems: Problem[]): Environment {
  const fail = (path: string, reason: string): undefined => {
    problems.push({ source: 'environment', path, reason })
  }
  const set = (name: string) => (env[name] === '' ? undefined : env[name])

  // Each file is read once: a swapped file must not give two values, nor one problem twice.
  const held = new Map<string, string | undefined>([...secrets].map((name) => [name, readSecret(name)]))
  function readSecret(name: string): string | undefined {
    const value = set(name)
    const file = set(`${name}_FILE`)
    if (file === undefined) return value
    if (value !== undefined) return fail(name, `is set, and so is ${name}_FILE (set one of them)`)
    try {
      // Editors and `echo` end files with a line break that no secret ends with.
      const content = readFileSync(resolve(cwd, file), 'utf8').replace(/[\r\n]+$/, '')
      return content === '' ? fail(`${name}_FILE`, 'names a file that is empty') : content
    } catch (error) {
      return fail(`${name}_FILE`, `names a file that cannot be read (${errorCode(error)})`)
    }
  }
  const read = new Set<string>()
  const lookup = (name: string) => {
    read.add(name)
    return secrets.has(name) ? held.get(name) : set(name)
  }

  function checked(name: string, accepts: string, valid: (value: string) => boolean): string | undefined {
    const value = lookup(name)
    if (value === undefined || valid(value)) return value
    return fail(name, `is not valid (${accepts})`)
  }
  function whole(name: string, least: number, most: number, or = ''): number | undefined {
    const isWhole = (value: string) => /^\d{1,6}$/.test(value) && Number(value) >= least && Number(value) <= most
    const value = checked(name, `${or}a whole number from ${least} to ${most}`, isWhole)
    return value === undefined ? undefined : Number(value)
  }
  const host = (name: string) => checked(name, 'an address or a host name', (value) => /^[A-Za-z0-9.:_-]+$/.test(value))

  // Read before there are settings: the log tells how they are loaded.
  checked('SLUICEGATE_LOG_LEVEL', logLevels.join(', '), (value) => logLevels.includes(value))
  const dataKey = checked('SLUICEGATE_DATA_KEY', '32 bytes in base64', (value) => /^[A-Za-z0-9+/]{43}=?$/.test(value))
  return {
    host: host('SLUICEGATE_HOST'),
    port: whole('SLUICEGATE_PORT', 0, 65535),
    opsHost: host('SLUICEGATE_OPS_HOST'),
    opsPort: whole('SLUICEGATE_OPS_PORT', 0, 65535),
    config: lookup('SLUICEGATE_CONFIG'),
    dataDir: lookup('SLUICEGATE_DATA_DIR'),
    databaseUrl: lookup('SLUICEGATE_DATABASE_URL'),
    redisUrl: lookup('SLUICEGATE_REDIS_URL'),
    dataKey: dataKey === undefined ? undefined : Buffer.from(dataKey, 'base64'),
    bootstrapKey: lookup('SLUICEGATE_BOOTSTRAP_KEY'),
    upstream: checked(
      'SLUICEGATE_UPSTREAM',
      'an http or https URL without credentials, query or fragment; the key goes to SLUICEGATE_UPSTREAM_KEY',
      isHttpPrefix
    ),
    upstreamKey: checked('SLUICEGATE_UPSTREAM_KEY', 'visible ASCII, as a header takes it', (value) =>
      /^[\x21-\x7e]+$/.test(value)
    ),
    upstreamAuth: checked('SLUICEGATE_UPSTREAM_AUTH', plainAuths.join(', '), (value) =>
      (plainAuths as readonly string[]).includes(value)
    ) as UpstreamAuth | undefined,
    node: checked('SLUICEGATE_NODE', 'letters, digits, "_", "." and "-", at most 64', (value) =>
      /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value)
    ),
    publicUrl: checked('SLUICEGATE_PUBLIC_URL', 'the URL that people type, https://…', isHttpPrefix),
    workers: set('SLUICEGATE_WORKERS') === 'auto' ? 'auto' : whole('SLUICEGATE_WORKERS', 1, 1024, 'auto, or '),
    encoder: checked('SLUICEGATE_ENCODER', encoderUses.join(', '), (value) =>
      (encoderUses as readonly string[]).includes(value)
    ) as EncoderUse | undefined,
    lookup,
    read
  }
}
