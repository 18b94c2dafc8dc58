/**
 * One undici pool per upstream. Hosts come from the configuration only; nothing is ever sent that no client asked for
 * (health is passive), no redirect is followed, and a POST is never sent twice once a byte of it may have been written.
 */
import type { LookupFunction, Socket } from 'node:net'
import { buildConnector, Pool } from 'undici'
import { Fault } from '../../base/errors.js'
import type { UpstreamSettings } from '../../base/settings.js'
import type { Dialect } from '../../dialects/dialect.js'
import type { Cancel } from '../exchange.js'
import { credential } from '../headers.js'
import { guardedLookup } from './addresses.js'
import { openSigner, type Sign } from './aws.js'

export interface Upstream {
  readonly name: string
  readonly origin: string
  readonly pool: Pool
  /** Whoever opens a connection takes one first. */
  readonly places: Places
  /** As the pool connects. */
  readonly connectTimeoutMs: number
  readonly tls: Readonly<{ ca?: string; cert?: string; key?: string; lookup?: LookupFunction }>
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly totalTimeoutMs: number
  readonly fallback: readonly string[]
  /** The credential itself, to keep it out of what a client gets. */
  readonly key: string | undefined
  /** The path to ask for: prefix of the upstream and path of the route, a repeated leading segment once. */
  pathOf(routePath: string): string
  credential(dialect: Dialect): Readonly<Record<string, string>>
  /** Of an upstream that takes a signature instead. */
  readonly sign: Sign | undefined
}

/** No connection was made, so nothing was sent: another upstream may be asked. */
export class ConnectFailed extends Error {
  readonly code: string
  constructor(cause: Error) {
    super('the upstream could not be connected to', { cause })
    this.name = 'ConnectFailed'
    this.code = (cause as NodeJS.ErrnoException).code ?? 'ECONNECT'
  }
}

export type Upstreams = ReadonlyMap<string, Upstream>

export function openUpstreams(settings: Readonly<Record<string, UpstreamSettings>>): Upstreams {
  return new Map(Object.entries(settings).map(([name, upstream]) => [name, openUpstream(upstream)]))
}

/** From this length on a credential is looked for in answers, none of which may carry it to a client. */
const guardedKeyLength = 16

export function openUpstream(settings: UpstreamSettings): Upstream {
  const url = new URL(settings.url)
  const prefix = url.pathname.replace(/\/+$/, '')
  const paths = new Map<string, string>()
  return {
    name: settings.name,
    origin: url.origin,
    pool: openPool(url.origin, settings),
    places: new Places(settings.maxConnections, settings.queueTimeoutMs),
    connectTimeoutMs: settings.connectTimeoutMs,
    tls: tlsOf(settings),
    firstByteTimeoutMs: settings.firstByteTimeoutMs,
    idleTimeoutMs: settings.idleTimeoutMs,
    totalTimeoutMs: settings.totalTimeoutMs,
    fallback: settings.fallback,
    // Shorter ones are words (`ollama`), which answers hold for reasons of their own.
    key: settings.key !== undefined && settings.key.length >= guardedKeyLength ? settings.key : undefined,
    pathOf(routePath) {
      let path = paths.get(routePath)
      if (path === undefined) {
        path = joinPaths(prefix, routePath)
        // Routes are few; the paths of models are not.
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

/** Bytes that wait in a connection before it reads no more; the system gives up to 64 KiB at a time. */
const mostWaiting = 16_384
/** Bytes that are taken of them at a time. */
const pieceLength = 8192

/**
 * A paused answer puts what was read and not taken back before what waits in its connection, and to go on reads all of
 * that, upon which the connection reads more: a slow reader's share would grow with each turn, without end. Read in
 * pieces, what is put back is less than one, and the connection reads no more while so much waits.
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

/** Gives a place back, once however often it is called. */
export type LetGo = () => void

interface Waiter {
  begin(letGo: LetGo): void
}

/**
 * Places of which there are only so many: the connections to one upstream, the turns of long events. Where all are taken,
 * keys take turns: whoever has many that wait gets one place for each that another key gets. Nobody waits for ever.
 */
export class Places {
  readonly #waitMs: number
  #free: number
  /** By lineage, in the order of their turns; of each in the order in which they came. */
  readonly #waiting = new Map<string, Set<Waiter>>()

  /**
   * @param most taken at once
   * @param waitMs how long to wait for one
   */
  constructor(most: number, waitMs: number) {
    this.#free = most
    this.#waitMs = waitMs
  }

  /**
   * At once where a place is free. Rejects with the reason of the cancel.
   * @throws Fault `overloaded` where none becomes free in time
   */
  take(lineage: string, cancel: Cancel): LetGo | Promise<LetGo> {
    if (cancel.reason !== undefined) return Promise.reject(cancel.reason)
    if (this.#free > 0) {
      this.#free--
      return this.#place()
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        forget()
        this.#leave(lineage, waiter)
      }
      const waiter: Waiter = {
        begin(letGo) {
          leave()
          resolve(letGo)
        }
      }
      const forget = cancel.onCancel((reason) => {
        leave()
        reject(reason)
      })
      const timer = setTimeout(() => {
        leave()
        const internal = 'no place became free in time'
        reject(new Fault('overloaded', { headers: { 'retry-after': '2' }, internal }))
      }, this.#waitMs)
      const own = this.#waiting.get(lineage)
      if (own === undefined) this.#waiting.set(lineage, new Set([waiter]))
      else own.add(waiter)
    })
  }

  #place(): LetGo {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#pass()
    }
  }

  /** To the key whose turn it is, which is then the last in turn. */
  #pass(): void {
    const [turn] = this.#waiting
    if (turn === undefined) {
      this.#free++
      return
    }
    const [lineage, own] = turn
    const [first] = own
    this.#waiting.delete(lineage)
    this.#waiting.set(lineage, own)
    first!.begin(this.#place())
  }

  #leave(lineage: string, waiter: Waiter): void {
    const own = this.#waiting.get(lineage)
    own?.delete(waiter)
    if (own?.size === 0) this.#waiting.delete(lineage)
  }
}
