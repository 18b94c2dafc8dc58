/**
 * Long work of a storage in short steps. An embedded storage works in the thread that serves, so each step is a few
 * milliseconds of one statement, and whoever came meanwhile goes first.
 */
import { setImmediate } from 'node:timers/promises'

/** Rows that one statement reads: about 1 ms of SQLite at the usual row. A request that comes meanwhile takes several turns. */
const rowsPerStep = 100
/** Rows that one transaction removes: each waits for the disk. */
const rowsPerRemoval = 250
/** Entries of an index that one statement looks at for those that fit a filter: less than 2 ms. */
export const entriesPerStep = 2_000

/** Resolves when everything that waits for the event loop has had its turn. */
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

/** @param step removes at most so many rows, in a transaction of its own @returns how many are gone in all */
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

/** What a stretch of an order is: after an exclusive place, up to an inclusive one. */
export interface Stretch<Place> {
  after: Place | undefined
  until: Place | undefined
}

export interface Search<Row, Place> {
  after: Place | undefined
  limit: number
  /** Rows of one statement. */
  step?: number
  /** The place of the last entry of the next stretch; undefined where there are no more entries than that. Left out where an index knows all that is asked. */
  edge?: ((after: Place | undefined) => Promise<Place | undefined>) | undefined
  rows(stretch: Stretch<Place>, limit: number): Promise<readonly Row[]>
  placeOf(row: Row): Place
}

/**
 * The first rows that fit a filter of which an index knows only a part: it is looked through a stretch at a time, so that
 * a filter that fits nothing costs many short statements and no long one.
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
