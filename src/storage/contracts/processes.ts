/** The contract of the store of serving processes and their metrics. `index.ts` has the rules of all contracts. */

/** One process, by its own report. */
export interface ProcessRow {
  /** Id of the process; a restart gets a new one. */
  process: string
  /** As in the audit; the workers of a node share it. */
  node: string
  startedAt: number
  /** Time of its last report. */
  seenAt: number
  /** Version, configuration, policies, weakenings, …; see `observe/presence.ts`. */
  facts: Readonly<Record<string, unknown>>
}

export interface ProcessStore {
  /** Replaces the report of a process. */
  tell(row: ProcessRow): Promise<void>
  /** Processes seen at `since` or later, by node and start. */
  list(since: number): Promise<ProcessRow[]>
  /** Removes a process that ends; does nothing for an unknown one. */
  remove(process: string): Promise<void>
  /** Removes processes not seen since. @returns how many */
  prune(before: number): Promise<number>
}

/** Counts of one process in one step of wall time. */
export interface MetricsRow {
  /** See `ProcessRow`. */
  process: string
  /** Length of the step. */
  stepMs: number
  /** Start of the step. */
  at: number
  /** By name, where anything was counted; see `observe/layout.ts`. */
  counts: Readonly<Record<string, number>>
  /** When the row was last written, by the clock of its process. */
  writtenAt: number
}

export interface MetricsStore {
  /** Stores rows, replacing earlier ones of the same process and step. Atomic. */
  put(rows: readonly MetricsRow[]): Promise<void>
  /** Rows of one length of step that begin at `from` or later, by beginning and process; `after` is an exclusive row. */
  read(
    stepMs: number,
    page: { from: number; after?: Pick<MetricsRow, 'at' | 'process'> | undefined; limit: number }
  ): Promise<MetricsRow[]>
  /** The earliest beginning among the rows of one length of step that were written at `since` or later. */
  changed(stepMs: number, since: number): Promise<number | undefined>
  /** Deletes rows of one length of step that began before. @returns how many */
  prune(stepMs: number, before: number): Promise<number>
}
