/** Opens the encoder of a configuration, and keeps it over reloads that change nothing of it. */
import type { Clock } from '../base/clock.js'
import type { EncoderSettings } from '../base/settings.js'
import { timeFor } from './call-queue.js'
import type { Encoder, EncoderReport } from './index.js'
import { readEncoderFiles } from './manifest.js'
import { Reader } from './reader.js'
import { type HostAddress, SharedThreads } from './shared-threads.js'
import { RuntimeError, type TaskRunner, Threads } from './threads.js'
import { mostWindows, windowOf, windowPieces } from './windows.js'

export interface EncoderDeps {
  clock: Clock
  report: EncoderReport
  /** Called for each thread that crashed. */
  crashed(error: unknown): void
  /** Called where this machine cannot read a request of the most windows in its time, though nothing else goes on. */
  slow?(facts: SlowFacts): void
  /** The process whose threads all workers share. Default: threads of this process. */
  host?: HostAddress | undefined
}

export interface SlowFacts {
  /** What a window took. */
  windowMs: number
  /** The most windows of a request, and the time that it has for them. */
  windows: number
  allowedMs: number
}

export interface OpenEncoder {
  /** Undefined: the first reader decides alone. */
  readonly encoder: Encoder | undefined
  /** Why a wanted encoder is missing. */
  readonly weakening: string | undefined
  /** Tasks that wait for a thread. */
  waiting(): number
  close(): Promise<void>
}

const none: OpenEncoder = { encoder: undefined, weakening: undefined, waiting: () => 0, close: async () => {} }

/**
 * Resolves when every thread has read a window.
 * @throws EncoderFileError where a file is missing or damaged; RuntimeError where the library does not run here
 * although `required`
 */
export async function openEncoder(settings: EncoderSettings, deps: EncoderDeps): Promise<OpenEncoder> {
  const { use, folder, threads: count, queue, deadlineMs } = settings
  if (use === 'off') return none
  const files = await readEncoderFiles(folder)
  const lanes = files.manifest.lanes.length
  const { model, tokenizer, names: file } = files
  const names = file === undefined ? undefined : { file, tags: files.manifest.names!.tags.length }
  try {
    const options = { model, tokenizer, lanes, names, threads: count, queue }
    const { host, crashed } = deps
    const threads =
      host === undefined ? await Threads.open({ ...options, crashed }) : await SharedThreads.open(options, host)
    const windowMs = await measure(threads)
    const allowedMs = timeFor(mostWindows, deadlineMs)
    if (windowMs * mostWindows > allowedMs) deps.slow?.({ windowMs, windows: mostWindows, allowedMs })
    const encoder = new Reader({
      files,
      threads,
      atOnce: count + 1,
      clock: deps.clock,
      deadlineMs,
      report: deps.report
    })
    return { encoder, weakening: undefined, waiting: () => threads.waiting, close: () => encoder.close() }
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error
    if (use === 'required')
      throw new RuntimeError(`encoder: required, and onnxruntime-node does not run here (${error.message})`)
    return { ...none, weakening: `encoder: onnxruntime-node does not run here (the first reader decides alone)` }
  }
}

/** @returns the least time of a full window in some, ms; 0 where none was read, of which `crashed` is told */
async function measure(threads: TaskRunner): Promise<number> {
  const { signal } = new AbortController()
  const times: number[] = []
  for (let i = 0; i < 2; i++) {
    // The pieces do not matter for the time.
    const { ids } = windowOf(new Int32Array(windowPieces), 'user')
    const outcome = await threads.run({ ids }, '', signal).catch(() => undefined)
    if (outcome !== undefined && 'ms' in outcome) times.push(outcome.ms)
  }
  return times.length === 0 ? 0 : Math.min(...times)
}

/** A report that ignores all counts. */
export const noReport: EncoderReport = { windows() {}, window() {}, reading() {}, failure() {} }
