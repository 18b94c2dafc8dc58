/**
 * The gateway's own course of its metrics, for charts without a Prometheus: what the counters grew by, sampled every ten
 * seconds, in steps of ten seconds for six hours, of a minute for eight days, so that a day has the same day of the week
 * before beside it, and of ten minutes for fifteen. It samples what is counted anyway, so a request pays nothing for it. What each process counted is written to the storage with the sample, so that a restart
 * goes on, a question to any process is answered for all of them, and a time in which none ran is known as such.
 * What was read is kept in bounded memory (7 MB when full), and only what changed is read again.
 */
import type { Clock } from '../base/clock.js'
import type { MetricsRow, MetricsStore } from '../storage/contracts/processes.js'
import { type Counted, createLayout, type Stretch } from './layout.js'
import { Ring } from './ring.js'

const sampleMs = 10_000
const fine = { stepMs: sampleMs, slots: 2160 }
/** Eight days, and room for the steps at both ends. */
const coarse = { stepMs: 60_000, slots: 8 * 1440 + 30 }
const long = { stepMs: 600_000, slots: 15 * 144 }
const lengths = [fine, coarse, long]
/** The longest window that may be asked for, ms: of all but the newest days there are longer steps alone. */
export const longestWindowMs = 7 * 86_400_000
/** Rows are read again that were written so long before the last look, ms: clocks of nodes differ by less. */
const slackMs = 60_000
const rowsPerRead = 100
const pruneMs = 3_600_000
/** Rows that wait while the storage takes none: an hour and more. */
const maxWaiting = 500

/** A step of time, as the window has it. */
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
  /** Takes what was counted since the last sample; a timer does so by itself, and writes it. */
  sample(): void
  /**
   * What all processes counted.
   * @param window ms; `step` is a multiple of the steps that are remembered
   * @throws Fault `storage_unavailable`
   */
  read(window: { from: number; to: number; step: number }): Promise<Course>
  /**
   * Sums alone, of windows of up to fifteen days back, in whole steps of ten minutes: little is read for them.
   * @throws Fault `storage_unavailable`
   */
  totals(windows: readonly { from: number; to: number }[]): Promise<Stretch[]>
  /** The steps that are remembered of a window of this length until now, ms. */
  stepOf(windowMs: number): number
  /** Wall time of the last failed request to each upstream, ms; of what `read` has seen. */
  readonly lastFailures: ReadonlyMap<string, number>
  /** Writes what was counted; what the storage does not take is lost. */
  close(): Promise<void>
}

export interface HistoryOptions {
  metrics: Counted
  clock: Clock
  store: MetricsStore
  /** See `ProcessRow`. */
  process: string
  /** Told of a sample that could not be written yet; it is kept. */
  failure(error: unknown): void
}

/** What this process counted in one step, and whether the storage has it. */
interface Own {
  stepMs: number
  at: number
  counts: Uint32Array
  isWritten: boolean
}

export function createHistory({ metrics, clock, store, process, failure }: HistoryOptions): History {
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

  /** One after the other: what one reads, another must not empty. */
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
    // The middle of the stretch: a timer that is a little late must not move its counts into the next step. A clock that
    // was set back must not write over a step that is done with.
    middle = Math.max(middle, (sampledAt + now) / 2)
    const isIdle = grown.every((count) => count === 0)
    // A minute is written though it was idle: it says that the process ran.
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
      // Of a minute only its beginning is sure.
      const failedAt = Math.min(stepMs === fine.stepMs ? at + stepMs : at, now)
      lastFailures.set(upstream, Math.max(failedAt, lastFailures.get(upstream) ?? 0))
    }
  }

  /** Reads what changed since the last look; everything, at the first. */
  async function refresh(ring: Ring): Promise<void> {
    const now = clock.now()
    const since = readAt.get(ring)
    const oldest = now - ring.stepMs * ring.slots
    const from = since === undefined ? oldest : await store.changed(ring.stepMs, since - slackMs)
    if (from !== undefined) {
      // Until everything is read again nothing is: a storage that fails halfway leaves no half for the whole.
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

  /** Deletes what is older than any window. */
  async function prune(): Promise<void> {
    const now = clock.now()
    if (now - prunedAt < pruneMs) return
    prunedAt = now
    for (const { stepMs, slots } of lengths) await store.prune(stepMs, now - stepMs * slots)
  }

  const timer = setInterval(() => {
    sample()
    inTurn(write).then(prune).catch(failure)
  }, sampleMs)
  timer.unref()
  /** The finest that reaches back so far. */
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
      await inTurn(write).catch(failure)
    }
  }
}
