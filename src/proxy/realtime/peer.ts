/**
 * One side of a session, with a bound on what waits in both directions: what is not taken is not read any more, and what
 * is sent is waited for until the socket has it.
 */
import type { RawData, WebSocket } from 'ws'
import { Fault } from '../../errors.js'
import type { Exchange } from '../exchange.js'
import { upstreamHeaders } from '../headers.js'
import { candidates, transportFault } from '../upstream/send.js'
import { ConnectFailed, type LetGo, type Upstream, type Upstreams } from '../upstream/upstreams.js'

/** What came: the bytes of a text frame, or a binary frame, of which nothing is read. */
export type Frame = Buffer | 'binary'

/** How much may wait before the socket is left alone. */
const fullEvents = 32
const fullBytes = 256 * 1024
/** What may arrive in between: a socket hands over what it has read already. Tiny frames in such numbers are an attack. */
const mostEvents = 8192

export class Peer {
  readonly #socket: WebSocket
  readonly #gone: () => Error
  readonly #closeMs: number
  #queue: Frame[] = []
  #bytes = 0
  #taker: (() => void) | undefined
  #isPaused = false
  #isClosed = false
  /** How it was closed by the other side; 1006 for a connection that broke. */
  closeCode = 0
  /** Called once, when nothing will come any more. */
  onClose: (() => void) | undefined

  /**
   * @param gone what a message that cannot be sent any more is rejected with
   * @param closeMs how long the other side has for its half of the closing handshake
   */
  constructor(socket: WebSocket, { gone, closeMs }: { gone: () => Error; closeMs: number }) {
    this.#socket = socket
    this.#gone = gone
    this.#closeMs = closeMs
    socket.on('message', (data, isBinary) => this.#arrived(data, isBinary))
    // What an error means is told by the close that follows it.
    socket.on('error', () => {})
    socket.once('close', (code) => {
      this.closeCode = code
      this.#isClosed = true
      this.#taker?.()
      this.onClose?.()
    })
    socket.resume()
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** False where it may well have answered and was not heard. */
  get isHeard(): boolean {
    return !this.#isPaused
  }

  #arrived(data: RawData, isBinary: boolean): void {
    const frame = isBinary ? 'binary' : (data as Buffer)
    this.#queue.push(frame)
    this.#bytes += frame.length
    if (this.#queue.length > mostEvents) {
      this.#socket.terminate()
      return
    }
    if (!this.#isPaused && (this.#queue.length >= fullEvents || this.#bytes >= fullBytes)) {
      this.#isPaused = true
      this.#socket.pause()
    }
    this.#taker?.()
  }

  /** The next frame; undefined when the other side has closed and all was taken. */
  async next(): Promise<Frame | undefined> {
    while (this.#queue.length === 0) {
      if (this.#isClosed) return undefined
      await new Promise<void>((resolve) => {
        this.#taker = resolve
      })
      this.#taker = undefined
    }
    const frame = this.#queue.shift()!
    this.#bytes -= frame.length
    if (this.#isPaused && this.#queue.length < fullEvents / 2 && this.#bytes < fullBytes / 2) {
      this.#isPaused = false
      this.#socket.resume()
    }
    return frame
  }

  /** Resolves when the socket has taken it. */
  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(text, (error) => {
        if (error === undefined || error === null) resolve()
        else reject(this.#gone())
      })
    })
  }

  ping(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }

  onPong(listener: () => void): void {
    this.#socket.on('pong', listener)
  }

  /** By the closing handshake, and where the other side does not answer it, without. */
  close(code: number, reason = ''): void {
    if (this.#isClosed) return
    // A side that is left alone would not be heard to close.
    this.#socket.resume()
    this.#socket.close(code, reason)
    setTimeout(() => this.#socket.terminate(), this.#closeMs).unref()
  }
}

/** Opens the upstream's side of a session: after the caller is admitted, and before it is told anything. */

/** Bytes of one event of an upstream. */
const maxEventBytes = 16 * 1024 * 1024

export interface Connected {
  socket: WebSocket
  upstream: Upstream
}

/**
 * Tries the upstream and, where no connection was made, its fallback.
 * @throws Fault `upstream_timeout`, `upstream_error` or `overloaded`; the reason of a cancel
 */
export async function connect(upstreams: Upstreams, exchange: Exchange): Promise<Connected> {
  const first = upstreams.get(exchange.route.upstream)
  if (first === undefined) throw new Fault('upstream_error', { internal: 'unknown upstream' })
  let failure: unknown
  for (const upstream of candidates(upstreams, first)) {
    let letGo: LetGo | undefined
    try {
      letGo = await upstream.places.take(exchange.inbound.caller.lineage, exchange.inbound.cancel)
      const socket = await open(upstream, exchange)
      socket.once('close', letGo)
      return { socket, upstream }
    } catch (error) {
      letGo?.()
      failure = error
      if (!(error instanceof ConnectFailed)) break
    }
  }
  throw exchange.inbound.cancel.reason ?? transportFault(failure)
}

async function open(upstream: Upstream, { deps, route, inbound }: Exchange): Promise<WebSocket> {
  const { WebSocket } = await import('ws')
  const {
    accept: _,
    'accept-encoding': __,
    ...headers
  } = upstreamHeaders(route.spoken, inbound.headers, {
    requestId: inbound.requestId,
    accept: '',
    length: undefined,
    credential: upstream.credential(route.spoken),
    propagate: deps.propagate
  })
  const url = upstream.origin.replace(/^http/, 'ws') + upstream.pathOf(route.upstreamPath) + inbound.target.query
  const { cancel } = inbound
  if (cancel.reason !== undefined) throw cancel.reason
  return new Promise((resolve, reject) => {
    // No subprotocol: the credential goes in its header, and many servers that speak this API select none.
    const socket = new WebSocket(url, {
      ...upstream.tls,
      headers,
      handshakeTimeout: upstream.connectTimeoutMs,
      maxPayload: maxEventBytes,
      perMessageDeflate: false,
      followRedirects: false
    })
    const settle = () => {
      forget()
      socket.removeAllListeners()
      socket.on('error', () => {})
    }
    const fail = (error: unknown) => {
      settle()
      socket.terminate()
      reject(error)
    }
    const forget = cancel.onCancel(fail)
    socket.once('open', () => {
      settle()
      // Nothing is read until there is somebody to take it.
      socket.pause()
      resolve(socket)
    })
    // What it says in place of an upgrade is about the gateway's own request: its status is for the log alone.
    socket.once('unexpected-response', (_request, response) => {
      fail(new Fault('upstream_error', { internal: `status ${response.statusCode} in place of an upgrade` }))
    })
    socket.once('error', (error) => fail(failureOf(error)))
  })
}

function failureOf(error: Error): Error {
  if (error.message === 'Opening handshake has timed out') return new Fault('upstream_timeout', { cause: error })
  const { syscall } = error as NodeJS.ErrnoException
  return syscall === 'connect' || syscall === 'getaddrinfo' ? new ConnectFailed(error) : error
}
