/**
 * AWS's signature (SigV4) for upstreams with `auth: aws`, over the very bytes that leave. AWS's own packages sign and find
 * the credentials; they are loaded with the first request that needs them.
 *
 * Credentials come from the environment, a web identity, the shared file, a container, and where it is configured from the
 * instance's metadata, in this order. No command is run for them (`credential_process`), and nothing of them is logged.
 */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { Fault } from '../../base/errors.js'
import type { AwsSettings } from '../../base/settings.js'

/** A request as it will leave. */
export interface Unsigned {
  method: string
  /** With its query. */
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer | undefined
}

export interface Signed {
  /** Headers to add to the request. */
  headers: Record<string, string>
  /** The part of the credentials in them: never shown to a client. */
  secret: string | undefined
}

export type Sign = (request: Unsigned) => Promise<Signed>

interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration?: Date
}
type Find = () => Promise<Credentials>

/** Expiring credentials are renewed this long before. */
const renewMs = 5 * 60_000

/** Headers that are signed besides the host, since no hop changes them. */
const signedHeaders = ['content-type', 'content-length']

/** @param origin of the upstream */
export function openSigner(settings: AwsSettings, origin: string): Sign {
  const { host, hostname, protocol } = new URL(origin)
  const credentials = remembered(() => findCredentials(settings))
  return async ({ method, path, headers, body }) => {
    const { SignatureV4 } = await import('@smithy/signature-v4')
    const { region, service } = settings
    const signer = new SignatureV4({ region, service, credentials, sha256: Sha256 })
    const [pathname, query = ''] = path.split('?', 2)
    const own = signedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))
    const signed = await signer.sign({
      method,
      protocol,
      hostname,
      path: pathname!,
      query: Object.fromEntries(new URLSearchParams(query)),
      headers: { host, ...Object.fromEntries(own) },
      body: body ?? ''
    })
    const added = Object.entries(signed.headers).filter(
      ([name]) => name === 'authorization' || name.startsWith('x-amz-')
    )
    return { headers: Object.fromEntries(added), secret: signed.headers['x-amz-security-token'] }
  }
}

/** One search at a time, however many requests wait for it; a failure is not remembered. */
function remembered(find: Find): Find {
  let current: Promise<Credentials> | undefined
  let endsAt = Number.POSITIVE_INFINITY
  return () => {
    if (current !== undefined && Date.now() < endsAt) return current
    endsAt = Number.POSITIVE_INFINITY
    const search = find()
    current = search
    search.then(
      ({ expiration }) => {
        if (expiration !== undefined) endsAt = expiration.getTime() - renewMs
      },
      () => {
        if (current === search) current = undefined
      }
    )
    return search
  }
}

async function findCredentials(settings: AwsSettings): Promise<Credentials> {
  for (const [name, find] of sources(settings)) {
    let found: Credentials | undefined
    try {
      found = await find()
    } catch {
      // The package's own message may quote files, addresses and their contents.
      throw noCredentials(`${name} gave none`)
    }
    if (found !== undefined) return found
  }
  throw noCredentials('none were found')
}

function noCredentials(reason: string): Fault {
  return new Fault('upstream_error', { internal: `credentials of AWS: ${reason}` })
}

type Source = readonly [name: string, find: () => Promise<Credentials | undefined>]

function sources({ region, profile, instanceMetadata }: AwsSettings): readonly Source[] {
  const { env } = process
  const file: Source = ['the shared file', () => fromFile(profile ?? 'default', region, profile !== undefined)]
  // A named profile is the only source.
  if (profile !== undefined) return [file]
  return [
    ['the environment', async () => fromEnvironment(env)],
    [
      'the web identity',
      async () =>
        env.AWS_WEB_IDENTITY_TOKEN_FILE === undefined
          ? undefined
          : fromToken(env.AWS_WEB_IDENTITY_TOKEN_FILE, env.AWS_ROLE_ARN, env.AWS_ROLE_SESSION_NAME, region)
    ],
    file,
    ['the container', () => fromContainer(env)],
    ['the instance', async () => (instanceMetadata ? fromInstance() : undefined)]
  ]
}

function fromEnvironment(env: NodeJS.ProcessEnv): Credentials | undefined {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env
  return id && secret ? withToken(id, secret, token) : undefined
}

function withToken(accessKeyId: string, secretAccessKey: string, sessionToken: string | undefined): Credentials {
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}

/** Reads a profile with a key or a web identity. Profiles that run a command or need a sign-in are not read. */
async function fromFile(name: string, region: string, isNamed: boolean): Promise<Credentials | undefined> {
  const { parseKnownFiles } = await import('@smithy/core/config')
  const profile = (await parseKnownFiles({ profile: name, ignoreCache: true }))[name]
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: token } = profile ?? {}
  if (id && secret) return withToken(id, secret, token)
  const file = profile?.web_identity_token_file
  if (file !== undefined) return fromToken(file, profile?.role_arn, profile?.role_session_name, region)
  if (isNamed) throw new Error('no such profile, or none that is read')
  return undefined
}

async function fromToken(
  webIdentityTokenFile: string,
  roleArn: string | undefined,
  roleSessionName: string | undefined,
  region: string
): Promise<Credentials> {
  const { fromTokenFile } = await import('@aws-sdk/credential-provider-web-identity')
  return fromTokenFile({
    webIdentityTokenFile,
    ...(roleArn && { roleArn }),
    ...(roleSessionName && { roleSessionName }),
    clientConfig: { region }
  })()
}

async function fromContainer(env: NodeJS.ProcessEnv): Promise<Credentials | undefined> {
  if (!env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI && !env.AWS_CONTAINER_CREDENTIALS_FULL_URI) return undefined
  const { fromHttp } = await import('@aws-sdk/credential-provider-http')
  return fromHttp({})()
}

async function fromInstance(): Promise<Credentials> {
  const { fromInstanceMetadata } = await import('@smithy/credential-provider-imds')
  return fromInstanceMetadata()()
}

type Bytes = string | ArrayBuffer | ArrayBufferView

const viewOf = (data: Bytes) =>
  typeof data === 'string'
    ? Buffer.from(data)
    : ArrayBuffer.isView(data)
      ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      : Buffer.from(data)

/** Node's own, in the form that the signer takes. */
class Sha256 {
  readonly #secret: Bytes | undefined
  #hash: Hash | Hmac

  constructor(secret?: Bytes) {
    this.#secret = secret
    this.#hash = this.#begin()
  }

  #begin(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', viewOf(this.#secret))
  }

  update(data: Bytes): void {
    this.#hash.update(viewOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest())
  }

  reset(): void {
    this.#hash = this.#begin()
  }
}
