/** Reviews in this process. */
import type { ReviewRow, ReviewStore, ReviewSubject } from '../review-store.js'

export function createMemoryReviews(call: <T>(work: () => T) => Promise<T>): ReviewStore {
  const rows = new Map<string, ReviewRow>()

  function find(account: string, reviewId: string): ReviewRow | undefined {
    const row = rows.get(reviewId)
    return row?.account === account ? row : undefined
  }

  function newestFirst(wanted: (row: ReviewRow) => boolean): ReviewRow[] {
    return [...rows.values()].filter(wanted).sort((a, b) => (a.reviewId < b.reviewId ? 1 : -1))
  }

  const isSubject = (row: ReviewRow, subject: ReviewSubject): boolean =>
    row.account === subject.account &&
    row.lineage === subject.lineage &&
    row.surface === subject.surface &&
    row.route === subject.route &&
    row.digest === subject.digest
  const isOpen = (row: ReviewRow, now: number): boolean => row.state === 'pending' && row.expiresAt > now

  return {
    open: (row) =>
      call(() => {
        const [same] = newestFirst((other) => isSubject(other, row) && isOpen(other, row.createdAt))
        if (same) return { reviewId: same.reviewId, created: false }
        rows.set(row.reviewId, structuredClone(row))
        return { reviewId: row.reviewId, created: true }
      }),
    get: (account, reviewId) => call(() => structuredClone(find(account, reviewId))),
    list: (account, { state, now, before, limit }) =>
      call(() => {
        const page = newestFirst((row) => {
          if (row.account !== account || (before !== undefined && row.reviewId >= before)) return false
          if (state === undefined) return true
          if (state === 'pending') return isOpen(row, now)
          if (state === 'expired') return row.state === 'pending' && row.expiresAt <= now
          return row.state === state
        })
        return structuredClone(page.slice(0, limit))
      }),
    current: (subject, now) =>
      call(() =>
        structuredClone(newestFirst((row) => isSubject(row, subject) && row.expiresAt > now && row.usedAt === null))
      ),
    decide: (account, reviewId, { state, at, by, sealedNote }) =>
      call(() => {
        const row = find(account, reviewId)
        if (!row || !isOpen(row, at)) return false
        Object.assign(row, { state, decidedAt: at, decidedBy: by, sealedNote })
        return true
      }),
    use: (account, reviewId, at) =>
      call(() => {
        const row = find(account, reviewId)
        if (row?.state !== 'permitted' || row.usedAt !== null || row.expiresAt <= at) return false
        row.usedAt = at
        return true
      }),
    pending: (now) =>
      call(() => {
        const open = [...rows.values()].filter((row) => isOpen(row, now))
        const oldest = open.reduce((age, row) => Math.min(age, row.createdAt), Number.POSITIVE_INFINITY)
        return { depth: open.length, oldestCreatedAt: open.length > 0 ? oldest : undefined }
      })
  }
}
