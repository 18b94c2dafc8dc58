/** The bounded queue of the journal: rows and usage that are in no group yet, and the callers that wait for them. */
import { dayOf } from '../../base/instant.js'
import type { AuditRow, UsageRow, UsageStore } from '../contracts/audit.js'
import { unavailable } from '../contracts/failure.js'

/** About 50 MB at the usual row; beyond it the oldest rows are dropped, counted, and reported in the audit. */
const maxQueued = 100_000
/**
 * Rows per commit where the storage names no other bound: how long one transaction holds the storage, and the event loop
 * where that is embedded and has no thread for it (20 to 30 µs a row, measured).
 */
export const maxGroup = 250

/** Kind of the audit row that replaces dropped rows: `{from, rows, to}`, times in ms. */
export const lostKind = 'audit.lost'

export interface Group {
  /**
   * The process's journal, and the number of the group in it: a storage stores each group once, even if its answer was
   * lost.
   */
  journal: string
  number: number
  /** Node of the rows' chain. */
  node: string
  rows: readonly AuditRow[]
  usage: readonly UsageRow[]
}

export interface JournalLog {
  error(details: object, message: string): void
  info?(details: object, message: string): void
}

export interface Done {
  resolve(): void
  reject(error: unknown): void
}
interface Entry {
  row: AuditRow
  /** Monotonic ms. */
  came: number
  done: Done | undefined
}

export class JournalQueue {
  /** The number of the last group. */
  number = 0
  dropped = 0
  readonly usage = new UsageSums()
  #entries: Entry[] = []
  /** Callers that wait for sealed groups, by number. */
  readonly #waiters = new Map<number, Done[]>()
  readonly #journal: string
  readonly #node: string
  readonly #log: JournalLog | undefined

  constructor(journal: string, node: string, log: JournalLog | undefined) {
    this.#journal = journal
    this.#node = node
    this.#log = log
  }

  get rows(): number {
    return this.#entries.length
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0 && this.usage.size === 0
  }

  /** Whether a caller waits for the commit of unsealed rows. */
  get isUrgent(): boolean {
    return this.#entries.some(({ done }) => done !== undefined)
  }

  /** Monotonic ms at which the oldest row came that is in no group; undefined where there is none. */
  get since(): number | undefined {
    return this.#entries[0]?.came
  }

  push(row: AuditRow, done?: Done): void {
    this.#entries.push({ row, came: performance.now(), done })
    if (this.#entries.length > maxQueued) this.#drop()
  }

  /**
   * Its number is final: a group whose commit is uncertain is tried again unchanged.
   * @param most rows in it
   */
  seal(most: number): Group | undefined {
    if (this.isEmpty) return undefined
    const entries = this.#entries.splice(0, most)
    const number = ++this.number
    const dones = entries.flatMap(({ done }) => done ?? [])
    if (dones.length > 0) this.#waiters.set(number, dones)
    return {
      journal: this.#journal,
      number,
      node: this.#node,
      rows: entries.map(({ row }) => row),
      usage: this.usage.take()
    }
  }

  committed(number: number): void {
    for (const done of this.#waiters.get(number) ?? []) done.resolve()
    this.#waiters.delete(number)
  }

  /** Rejects the waiting callers; the rows are kept. */
  rejectAll(error: unknown): void {
    for (const dones of this.#waiters.values()) for (const done of dones) done.reject(error)
    this.#waiters.clear()
    for (const entry of this.#entries) {
      entry.done?.reject(error)
      entry.done = undefined
    }
  }

  /** A tenth at once: dropping one row at a time from the front of a long array costs its whole length. */
  #drop(): void {
    const gone = this.#entries.splice(0, maxQueued / 10)
    for (const { done } of gone) done?.reject(unavailable('too many rows of the audit wait'))
    // An earlier loss of the same outage is first in the queue, and is merged into one row.
    const told = gone[0]!.row.kind === lostKind ? gone.shift()!.row : undefined
    this.dropped += gone.length
    const from = told === undefined ? gone[0]!.row.at : Number(told.data['from'])
    const to = gone.at(-1)!.row.at
    const rows = gone.length + Number(told?.data['rows'] ?? 0)
    this.#entries.unshift({
      row: { at: to, kind: lostKind, account: null, keyId: null, subject: this.#node, data: { from, rows, to } },
      came: performance.now(),
      done: undefined
    })
    this.#log?.error({ rows }, 'rows of the audit are lost: too many wait')
  }
}

const dayMs = 86_400_000

export class UsageSums {
  #sums = new Map<string, UsageRow>()

  get size(): number {
    return this.#sums.size
  }

  add(use: Parameters<UsageStore['add']>[0]): void {
    // A division costs a tenth of formatting a date, which is then done once per day and key.
    const day = Math.floor(use.at / dayMs)
    const key = `${use.keyId} ${use.surface} ${day}`
    const sum = this.#sums.get(key)
    if (sum === undefined) {
      const { at: _, ...counted } = use
      this.#sums.set(key, { ...counted, day: dayOf(use.at) })
    } else {
      sum.evaluations += use.evaluations
      sum.characters += use.characters
    }
  }

  /** Removes and returns all usage. */
  take(): UsageRow[] {
    const rows = [...this.#sums.values()]
    this.#sums = new Map()
    return rows
  }
}
