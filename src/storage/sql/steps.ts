/**
 * Divides long work of a storage into short steps. An embedded storage runs in the serving thread, so each step is one
 * statement of a few milliseconds, and requests that came meanwhile go first.
 */
import { setImmediate } from 'node:timers/promises'

/** Rows that one statement reads: about 1 ms of SQLite at the usual row. A request that comes meanwhile takes several turns. */
const rowsPerStep = 100
/** Rows that one transaction removes: each waits for the disk. */
const rowsPerRemoval = 250
/** Index entries that one statement checks against a filter: less than 2 ms. */
export const entriesPerStep = 2_000

/** Resolves after all other waiting work of the event loop. */
export const turn = (): Promise<void> => setImmediate()

/** @param step reads the rows after an exclusive one @returns all of them, or the first `limit` */
export async function readSteps<Row>(
  step: (after: Row | undefined, limit: number) => Promise<readonly Row[]>,
  { after, limit = Number.POSITIVE_INFINITY }: { after?: Row | undefined; limit?: number | undefined } = {}
): Promise<Row[]> {
  const rows: Row[] = []
  for (let last = after; ; ) {
    const wanted = Math.min(rowsPerStep, limit - rows.length)
    const more = await step(last, wanted)
    rows.push(...more)
    last = more.at(-1)
    if (more.length < wanted || rows.length >= limit) return rows
    await turn()
  }
}

/** @param step removes at most so many rows, in a transaction of its own @returns the total number */
export async function removeSteps(
  step: (limit: number) => Promise<number>,
  limit = Number.POSITIVE_INFINITY,
  perStep = rowsPerRemoval
): Promise<number> {
  for (let gone = 0; ; ) {
    const wanted = Math.min(perStep, limit - gone)
    const more = await step(wanted)
    gone += more
    if (more < wanted || gone >= limit) return gone
    await turn()
  }
}

/** A stretch of an order: after an exclusive place, up to an inclusive one. */
export interface Stretch<Place> {
  after: Place | undefined
  until: Place | undefined
}

export interface Search<Row, Place> {
  after: Place | undefined
  limit: number
  /** Rows of one statement. */
  step?: number
  /**
   * The place of the last entry of the next stretch; undefined at the end. Absent where an index covers the whole
   * filter.
   */
  edge?: ((after: Place | undefined) => Promise<Place | undefined>) | undefined
  rows(stretch: Stretch<Place>, limit: number): Promise<readonly Row[]>
  placeOf(row: Row): Place
}

/**
 * The first rows that match a filter which the index covers only in part. The index is scanned in stretches, so that a
 * filter without matches costs many short statements and no long one.
 */
export async function searchSteps<Row, Place>(search: Search<Row, Place>): Promise<Row[]> {
  const { limit, step = rowsPerStep, edge, rows, placeOf } = search
  const found: Row[] = []
  for (let after = search.after, until = await edge?.(after); ; ) {
    const wanted = Math.min(step, limit - found.length)
    const more = await rows({ after, until }, wanted)
    found.push(...more)
    if (found.length >= limit) return found
    if (more.length === wanted) after = placeOf(more.at(-1)!)
    else if (until === undefined) return found
    else {
      after = until
      until = await edge?.(after)
    }
    await turn()
  }
}
