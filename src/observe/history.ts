/**
 * The history of metrics, for charts without a Prometheus: increments of the counters, sampled every ten seconds, in
 * steps of ten seconds for six hours, of a minute for eight days (so that a day can be compared with that of the week
 * before), and of ten minutes for fifteen days. It samples existing counters, so requests pay nothing. Each process
 * writes its samples to the storage, so that history survives a restart, any process can answer for all, and downtime
 * is visible. Read data is cached in bounded memory (7 MB when full), and only changes are read again.
 */

import type { Clock } from '../base/clock.js'
import type { MetricsRow, MetricsStore } from '../storage/contracts/processes.js'
import { type Counted, createLayout, type Stretch } from './layout.js'
import { type Rounds, tellRound } from './outages.js'
import { Ring } from './ring.js'

const sampleMs = 10_000
const fine = { stepMs: sampleMs, slots: 2160 }
/** Eight days, and room for the steps at both ends. */
const coarse = { stepMs: 60_000, slots: 8 * 1440 + 30 }
const long = { stepMs: 600_000, slots: 15 * 144 }
const lengths = [fine, coarse, long]
/** The longest window that may be asked for, ms: of all but the newest days there are longer steps alone. */
export const longestWindowMs = 7 * 86_400_000
/** Overlap of repeated reads, ms: clocks of nodes differ by less. */
const slackMs = 60_000
const rowsPerRead = 100
const pruneMs = 3_600_000
/** Most rows that wait while the storage fails: more than an hour. */
const maxWaiting = 500

/** One time step of a window. */
export interface Point extends Stretch {
  at: number
  /** How many processes counted in it; 0: none ran, so nothing is known of it. */
  processes: number
}

/** A window, whole and step by step. */
export interface Course {
  total: Stretch
  points: Point[]
}

export interface History {
  /** Samples the counters; a timer also calls it, and writes the sample. */
  sample(): void
  /**
   * Counts of all processes.
   * @param window ms; `step` is a multiple of the stored steps
   * @throws Fault `storage_unavailable`
   */
  read(window: { from: number; to: number; step: number }): Promise<Course>
  /**
   * Only totals, of windows up to fifteen days back, in whole steps of ten minutes, which needs little reading.
   * @throws Fault `storage_unavailable`
   */
  totals(windows: readonly { from: number; to: number }[]): Promise<Stretch[]>
  /** The stored step for a window of this length until now, ms. */
  stepOf(windowMs: number): number
  /** Wall time of the last failed request to each upstream, ms; of what `read` has seen. */
  readonly lastFailures: ReadonlyMap<string, number>
  /** Writes the last samples; those that the storage refuses are lost. */
  close(): Promise<void>
}

export interface HistoryOptions {
  metrics: Counted
  clock: Clock
  store: MetricsStore
  /** See `ProcessRow`. */
  process: string
  /** Told the error of each write, or undefined where it succeeded; a sample that failed is kept. */
  rounds: Rounds
}

/** Counts of this process in one step, and whether they are stored. */
interface Own {
  stepMs: number
  at: number
  counts: Uint32Array
  isWritten: boolean
}

export function createHistory({ metrics, clock, store, process, rounds }: HistoryOptions): History {
  const layout = createLayout(metrics)
  const { width } = layout
  const rings = [new Ring({ ...fine, width }), new Ring({ ...coarse, width }), new Ring({ ...long, width })] as const
  const lastFailures = new Map<string, number>()
  const own = new Map<string, Own>()
  let before: Uint32Array = new Uint32Array(width)
  let sampledAt = clock.now()
  /** The middle of the last stretch. */
  let middle = sampledAt
  /** When each ring was last brought up to date. */
  const readAt = new Map<Ring, number>()
  let prunedAt = sampledAt
  let turn: Promise<unknown> = Promise.resolve()

  /** Serialised, so that one call does not clear data that another reads. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => {})
    return mine
  }

  function ownStep(stepMs: number): Own {
    const at = Math.floor(middle / stepMs) * stepMs
    const key = `${stepMs} ${at}`
    let step = own.get(key)
    if (step === undefined) {
      step = { stepMs, at, counts: new Uint32Array(width), isWritten: false }
      own.set(key, step)
      if (own.size > maxWaiting) own.delete(own.keys().next().value!)
    }
    return step
  }

  function sample(): void {
    const now = clock.now()
    const counts = layout.now()
    const grown = counts.map((count, i) => count - before[i]!)
    // The middle of the stretch: a timer that is a little late must not move its counts into the next step. A clock
    // that was set back must not overwrite a finished step.
    middle = Math.max(middle, (sampledAt + now) / 2)
    const isIdle = grown.every((count) => count === 0)
    // Idle minutes are written too, since they show that the process ran.
    for (const { stepMs } of isIdle ? [coarse, long] : lengths) {
      const step = ownStep(stepMs)
      if (isIdle) continue
      for (let i = 0; i < width; i++) step.counts[i]! += grown[i]!
      step.isWritten = false
    }
    for (const upstream of layout.failing(grown)) lastFailures.set(upstream, now)
    before = counts
    sampledAt = now
  }

  async function write(): Promise<void> {
    const writtenAt = clock.now()
    const steps = [...own.values()].filter(({ isWritten }) => !isWritten)
    const rows = steps.map(({ stepMs, at, counts }) => ({
      process,
      stepMs,
      at,
      counts: layout.toNames(counts),
      writtenAt
    }))
    for (const step of steps) step.isWritten = true
    if (rows.length > 0) {
      await store.put(rows).catch((error) => {
        for (const step of steps) step.isWritten = false
        throw error
      })
    }
    for (const [key, { stepMs, at, isWritten }] of own) if (isWritten && at + stepMs <= middle) own.delete(key)
  }

  function take(ring: Ring, { stepMs, at, counts }: MetricsRow, now: number): void {
    const row = layout.fromNames(counts)
    ring.add(at, row)
    for (const upstream of layout.failing(row)) {
      // In a minute's step only its beginning is certain.
      const failedAt = Math.min(stepMs === fine.stepMs ? at + stepMs : at, now)
      lastFailures.set(upstream, Math.max(failedAt, lastFailures.get(upstream) ?? 0))
    }
  }

  /** Reads changes since the last read; everything the first time. */
  async function refresh(ring: Ring): Promise<void> {
    const now = clock.now()
    const since = readAt.get(ring)
    const oldest = now - ring.stepMs * ring.slots
    const from = since === undefined ? oldest : await store.changed(ring.stepMs, since - slackMs)
    if (from !== undefined) {
      // Deleted first, so that a read that fails halfway is repeated completely.
      readAt.delete(ring)
      ring.clear(from)
      for (let after: MetricsRow | undefined; ; ) {
        const rows: MetricsRow[] = await store.read(ring.stepMs, {
          from: Math.max(from, oldest),
          after,
          limit: rowsPerRead
        })
        for (const row of rows) take(ring, row, now)
        after = rows.at(-1)
        if (rows.length < rowsPerRead) break
        // Requests go first: an embedded storage reads in this thread.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    readAt.set(ring, now)
  }

  /** Deletes rows older than any window. */
  async function prune(): Promise<void> {
    const now = clock.now()
    if (now - prunedAt < pruneMs) return
    prunedAt = now
    for (const { stepMs, slots } of lengths) await store.prune(stepMs, now - stepMs * slots)
  }

  const timer = setInterval(() => {
    sample()
    void tellRound(rounds, () => inTurn(write).then(prune))
  }, sampleMs)
  timer.unref()
  /** The finest ring that reaches back far enough. */
  const ringOf = (backMs: number) => rings.find(({ stepMs, slots }) => backMs <= stepMs * slots) ?? rings[2]
  return {
    sample,
    stepOf: (windowMs) => ringOf(windowMs).stepMs,
    read({ from, to, step }) {
      // The oldest step may be gone in part: that asks for no longer ones.
      const ring = ringOf(clock.now() - from - Math.min(step, coarse.stepMs))
      /** Says whether any process ran. */
      const known = ring === rings[2] ? ring : rings[1]
      return inTurn(async () => {
        sample()
        await write()
        for (const each of new Set([ring, known])) await refresh(each)
        const points: Point[] = []
        for (let begin = from; begin < to; begin += step) {
          const end = Math.min(begin + step, to)
          points.push({
            at: begin,
            ...layout.stretchOf(ring.sum(begin, end)),
            processes: known.rows(begin, end)
          })
        }
        return { total: layout.stretchOf(ring.sum(from, to)), points }
      })
    },
    totals: (windows) =>
      inTurn(async () => {
        sample()
        await write()
        await refresh(rings[2])
        return windows.map(({ from, to }) => layout.stretchOf(rings[2].sum(from, to)))
      }),
    lastFailures,
    async close() {
      clearInterval(timer)
      sample()
      await tellRound(rounds, () => inTurn(write))
    }
  }
}
