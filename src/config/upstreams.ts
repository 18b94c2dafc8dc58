/** Compiles the upstreams of the file, with the environment's values for `default`, and reads their TLS files. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { UpstreamSettings } from '../base/settings.js'
import { parseDuration } from '../base/units.js'
import type { Environment } from './env.js'
import { errorCode } from './file.js'
import type { Fail } from './problem.js'
import type { FileConfig, FileReached, FileUpstream } from './schema.js'

/** Settings of an upstream with only an address, such as the demo backend. */
export function upstreamSettings(name: string, url: string): UpstreamSettings {
  return {
    name,
    url,
    key: undefined,
    auth: undefined,
    connectTimeoutMs: 5_000,
    firstByteTimeoutMs: 120_000,
    idleTimeoutMs: 60_000,
    totalTimeoutMs: 600_000,
    maxConnections: 1024,
    queueTimeoutMs: 10_000,
    tls: { ca: undefined, cert: undefined, key: undefined },
    fallback: []
  }
}

export function compileUpstreams(
  file: FileConfig,
  environment: Environment,
  folder: string,
  fail: Fail
): Record<string, UpstreamSettings> {
  const given = new Map<string, FileUpstream>(Object.entries(file.upstreams ?? {}))
  const fallbackUrl = environment.upstream ?? given.get('default')?.url
  if (fallbackUrl !== undefined) {
    given.set('default', {
      ...given.get('default'),
      url: fallbackUrl,
      ...(environment.upstreamKey === undefined ? {} : { key: environment.upstreamKey }),
      ...(environment.upstreamAuth === undefined ? {} : { auth: environment.upstreamAuth })
    })
  }
  return Object.fromEntries(
    [...given].map(([name, upstream]) => {
      const reached = compileReached(name, upstream, folder, (path, reason) =>
        fail(['upstreams', name, ...path], reason)
      )
      return [name, { ...reached, fallback: upstream.fallback ?? reached.fallback }]
    })
  )
}

/** @param fail is told the path within what is compiled */
export function compileReached(name: string, file: FileReached, folder: string, fail: Fail): UpstreamSettings {
  const base = upstreamSettings(name, file.url)
  const ms = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : (parseDuration(text) as number)
  return {
    ...base,
    key: file.key === '' ? undefined : file.key,
    auth: file.auth,
    ...awsOf(file, fail),
    connectTimeoutMs: ms(file.connect_timeout, base.connectTimeoutMs),
    firstByteTimeoutMs: ms(file.first_byte_timeout, base.firstByteTimeoutMs),
    idleTimeoutMs: ms(file.idle_timeout, base.idleTimeoutMs),
    totalTimeoutMs: ms(file.total_timeout, base.totalTimeoutMs),
    maxConnections: file.max_connections ?? base.maxConnections,
    queueTimeoutMs: ms(file.queue_timeout, base.queueTimeoutMs),
    tls: readTls(file.tls ?? {}, folder, ['tls'], fail)
  }
}

/** Signing needs a region; without signing the section is refused. */
function awsOf({ auth, aws, key }: FileUpstream, fail: Fail): Pick<UpstreamSettings, 'aws'> | undefined {
  if ((auth === 'aws') !== (aws !== undefined)) {
    fail([auth === 'aws' ? 'auth' : 'aws'], 'needs the other: auth: aws and aws: { region }')
    return undefined
  }
  if (aws === undefined) return undefined
  if (key !== undefined && key !== '') fail(['key'], 'is not used: requests are signed (auth: aws)')
  const { region, service = 'bedrock', profile, instance_metadata: instanceMetadata = false } = aws
  return { aws: { region, service, profile, instanceMetadata } }
}

interface Pems {
  ca: string | undefined
  cert: string | undefined
  key: string | undefined
}

/** Reads the PEM files of one `tls` section, and tries them, so that a wrong file is found at load, not at the first connection. */
export function readTls(
  files: { ca?: string; cert?: string; key?: string },
  folder: string,
  path: readonly string[],
  fail: Fail
): Pems {
  const read = (name: 'ca' | 'cert' | 'key'): string | undefined => {
    const file = files[name]
    if (file === undefined) return undefined
    try {
      return readFileSync(resolve(folder, file), 'utf8')
    } catch (error) {
      fail([...path, name], `names a file that cannot be read (${errorCode(error)})`)
      return undefined
    }
  }
  const pems: Pems = { ca: read('ca'), cert: read('cert'), key: read('key') }
  // Names the file instead of quoting OpenSSL's cause.
  if (pems.ca !== undefined && !works(() => new X509Certificate(pems.ca as string))) {
    fail([...path, 'ca'], 'is not usable (a certificate in PEM form)')
  }
  if ((files.cert === undefined) !== (files.key === undefined)) fail(path, 'needs cert and key together')
  else if (!works(() => createSecureContext({ cert: pems.cert, key: pems.key }))) {
    fail([...path, 'cert'], 'is not usable (cert and key in PEM form, of one pair, without a passphrase)')
  }
  return pems
}

function works(attempt: () => unknown): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
