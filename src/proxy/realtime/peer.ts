/**
 * One side of a session, with a bound on what waits in both directions: what is not taken is not read any more, and what
 * is sent is waited for until the socket has it.
 */
import type { RawData, WebSocket } from 'ws'

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
