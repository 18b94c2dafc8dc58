/**
 * The pool of child processes that read files, with its bounded queue. The next file is one of the key that has used the
 * least time of the readers lately: a key that sends slow files delays others by the one under way, not by each of them.
 */
import { Fault } from '../base/errors.js'
import { FairQueue } from '../base/fair-queue.js'
import { Child, type ChildBounds } from './child.js'
import type { Reading } from './file.js'
import type { Start } from './isolation.js'
import { ReaderTime } from './reader-time.js'
import type { RequestHead } from './wire.js'

export interface PoolSettings extends ChildBounds {
  /** Children, each of which reads one file at a time. */
  processes: number
  /** Files that may wait for one. */
  queue: number
}

export interface Job {
  /** Name of the waiting caller: a lineage of keys. */
  whose: string
  head: RequestHead
  parts: readonly Buffer[]
  /** Whether nobody waits for it any more. */
  isGone(): boolean
}

interface Waiting {
  job: Job
  late: NodeJS.Timeout
  resolve(reading: Reading): void
  reject(error: unknown): void
}

/** Files after which a child is replaced, which frees leaks of its parsers. */
const filesOfChild = 200
/** Longest wait of a file, in multiples of one file's time limit. */
const longestWait = 3
const retryAfter = { 'retry-after': '2' }
/** Pause after a failed start, ms. */
const backOffMs = 1_000

export class Pool {
  readonly #start: Start
  readonly #settings: PoolSettings
  readonly #queue = new FairQueue<Waiting>()
  readonly #time = new ReaderTime()
  readonly #usedBy = (whose: string) => this.#time.usedBy(whose)
  readonly #children = new Set<Child>()
  readonly #idle: Child[] = []
  #starting = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(start: Start, settings: PoolSettings) {
    this.#start = start
    this.#settings = settings
  }

  /** Resolves when the first child can read; rejects where it does not start. */
  async open(): Promise<void> {
    for (let i = 1; i < this.#settings.processes; i++) void this.#add().catch(() => undefined)
    await this.#add()
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** @throws Fault `overloaded` where too many wait, `evaluator_unavailable` where no child starts */
  read(job: Job): Promise<Reading> {
    const { queue, deadlineMs } = this.#settings
    return new Promise((resolve, reject) => {
      if (this.#isClosed || (this.#queue.isFullFor(job.whose, queue) && this.#idle.length === 0)) {
        reject(new Fault('overloaded', { headers: retryAfter }))
        return
      }
      const waiting: Waiting = {
        job,
        resolve,
        reject,
        late: setTimeout(() => {
          if (this.#queue.remove(job.whose, waiting)) reject(new Fault('overloaded', { headers: retryAfter }))
        }, deadlineMs * longestWait)
      }
      this.#queue.push(job.whose, waiting)
      this.#turn()
    })
  }

  #turn(): void {
    while (this.#queue.length > 0) {
      const child = this.#idle.pop()
      if (child === undefined) {
        this.#replace()
        return
      }
      if (child.isEnded) {
        this.#children.delete(child)
        continue
      }
      const next = this.#queue.shiftLeast(this.#usedBy)!
      clearTimeout(next.late)
      if (next.job.isGone()) {
        this.#idle.push(child)
        next.resolve({ whole: false, reason: 'reader_failed' })
        continue
      }
      void this.#run(child, next)
    }
  }

  async #run(child: Child, { job, resolve }: Waiting): Promise<void> {
    const end = this.#time.begin(job.whose)
    const reading = await child.read(job.head, job.parts)
    end()
    resolve(reading)
    if (child.count >= filesOfChild) child.kill('reader_failed')
    if (child.isEnded) {
      this.#children.delete(child)
      this.#replace()
    } else this.#idle.push(child)
    this.#turn()
  }

  /** Starts as many as there should be. */
  #replace(): void {
    if (this.#isClosed || this.#children.size + this.#starting >= this.#settings.processes) return
    const wait = this.#failedAt + backOffMs - performance.now()
    if (wait > 0) {
      this.#refuseAll()
      return
    }
    void this.#add().catch(() => this.#refuseAll())
  }

  /** Refuses all waiting files, since no child will come. */
  #refuseAll(): void {
    if (this.#children.size > 0) return
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      clearTimeout(next.late)
      next.reject(
        new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, internal: 'no process reads files' })
      )
    }
  }

  async #add(): Promise<void> {
    this.#starting++
    const child = new Child(this.#start, this.#settings)
    this.#children.add(child)
    this.#starting--
    try {
      await child.ready
    } catch (error) {
      this.#children.delete(child)
      this.#failedAt = performance.now()
      throw error
    }
    if (this.#isClosed) child.kill('reader_failed')
    else {
      this.#idle.push(child)
      this.#turn()
    }
  }

  close(): void {
    this.#isClosed = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      clearTimeout(next.late)
      next.reject(new Fault('overloaded', { headers: retryAfter }))
    }
    for (const child of this.#children) child.kill('reader_failed')
    this.#children.clear()
  }
}
