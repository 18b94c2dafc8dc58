/** The processes that serve, where the storage is this process's own. */
import type { ProcessRow, ProcessStore } from '../contracts/process-store.js'

export function createMemoryProcesses(call: <T>(work: () => T) => Promise<T>): ProcessStore {
  const rows = new Map<string, ProcessRow>()
  const order = ({ node, startedAt, process }: ProcessRow) =>
    `${node} ${String(startedAt).padStart(16, '0')} ${process}`

  return {
    tell: (row) => call(() => void rows.set(row.process, structuredClone(row))),
    list: (since) =>
      call(() =>
        structuredClone(
          [...rows.values()].filter(({ seenAt }) => seenAt >= since).sort((a, b) => (order(a) < order(b) ? -1 : 1))
        )
      ),
    remove: (process) => call(() => void rows.delete(process)),
    prune: (before) =>
      call(() => {
        const silent = [...rows.values()].filter(({ seenAt }) => seenAt < before)
        for (const { process } of silent) rows.delete(process)
        return silent.length
      })
  }
}
