/** Judges long texts in worker threads, so that they never block the event loop. Started on the first long text. */
import { LRUCache } from 'lru-cache'
import type { Piscina } from 'piscina'
import { Places } from '../../base/places.js'
import { threadFile } from '../../base/thread.js'
import type { Constitution } from '../constitution/parse.js'
import { type PackedInput, type PackedVerdict, pack, placed, type Told } from './packed.js'
import type { JudgeInput, Verdict } from './verdict.js'

/**
 * A task of a thread. `key` names one version of a constitution, which the thread compiles once. The constitution is
 * sent only after the thread has answered that it does not know the key.
 */
export interface WorkerTask {
  key: string
  constitution: Constitution | undefined
  /** Undefined: the task only compiles. */
  input: PackedInput | undefined
}

/** The thread's answer that asks for the constitution. */
export const unknownPolicy = 'unknown policy'

export interface JudgeCall {
  /** Name of the caller: waiting callers take turns. */
  whose?: string
  key: string
  constitution: Constitution
  input: JudgeInput
  /** Receives further results of the thread. */
  hear?: (told: Told) => void
}

export interface JudgePool {
  /** @throws on time-out, crash, or where too many texts are waiting already */
  judge(call: JudgeCall): Promise<Verdict>
  /** Whether a thread knows the policy. If none does, one begins to learn it. */
  isReady(call: Pick<JudgeCall, 'key' | 'constitution'>): boolean
  close(): Promise<void>
}

export interface PoolOptions {
  /**
   * From the start in a thread to the verdict, without the wait for a thread. A thread stops by itself then, and is ended
   * where it has not after half as long again: to start one takes the time of many verdicts.
   */
  deadlineMs: number
  /** Longest wait for a thread. Default: five deadlines. */
  longestWaitMs?: number
  maxThreads: number
  /** Threads that one caller's texts may have at once: with fewer than `maxThreads` none holds up all others. Default: all. */
  mostEach?: number
}

/** Texts that may wait for a thread. */
const mostWaiting = 256
/** Versions that are known to be in a thread; a forgotten one is offered again. */
const maxKnown = 32
/** A thread that is idle for this long ends, which frees its memory. */
const idleTimeoutMs = 300_000
/** Time for a thread to load its modules or compile a policy; it does not count against a text's deadline. */
const startMs = 30_000

export function createPool({
  deadlineMs,
  longestWaitMs = 5 * deadlineMs,
  maxThreads,
  mostEach = maxThreads
}: PoolOptions): JudgePool {
  const endedAfterMs = 1.5 * deadlineMs
  let starting: Promise<Piscina> | undefined
  let started: Piscina | undefined
  const places = new Places({
    most: maxThreads,
    mostEach,
    waitMs: longestWaitMs,
    isFull: (waiting, whose) => waiting.isOverShare(whose, mostWaiting),
    refusal: (why) =>
      new TimeoutError(why === 'full' ? 'too many texts wait for a thread' : 'no thread was free in time')
  })

  async function start(): Promise<Piscina> {
    const { Piscina } = await import('piscina')
    const pool: Piscina = new Piscina({
      filename: threadFile(import.meta.url, 'worker'),
      minThreads: 0,
      maxThreads,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }
    })
    try {
      await ping(pool)
    } catch (error) {
      await pool.destroy()
      throw error
    }
    return pool
  }

  /** Resolves when a started thread is free. */
  async function ping(pool: Piscina): Promise<void> {
    await within(startMs, (signal) => pool.run(undefined, { signal }))
  }

  /** Makes one thread compile the policy, once for all waiting texts; other threads request it when they need it. */
  const known = new Set<string>()
  const compiling = new LRUCache<string, Promise<unknown>>({ max: maxKnown, dispose: (_, key) => known.delete(key) })
  function compiled(pool: Piscina, key: string, constitution: Constitution): Promise<unknown> {
    let done = compiling.get(key)
    if (done === undefined) {
      const task: WorkerTask = { key, constitution, input: undefined }
      done = within(startMs, (signal) => pool.run(task, { signal })).then(
        () => known.add(key),
        (error: unknown) => {
          compiling.delete(key)
          throw error
        }
      )
      compiling.set(key, done)
    }
    return done
  }

  /** Set while a policy is compiled that no text waits for. */
  let isPreparing = false
  let isClosed = false
  async function prepare(key: string, constitution: Constitution): Promise<void> {
    isPreparing = true
    try {
      const pool = await opened()
      if (pool.threads.length === 0) await ping(pool)
      await compiled(pool, key, constitution)
    } catch {
      // The texts are judged on the event loop as before.
    } finally {
      isPreparing = false
    }
  }

  async function opened(): Promise<Piscina> {
    starting ??= start().catch((error: unknown) => {
      starting = undefined
      throw error
    })
    started = await starting
    return started
  }

  /**
   * While a caller's texts wait for each other, one more thread starts and compiles the policy: the next caller would
   * otherwise wait for that.
   */
  let isStartingSpare = false
  async function startSpare({ key, constitution }: JudgeCall): Promise<void> {
    const pool = await starting
    if (pool === undefined || isStartingSpare || pool.threads.length >= maxThreads) return
    isStartingSpare = true
    const task: WorkerTask = { key, constitution, input: undefined }
    await within(startMs, (signal) => pool.run(task, { signal })).catch(() => undefined)
    isStartingSpare = false
  }

  async function judgeInThread({ key, constitution, input: given }: JudgeCall): Promise<PackedVerdict> {
    const input = { ...pack(given), ms: deadlineMs }
    const pool = await opened()
    // This place has no thread yet, or its thread ended after a time-out or when idle. The start of a thread does not
    // count against a text's deadline.
    if (pool.threads.length < places.taken) await ping(pool)
    await compiled(pool, key, constitution)
    const task: WorkerTask = { key, constitution: undefined, input }
    const verdict = await within(endedAfterMs, (signal) => pool.run(task, { signal }))
    if (verdict !== unknownPolicy) return verdict as PackedVerdict
    // A newly started thread compiles first, so that the text's own deadline still holds.
    const compile: WorkerTask = { key, constitution, input: undefined }
    await within(startMs, (signal) => pool.run(compile, { signal }))
    const again = await within(endedAfterMs, (signal) => pool.run(task, { signal }))
    if (again !== unknownPolicy) return again as PackedVerdict
    // Other texts now occupy the thread that knows the policy.
    return within(startMs, (signal) => pool.run({ ...task, constitution }, { signal }))
  }

  return {
    async judge(call) {
      const place = places.take(call.whose ?? '')
      if (place instanceof Promise) void startSpare(call)
      const letGo = await place
      try {
        const verdict = await judgeInThread(call)
        if (verdict.isLate === true) throw new TimeoutError('the text was not judged in time')
        if (verdict.told !== undefined) call.hear?.(verdict.told)
        return placed(verdict, call.input.parts)
      } finally {
        letGo()
      }
    },
    isReady({ key, constitution }) {
      if (started !== undefined && started.threads.length > 0 && known.has(key)) return true
      if (!isPreparing && !isClosed) void prepare(key, constitution)
      return false
    },
    async close() {
      isClosed = true
      const pool = await starting?.catch(() => undefined)
      await pool?.destroy()
    }
  }
}

/** Counts as a time-out, like an aborted judging: overload, not a defect. */
class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** Aborting a task ends its thread. */
async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), ms)
  try {
    return await work(abort.signal)
  } finally {
    clearTimeout(timer)
  }
}
