/**
 * One side of a session, with bounds on both queues: reading pauses while received frames wait, and sending waits until
 * the socket has accepted the text.
 */
import type { RawData, WebSocket } from 'ws'

/** A received frame: the bytes of a text frame, or a binary frame, whose content is ignored. */
export type Frame = Buffer | 'binary'

/** Waiting frames at which reading pauses. */
const fullEvents = 32
const fullBytes = 256 * 1024
/**
 * Most frames that may still arrive then: a socket delivers the frames that it has read already. More tiny frames than
 * this are an attack.
 */
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
  /** Close code of the other side; 1006 for a broken connection. */
  closeCode = 0
  /** Called once, after the last frame. */
  onClose: (() => void) | undefined

  /**
   * @param gone the error for messages that can no longer be sent
   * @param closeMs how long the other side has for its half of the closing handshake
   */
  constructor(socket: WebSocket, { gone, closeMs }: { gone: () => Error; closeMs: number }) {
    this.#socket = socket
    this.#gone = gone
    this.#closeMs = closeMs
    socket.on('message', (data, isBinary) => this.#arrived(data, isBinary))
    // The close that follows an error tells its meaning.
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

  /** False where reading is paused, so that an answer may be unread. */
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

  /** The next frame; undefined when the other side has closed and all frames were taken. */
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

  /** Resolves when the socket has accepted the text. */
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

  /** Closes with the handshake, or without it where the other side does not answer. */
  close(code: number, reason = ''): void {
    if (this.#isClosed) return
    // A paused socket would not see the other side close.
    this.#socket.resume()
    this.#socket.close(code, reason)
    setTimeout(() => this.#socket.terminate(), this.#closeMs).unref()
  }
}
