/**
 * One undici pool per upstream. Hosts come from the configuration only; requests are sent only for clients (health is
 * passive), no redirect is followed, and a POST is never sent twice once a byte of it may have been written.
 */
import type { LookupFunction, Socket } from 'node:net'
import { buildConnector, Pool } from 'undici'
import { Fault } from '../../base/errors.js'
import { Places } from '../../base/places.js'
import type { UpstreamSettings } from '../../base/settings.js'
import type { Dialect } from '../../dialects/dialect.js'
import { credential } from '../headers.js'
import { guardedLookup } from './addresses.js'
import { openSigner, type Sign } from './aws.js'

export interface Upstream {
  readonly name: string
  readonly origin: string
  readonly pool: Pool
  /** A connection needs one of these places first. */
  readonly places: Places
  /** Time for connecting, as in the pool. */
  readonly connectTimeoutMs: number
  readonly tls: Readonly<{ ca?: string; cert?: string; key?: string; lookup?: LookupFunction }>
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly totalTimeoutMs: number
  readonly fallback: readonly string[]
  /** The credential itself, to keep it out of answers. */
  readonly key: string | undefined
  /** The path to ask for: prefix of the upstream and path of the route, a repeated leading segment once. */
  pathOf(routePath: string): string
  credential(dialect: Dialect): Readonly<Record<string, string>>
  /** Set for an upstream that takes a signature instead. */
  readonly sign: Sign | undefined
}

/** The connection failed and nothing was sent: another upstream may be asked. */
export class ConnectFailed extends Error {
  readonly code: string
  constructor(cause: Error) {
    super('no connection to the upstream could be made', { cause })
    this.name = 'ConnectFailed'
    this.code = (cause as NodeJS.ErrnoException).code ?? 'ECONNECT'
  }
}

export type Upstreams = ReadonlyMap<string, Upstream>

export function openUpstreams(settings: Readonly<Record<string, UpstreamSettings>>): Upstreams {
  return new Map(Object.entries(settings).map(([name, upstream]) => [name, openUpstream(upstream)]))
}

/** Shortest credential that is searched for in answers, so that none carries it to a client. */
const guardedKeyLength = 16

export function openUpstream(settings: UpstreamSettings): Upstream {
  const url = new URL(settings.url)
  const prefix = url.pathname.replace(/\/+$/, '')
  const paths = new Map<string, string>()
  return {
    name: settings.name,
    origin: url.origin,
    pool: openPool(url.origin, settings),
    places: placesOf(settings.maxConnections, settings.queueTimeoutMs),
    connectTimeoutMs: settings.connectTimeoutMs,
    tls: tlsOf(settings),
    firstByteTimeoutMs: settings.firstByteTimeoutMs,
    idleTimeoutMs: settings.idleTimeoutMs,
    totalTimeoutMs: settings.totalTimeoutMs,
    fallback: settings.fallback,
    // Shorter ones are ordinary words (`ollama`) that answers may contain.
    key: settings.key !== undefined && settings.key.length >= guardedKeyLength ? settings.key : undefined,
    pathOf(routePath) {
      let path = paths.get(routePath)
      if (path === undefined) {
        path = joinPaths(prefix, routePath)
        // Bounded: routes are few, but paths that name models are not.
        if (paths.size < 256) paths.set(routePath, path)
      }
      return path
    },
    sign: settings.aws === undefined ? undefined : openSigner(settings.aws, url.origin),
    credential: (dialect) => credential(settings.auth ?? dialect.auth, settings.key)
  }
}

function tlsOf({ tls: { ca, cert, key }, isConnected }: UpstreamSettings): Upstream['tls'] {
  return {
    ...(isConnected === true ? { lookup: guardedLookup } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key })
  }
}

/** Unread bytes at which a connection stops reading; the system delivers up to 64 KiB at a time. */
const mostWaiting = 16_384
/** Bytes that are read from it at a time. */
const pieceLength = 8192

/**
 * Reads a connection in small pieces. A paused answer puts its unread bytes back into the connection's buffer; on
 * resuming it reads the whole buffer, and the connection then reads more: a slow reader's share would grow with each
 * turn, without end. With pieces, less than one piece is put back, and the connection stops reading while its buffer is
 * full.
 */
function inPieces(socket: Socket): Socket {
  const { read } = socket
  socket.read = (size) => read.call(socket, size ?? (socket.readableLength > pieceLength ? pieceLength : undefined))
  return socket
}

function openPool(origin: string, settings: UpstreamSettings): Pool {
  const bounds = { timeout: settings.connectTimeoutMs, highWaterMark: mostWaiting }
  const connect = buildConnector({ ...bounds, ...tlsOf(settings) })
  return new Pool(origin, {
    connections: settings.maxConnections,
    pipelining: 1,
    headersTimeout: settings.firstByteTimeoutMs,
    bodyTimeout: settings.idleTimeoutMs,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) =>
        error === null ? callback(null, inPieces(socket!)) : callback(new ConnectFailed(error), null)
      )
  })
}

/** `https://host/v1` with `/v1/chat/completions` is what people write and mean once. */
export function joinPaths(prefix: string, path: string): string {
  if (prefix === '') return path
  const last = prefix.slice(prefix.lastIndexOf('/'))
  return path === last || path.startsWith(`${last}/`) ? prefix + path.slice(last.length) : prefix + path
}

export async function closeUpstreams(upstreams: Upstreams): Promise<void> {
  await Promise.all([...upstreams.values()].map(({ pool }) => pool.close()))
}

/** @param waitMs how long a request waits for one before it is refused as `overloaded` */
export function placesOf(most: number, waitMs: number): Places {
  const refused = { headers: { 'retry-after': '2' }, internal: 'no place became free in time' }
  return new Places({ most, waitMs, refusal: () => new Fault('overloaded', refused) })
}
