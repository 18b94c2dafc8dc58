/** What the journal has taken and not yet given a number: rows, usage, and who waits for them. Bounded. */
import type { AuditRow } from './contracts/audit-store.js'
import { unavailable } from './contracts/failure.js'
import type { Group, JournalLog } from './journal.js'
import { UsageSums } from './usage-sums.js'

/** About 50 MB at the usual row; past it the oldest rows are dropped, counted, and told of in the audit. */
const maxQueued = 100_000
/**
 * Rows per commit: bounds how long one transaction holds the storage, and the event loop where that is embedded and has
 * no thread for it (20 to 30 µs a row, measured).
 */
export const maxGroup = 250

/** Stands in the audit in the place of rows that were dropped: `{from, rows, to}`, times in ms. */
export const lostKind = 'audit.lost'

export interface Done {
  resolve(): void
  reject(error: unknown): void
}
interface Entry {
  row: AuditRow
  done?: Done
}

export class JournalQueue {
  /** The number of the last group. */
  number = 0
  dropped = 0
  readonly usage = new UsageSums()
  #entries: Entry[] = []
  /** Of the groups that were sealed, by number. */
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

  /** Whether somebody waits for the commit of what is not sealed yet. */
  get isUrgent(): boolean {
    return this.#entries.some(({ done }) => done !== undefined)
  }

  push(entry: Entry): void {
    this.#entries.push(entry)
    if (this.#entries.length > maxQueued) this.#drop()
  }

  /** Its number is for good: a group whose commit may or may not have happened is tried again as it is. */
  seal(): Group | undefined {
    if (this.isEmpty) return undefined
    const entries = this.#entries.splice(0, maxGroup)
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

  /** The rows are kept; who waits for their commit is told that there was none. */
  rejectAll(error: unknown): void {
    for (const dones of this.#waiters.values()) for (const done of dones) done.reject(error)
    this.#waiters.clear()
    for (const entry of this.#entries) {
      entry.done?.reject(error)
      delete entry.done
    }
  }

  /** A tenth at once: dropping one row at a time from the front of a long array costs its whole length. */
  #drop(): void {
    const gone = this.#entries.splice(0, maxQueued / 10)
    for (const { done } of gone) done?.reject(unavailable('too many rows of the audit wait'))
    // What was lost before in the same outage stands first, and is told in one row.
    const told = gone[0]!.row.kind === lostKind ? gone.shift()!.row : undefined
    this.dropped += gone.length
    const from = told === undefined ? gone[0]!.row.at : Number(told.data['from'])
    const to = gone.at(-1)!.row.at
    const rows = gone.length + Number(told?.data['rows'] ?? 0)
    this.#entries.unshift({
      row: { at: to, kind: lostKind, account: null, keyId: null, subject: this.#node, data: { from, rows, to } }
    })
    this.#log?.error({ rows }, 'rows of the audit are lost: too many wait')
  }
}
