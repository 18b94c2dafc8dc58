/**
 * The requests that are under way on an edge, until their answers are taken or given up. A client that does not read
 * its answer is disconnected: it would hold an upstream's connection and the memory of the unread answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { cutOff, isHttp2 } from './http2.js'

/** Longest time between two checks of the clients, ms; shorter where their timeout is shorter. */
const longestLook = 1_000

interface Open {
  readonly response: ServerResponse
  readonly isHttp2: boolean
  /**
   * Bytes that the client had taken at the last check, and the time of its last progress; undefined: nothing waits for
   * it.
   */
  taken: number
  since: number | undefined
  /** Called when it is over. */
  over: (() => void)[] | undefined
}

export class UnderWay {
  readonly #timeoutMs: number
  readonly #stalled: () => void
  readonly #open = new Map<ServerResponse, Open>()
  readonly #bySocket = new WeakMap<Socket, Set<ServerResponse>>()
  #looks: NodeJS.Timeout | undefined
  #idle: (() => void) | undefined

  /**
   * @param timeoutMs how long a client may read nothing
   * @param stalled called for each client that is disconnected
   */
  constructor(timeoutMs: number, stalled: () => void) {
    this.#timeoutMs = timeoutMs
    this.#stalled = stalled
  }

  /** Requests whose answers are not taken yet. */
  get size(): number {
    return this.#open.size
  }

  /** Resolves when none is left, at once where none is. */
  whenIdle(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#idle = resolve))
  }

  /** Called with every request; it makes certain that the response is closed, however it ends. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const open = { response, isHttp2: isHttp2(request), taken: 0, since: undefined, over: undefined }
    this.#open.set(response, open)
    response.once('close', () => this.#over(request, response))
    if (!open.isHttp2) this.#tie(request.socket, response)
    this.#looks ??= setInterval(() => this.#look(), Math.min(longestLook, Math.ceil(this.#timeoutMs / 4))).unref()
  }

  /** @param over called when the request of this response is over, at once where it is */
  whenOver(response: ServerResponse, over: () => void): void {
    const open = this.#open.get(response)
    if (open === undefined) over()
    else if (open.over === undefined) open.over = [over]
    else open.over.push(over)
  }

  #over({ socket }: IncomingMessage, response: ServerResponse): void {
    const open = this.#open.get(response)
    this.#open.delete(response)
    this.#bySocket.get(socket)?.delete(response)
    if (open?.over !== undefined) for (const over of open.over) over()
    if (this.#open.size > 0) return
    this.#idle?.()
    clearInterval(this.#looks)
    this.#looks = undefined
  }

  /** When a connection closes, Node closes only the response in progress, not those of pipelined requests. */
  #tie(socket: Socket, response: ServerResponse): void {
    const known = this.#bySocket.get(socket)
    if (known !== undefined) {
      known.add(response)
      return
    }
    const tied = new Set([response])
    this.#bySocket.set(socket, tied)
    socket.once('close', () =>
      setImmediate(() => {
        for (const left of tied) {
          left.destroy()
          left.emit('close')
        }
      })
    )
  }

  #look(): void {
    const now = performance.now()
    for (const open of this.#open.values()) {
      const progress = open.isHttp2 ? ofStream(open.response) : ofSocket(open.response.socket)
      if (progress === undefined) open.since = undefined
      else if (open.since === undefined || progress !== open.taken) Object.assign(open, { taken: progress, since: now })
      else if (now - open.since >= this.#timeoutMs) this.#letGo(open)
    }
  }

  #letGo(open: Open): void {
    const { response, isHttp2 } = open
    open.since = Number.POSITIVE_INFINITY
    this.#stalled()
    const { socket } = response
    // Drops also the bytes that the system still holds for this client.
    if (!isHttp2 && socket instanceof Socket && !(socket instanceof TLSSocket)) socket.resetAndDestroy()
    else cutOff(response)
  }
}

/**
 * The system takes what its send buffer and the client's receive buffer hold, up to some megabytes, though the client reads
 * nothing, and tells nobody how much the client has acknowledged: the time begins once both are full. From then on it takes
 * more only once a good part of the send buffer (Linux: a third) is free, so that a client which lives on by a byte at a time
 * is let go as well; to ask for a least number of bytes would let go of nobody but those whose line is slow.
 * @returns bytes that the system has taken for the client; undefined where nothing waits for it
 */
function ofSocket(socket: (Socket & { _handle?: Partial<Handle> | null }) | null): number | undefined {
  if (socket === null || !(socket.writableLength > 0)) return undefined
  const { bytesWritten, writeQueueSize } = socket._handle ?? {}
  // The rest of one large write shows only in the queue of the handle; bytes not handed to it yet tell nothing.
  if (bytesWritten !== undefined && writeQueueSize !== undefined) return bytesWritten - writeQueueSize
  return socket.bytesWritten - socket.writableLength
}

interface Handle {
  bytesWritten: number
  writeQueueSize: number
}

/** The same of a stream of HTTP/2, which has a window of its own: what is left changes with each piece that is taken. */
function ofStream(response: object): number | undefined {
  const { stream } = response as Http2ServerResponse
  if (stream.destroyed) return undefined
  const left = stream.writableLength + stream.bufferSize
  return left > 0 ? left : undefined
}
