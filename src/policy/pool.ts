/** Judges long texts in worker threads, so that the event loop is never held. Started on the first long text. */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import type { JudgeInput, Verdict } from './judge.js'

/** What a worker is given: `key` names one version of a constitution's text, which the worker compiles once. */
export interface WorkerTask {
  key: string
  source: string
  input: JudgeInput
}

export interface JudgePool {
  /** @throws on time-out, crash, or where too many texts are waiting already */
  judge(task: WorkerTask): Promise<Verdict>
  close(): Promise<void>
}

export interface PoolOptions {
  /** From the call to the verdict, waiting included; the start of the first thread excepted. */
  deadlineMs: number
  maxThreads: number
}

/** Texts that may wait for a thread; more would outlive their deadline. */
const maxQueue = 64
/** A thread unused for so long ends, and its memory is given back. */
const idleTimeoutMs = 300_000
/** For the first thread to load its modules; it counts against no text's deadline. */
const startMs = 30_000

export function createPool({ deadlineMs, maxThreads }: PoolOptions): JudgePool {
  let starting: Promise<Piscina> | undefined

  async function start(): Promise<Piscina> {
    const { Piscina } = await import('piscina')
    // Beside this very file, compiled or not: `.js` in the package, `.ts` where tests load the sources.
    const file = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url))
    const pool: Piscina = new Piscina({
      filename: file,
      minThreads: 0,
      maxThreads,
      maxQueue,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }
    })
    try {
      await within(startMs, (signal) => pool.run(undefined, { signal }))
    } catch (error) {
      await pool.destroy()
      throw error
    }
    return pool
  }

  return {
    async judge(task) {
      starting ??= start().catch((error: unknown) => {
        starting = undefined
        throw error
      })
      const pool = await starting
      return within(deadlineMs, (signal) => pool.run(task, { signal }))
    },
    async close() {
      const pool = await starting?.catch(() => undefined)
      await pool?.destroy()
    }
  }
}

/** Aborting a task ends the thread that works on it. */
async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), ms)
  try {
    return await work(abort.signal)
  } finally {
    clearTimeout(timer)
  }
}
