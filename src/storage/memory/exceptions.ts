/** Exceptions in this process. */
import type { ExceptionRow, ExceptionStore } from '../contracts/exception-store.js'

export function createMemoryExceptions(call: <T>(work: () => T) => Promise<T>): ExceptionStore {
  const rows = new Map<string, ExceptionRow>()
  const newestFirst = (wanted: (row: ExceptionRow) => boolean) =>
    [...rows.values()].filter(wanted).sort((a, b) => (a.exceptionId < b.exceptionId ? 1 : -1))

  return {
    propose: (row) =>
      call(() => {
        const [same] = newestFirst(
          ({ account, evaluationId, state }) =>
            account === row.account && evaluationId === row.evaluationId && state === 'proposed'
        )
        if (same !== undefined) return { exceptionId: same.exceptionId, created: false }
        rows.set(row.exceptionId, structuredClone(row))
        return { exceptionId: row.exceptionId, created: true }
      }),
    get: (exceptionId) => call(() => structuredClone(rows.get(exceptionId))),
    list: ({ state, after, limit }) =>
      call(() => {
        const page = newestFirst(
          (row) => (state === undefined || row.state === state) && (after === undefined || row.exceptionId < after)
        )
        return structuredClone(page.slice(0, limit))
      }),
    decide: (exceptionId, from, decision) =>
      call(() => {
        const row = rows.get(exceptionId)
        if (row?.state !== from) return false
        Object.assign(row, decision)
        return true
      }),
    active: (now) =>
      call(() =>
        structuredClone(
          newestFirst(({ state, expiresAt }) => state === 'accepted' && expiresAt !== null && expiresAt > now)
        )
      )
  }
}
