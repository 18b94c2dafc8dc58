/** The contract of what keeps the course of the metrics. `index.ts` says what holds for every contract. */

/** What one process counted in one step of wall time. */
export interface MetricsRow {
  /** See `ProcessRow`. */
  process: string
  /** How long the step is. */
  stepMs: number
  /** When the step began. */
  at: number
  /** By name, where anything was counted; see `observe/layout.ts`. */
  counts: Readonly<Record<string, number>>
  /** When the row was last written, by the clock of its process. */
  writtenAt: number
}

export interface MetricsStore {
  /** Stores rows, each in the place of what its process stored of that step before. Atomic. */
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
