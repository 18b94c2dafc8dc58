/**
 * The threads of the encoder and their queue. Tasks are small (a window, some thousand characters), and callers take
 * turns, so that no long text delays another caller's short one. A thread that ends is replaced.
 */
import { Worker } from 'node:worker_threads'
import { FairQueue } from '../base/fair-queue.js'
import { threadFile } from '../base/thread.js'
import { EncoderError } from './index.js'
import { EncoderFileError } from './manifest.js'
import type { Greeting, Outcome, Task, ThreadData } from './worker.js'

export interface ThreadsOptions extends ThreadData {
  threads: number
  /** Tasks that may wait. */
  queue: number
  /** Called for each thread that crashed. */
  crashed(error: unknown): void
}

/** The library does not run on this platform. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError'
}

interface Waiting {
  task: Task
  whose: string
  resolve(outcome: Outcome): void
  reject(error: EncoderError): void
  /** Removes its abort listener. */
  settled(): void
}

interface Thread {
  worker: Worker
  /** Its current task. */
  on: Waiting | undefined
  /** Told when it has answered, or has ended, where somebody waits for that. */
  rested: (() => void) | undefined
}

/** Growing delay before replacing a thread that ends without having served, ms. */
const backOffMs = { first: 100, most: 5_000 }
/** Limit of the heap only: the weights are outside of it. */
const heapMb = 96

/** Runs tasks, in threads of this process or of a shared one (`shared-threads.ts`). */
export interface TaskRunner {
  /** Tasks without a thread or without an answer yet. */
  readonly waiting: number
  /** @param whose takes turns with others @throws EncoderError */
  run(task: Task, whose: string, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

export class Threads implements TaskRunner {
  readonly #options: ThreadsOptions
  readonly #threads = new Set<Thread>()
  readonly #queue = new FairQueue<Waiting>()
  readonly #replacing = new Set<NodeJS.Timeout>()
  #backOff = backOffMs.first
  #isClosed = false
  #closing: Promise<void> | undefined

  private constructor(options: ThreadsOptions) {
    this.#options = options
  }

  /** Resolves when every thread has read a window. @throws EncoderFileError, RuntimeError */
  static async open(options: ThreadsOptions): Promise<Threads> {
    const threads = new Threads(options)
    try {
      await Promise.all(Array.from({ length: options.threads }, () => threads.#start()))
    } catch (error) {
      await threads.close()
      throw error
    }
    return threads
  }

  /** Tasks that no thread has taken yet. */
  get waiting(): number {
    return this.#queue.length
  }

  /** @throws EncoderError */
  run(task: Task, whose: string, signal: AbortSignal): Promise<Outcome> {
    if (this.#isClosed) return Promise.reject(new EncoderError('closed'))
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#queue.isOverShare(whose, this.#options.queue)) return Promise.reject(new EncoderError('queue_full'))
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#queue.remove(whose, waiting)
        reject(signal.reason)
      }
      const settled = () => signal.removeEventListener('abort', cancel)
      const waiting: Waiting = { task, whose, resolve, reject, settled }
      signal.addEventListener('abort', cancel, { once: true })
      this.#queue.push(whose, waiting)
      this.#next()
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#replacing) clearTimeout(timer)
    this.#rejectAll(new EncoderError('closed'))
    await Promise.all([...this.#threads].map((thread) => this.#end(thread)))
  }

  /** Waits for the window that it reads, some ms: see `base/thread.ts`. */
  async #end(thread: Thread): Promise<void> {
    if (thread.on !== undefined) {
      thread.on.settled()
      thread.on.reject(new EncoderError('closed'))
      await new Promise<void>((resolve) => {
        thread.rested = resolve
      })
    }
    await thread.worker.terminate()
  }

  #next(): void {
    for (const thread of this.#threads) {
      if (thread.on !== undefined) continue
      const waiting = this.#queue.shift()
      if (waiting === undefined) return
      thread.on = waiting
      const { task } = waiting
      thread.worker.postMessage(task, 'ids' in task ? [task.ids.buffer as ArrayBuffer] : [])
    }
  }

  /** Resolves when it serves. */
  #start(): Promise<void> {
    const { model, tokenizer, lanes, names } = this.#options
    const workerData: ThreadData = { model, tokenizer, lanes, names }
    const worker = new Worker(threadFile(import.meta.url, 'worker'), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 4 }
    })
    const thread: Thread = { worker, on: undefined, rested: undefined }
    let serves = false
    let cause: unknown
    return new Promise((resolve, reject) => {
      worker.on('message', (said: Greeting | Outcome) => {
        if (serves) return this.#done(thread, said as Outcome)
        const greeting = said as Greeting
        if ('ready' in greeting) {
          serves = true
          if (this.#isClosed) {
            reject(new EncoderError('closed'))
            void worker.terminate()
            return
          }
          this.#threads.add(thread)
          resolve()
          this.#next()
        } else {
          reject('file' in greeting ? new EncoderFileError(greeting.file) : new RuntimeError(greeting.runtime))
          void worker.terminate()
        }
      })
      worker.on('error', (error) => {
        cause = error
      })
      worker.on('exit', (code) => {
        this.#threads.delete(thread)
        thread.rested?.()
        reject(new RuntimeError(cause instanceof Error ? cause.message : `the thread ended with code ${code}`))
        if (!serves || this.#isClosed) return
        thread.on?.settled()
        thread.on?.reject(new EncoderError('crashed', cause))
        this.#options.crashed(cause)
        this.#replace()
      })
    })
  }

  #done(thread: Thread, outcome: Outcome): void {
    if (thread.rested !== undefined) {
      thread.rested()
      return
    }
    thread.on?.settled()
    thread.on?.resolve(outcome)
    thread.on = undefined
    this.#backOff = backOffMs.first
    this.#next()
  }

  #replace(): void {
    const timer = setTimeout(() => {
      this.#replacing.delete(timer)
      this.#start().catch((error: unknown) => {
        if (this.#isClosed) return
        // Without any thread the waiting tasks would only end by their deadline, if they have one.
        if (this.#threads.size === 0) this.#rejectAll(new EncoderError('crashed', error))
        this.#options.crashed(error)
        this.#replace()
      })
    }, this.#backOff)
    this.#replacing.add(timer)
    this.#backOff = Math.min(backOffMs.most, this.#backOff * 2)
  }

  #rejectAll(error: EncoderError): void {
    for (let waiting = this.#queue.shift(); waiting !== undefined; waiting = this.#queue.shift()) {
      waiting.settled()
      waiting.reject(error)
    }
  }
}
