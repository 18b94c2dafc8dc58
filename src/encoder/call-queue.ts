/**
 * Calls of the encoder: each waits for its turn among those of its caller, and has its deadline from then on. A caller that
 * sends ten long texts at once gets ten verdicts, one after the other, where all at once would be late together.
 */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../base/clock.js'
import { type Cancelling, Places } from '../base/places.js'
import { EncoderError, type EncoderFailure, type EncoderReport, type NamesQuestion } from './index.js'
import type { TaskRunner } from './threads.js'
import type { Outcome, Task } from './worker.js'

export interface CallQueueOptions {
  threads: TaskRunner
  /** Calls of one caller whose tasks may wait for a thread at once. */
  atOnce: number
  clock: Pick<Clock, 'monotonic'>
  /** For each `windowsOfDeadline` windows of a call, and at least once, from its turn on; infinite: none. */
  deadlineMs: number
  report: Pick<EncoderReport, 'failure' | 'reading'>
}

/** A call under way. */
export interface EncoderCall {
  /** The first task of a call waits for its turn. @throws EncoderError */
  run(task: Task, whose: string): Promise<Outcome>
  /** Says that so many more windows will be read: a long request gets more time than a short one. */
  expect(windows: number): void
}

/**
 * Windows for which the deadline is given. In proportion, since a request of many needs that much longer on any
 * processor: one that fits a short request would refuse every long one where a window takes longer.
 */
export const windowsOfDeadline = 16
/** Further windows give no more time, so that no request goes on for long. Names are looked for in as many full ones. */
const mostCounted = 256

/** The time that a call of so many windows has. */
export function timeFor(windows: number, deadlineMs: number): number {
  return deadlineMs * Math.max(1, Math.min(windows, mostCounted) / windowsOfDeadline)
}

/** Of Node, ms: a longer one fires at once. */
const longestTimer = 2 ** 31 - 1
/** Longest wait for a turn, in deadlines. */
const longestWait = 5
/** Calls that may wait. */
const mostWaiting = 256

export class CallQueue {
  readonly #options: CallQueueOptions
  readonly #places: Places

  constructor(options: CallQueueOptions) {
    this.#options = options
    const waitMs = longestWait * options.deadlineMs
    this.#places = new Places({
      // The threads' own queue lets callers take turns: here only a caller's calls wait for each other.
      most: Number.POSITIVE_INFINITY,
      mostEach: options.atOnce,
      ...(Number.isFinite(waitMs) && { waitMs }),
      isFull: (waiting, whose) => waiting.isOverShare(whose, mostWaiting),
      refusal: (why) => new EncoderError(why === 'full' ? 'queue_full' : 'deadline')
    })
  }

  /** Runs work until the deadline, or until the caller leaves. @throws EncoderError */
  async run<T>(questions: readonly NamesQuestion[], work: (call: EncoderCall) => Promise<T>): Promise<T> {
    const { threads, clock, deadlineMs, report } = this.#options
    const started = clock.monotonic()
    const abort = new AbortController()
    const { signal } = abort
    // Every window of the call listens.
    setMaxListeners(0, signal)
    const give = (failure: EncoderFailure) => () => abort.abort(new EncoderError(failure))
    const leave = give('cancelled')
    const callers = new Set(questions.flatMap(({ cancel }) => (cancel === undefined ? [] : [cancel])))
    for (const caller of callers) {
      if (caller.aborted) leave()
      caller.addEventListener('abort', leave)
    }
    let timer: NodeJS.Timeout | undefined
    let letGo: (() => void) | undefined
    let turn: Promise<void> | undefined
    let turnAt: number | undefined
    let windows = 0
    const limit = () => {
      if (turnAt === undefined || !Number.isFinite(deadlineMs) || signal.aborted) return
      clearTimeout(timer)
      timer = setTimeout(
        give('deadline'),
        Math.min(turnAt + timeFor(windows, deadlineMs) - clock.monotonic(), longestTimer)
      )
    }
    const begin = async (whose: string) => {
      letGo = await this.#places.take(whose, cancelling(signal))
      turnAt = clock.monotonic()
      limit()
    }
    const call: EncoderCall = {
      async run(task, whose) {
        turn ??= begin(whose)
        await turn
        return threads.run(task, whose, signal)
      },
      expect(more) {
        windows += more
        limit()
      }
    }
    try {
      return await work(call)
    } catch (error) {
      const fault = error instanceof EncoderError ? error : new EncoderError('crashed', error)
      // Waiting tasks of this call leave the queue, and one that waits for its turn leaves that: no place is taken from now on.
      abort.abort(fault)
      report.failure(fault.failure)
      throw fault
    } finally {
      clearTimeout(timer)
      letGo?.()
      for (const caller of callers) caller.removeEventListener('abort', leave)
      report.reading((clock.monotonic() - started) / 1000)
    }
  }
}

function cancelling(signal: AbortSignal): Cancelling {
  return {
    get reason(): unknown {
      return signal.aborted ? signal.reason : undefined
    },
    onCancel(callback: (reason: unknown) => void): () => void {
      const tell = () => callback(signal.reason)
      signal.addEventListener('abort', tell, { once: true })
      return () => signal.removeEventListener('abort', tell)
    }
  }
}
