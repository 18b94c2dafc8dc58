/**
 * A worker's client for the threads of another process (`host-process.ts`). A broken connection fails all questions
 * under way, and new ones until it is back, so that no verdict is given without the encoder. It reconnects at once.
 */
import { connect, type Socket } from 'node:net'
import { receive, send } from './frames.js'
import { EncoderError, type EncoderFailure } from './index.js'
import { EncoderFileError } from './manifest.js'
import { RuntimeError, type TaskRunner, type ThreadsOptions } from './threads.js'
import type { Outcome, Task, ThreadData } from './worker.js'

export type HostOptions = ThreadData & Pick<ThreadsOptions, 'threads' | 'queue'>
export type ToHost = { open: HostOptions } | { run: number; whose: string; task: Task } | { cancel: number }
export type FromHost =
  | { opened: true }
  | { failed: { name: string; message: string } }
  | { done: number; outcome: Outcome }
  | { done: number; failure: EncoderFailure }

/** Where the process listens; resolves when it does. */
export type HostAddress = () => Promise<string>

interface Waiting {
  resolve(outcome: Outcome): void
  reject(error: EncoderError): void
}

const backOffMs = { first: 50, most: 2_000 }

export class SharedThreads implements TaskRunner {
  readonly #options: HostOptions
  readonly #address: HostAddress
  readonly #waiting = new Map<number, Waiting>()
  #socket: Socket | undefined
  #retrying: NodeJS.Timeout | undefined
  #backOff = backOffMs.first
  #asked = 0
  #isClosed = false

  private constructor(options: HostOptions, address: HostAddress) {
    this.#options = options
    this.#address = address
  }

  /** Resolves when every thread has read a window. @throws EncoderFileError, RuntimeError */
  static async open(options: HostOptions, address: HostAddress): Promise<SharedThreads> {
    const threads = new SharedThreads(options, address)
    await threads.#connect()
    return threads
  }

  /** Unanswered questions of this process. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** @throws EncoderError */
  run(task: Task, whose: string, signal: AbortSignal): Promise<Outcome> {
    if (this.#isClosed) return Promise.reject(new EncoderError('closed'))
    if (signal.aborted) return Promise.reject(signal.reason)
    const socket = this.#socket
    if (socket === undefined) return Promise.reject(new EncoderError('crashed'))
    const id = ++this.#asked
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#waiting.delete(id)
        if (socket.writable) send(socket, { cancel: id } satisfies ToHost)
        reject(signal.reason)
      }
      const settled = () => signal.removeEventListener('abort', cancel)
      signal.addEventListener('abort', cancel, { once: true })
      this.#waiting.set(id, {
        resolve(outcome) {
          settled()
          resolve(outcome)
        },
        reject(error) {
          settled()
          reject(error)
        }
      })
      send(socket, { run: id, whose, task } satisfies ToHost)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retrying)
    this.#socket?.destroy()
    this.#rejectAll(new EncoderError('closed'))
  }

  async #connect(): Promise<void> {
    const socket = connect(await this.#address())
    await new Promise<void>((resolve, reject) => {
      receive(socket, (message) => {
        const said = message as FromHost
        if ('done' in said) return this.#done(said)
        if ('failed' in said) return reject(errorOf(said.failed))
        this.#socket = socket
        this.#backOff = backOffMs.first
        resolve()
      })
      socket.on('connect', () => send(socket, { open: this.#options } satisfies ToHost))
      socket.on('error', () => undefined)
      socket.on('close', () => {
        reject(new Error('the process of the encoder is gone'))
        if (this.#socket !== socket) return
        this.#socket = undefined
        this.#rejectAll(new EncoderError('crashed'))
        this.#again()
      })
    })
    // Closed while it was being opened.
    if (this.#isClosed) socket.destroy()
  }

  #again(): void {
    if (this.#isClosed) return
    this.#retrying = setTimeout(() => this.#connect().catch(() => this.#again()), this.#backOff)
    this.#backOff = Math.min(backOffMs.most, this.#backOff * 2)
  }

  #done(said: Extract<FromHost, { done: number }>): void {
    const waiting = this.#waiting.get(said.done)
    this.#waiting.delete(said.done)
    if ('outcome' in said) waiting?.resolve(own(said.outcome))
    else waiting?.reject(new EncoderError(said.failure))
  }

  #rejectAll(error: EncoderError): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

/** Copied: a cached outcome must not keep its whole message in memory. */
function own(outcome: Outcome): Outcome {
  if (!('logits' in outcome)) return outcome
  const { logits, tags, ms } = outcome
  return { logits: Float32Array.from(logits), tags: tags && Float32Array.from(tags), ms }
}

function errorOf({ name, message }: { name: string; message: string }): Error {
  if (name === 'EncoderFileError') return new EncoderFileError(message)
  return name === 'RuntimeError' ? new RuntimeError(message) : new Error(message)
}
