/** The contract of what keeps the processes that serve. `index.ts` says what holds for every contract. */

/** One process, as it says of itself. */
export interface ProcessRow {
  /** Of one life of one process: after a restart it is another. */
  process: string
  /** As in the audit; the workers of a node share it. */
  node: string
  startedAt: number
  /** When it last said so. */
  seenAt: number
  /** Version, configuration, policies, weakenings, …; see `observe/presence.ts`. */
  facts: Readonly<Record<string, unknown>>
}

export interface ProcessStore {
  /** Stores what a process says, in the place of what it said before. */
  tell(row: ProcessRow): Promise<void>
  /** Those seen at `since` or later, by node and start. */
  list(since: number): Promise<ProcessRow[]>
  /** A process ends; nothing happens where it is unknown. */
  remove(process: string): Promise<void>
  /** Forgets those not seen since. @returns how many */
  prune(before: number): Promise<number>
}
