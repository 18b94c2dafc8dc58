/** Reviews in this process. */
import type { ReviewBound, ReviewBounds } from '../../base/settings.js'
import type { DeliveryRow } from '../contracts/delivery-store.js'
import {
  type Opened,
  type ReviewRow,
  type ReviewStore,
  type ReviewSubject,
  sealedBytes,
  unbounded
} from '../contracts/review-store.js'

const withoutTexts = {
  sealedRequest: null,
  sealedContext: null,
  sealedHistory: null,
  sealedNote: null,
  sealedApprovalNote: null
}

/** @param outbox where the notices go */
export function createMemoryReviews(
  call: <T>(work: () => T) => Promise<T>,
  outbox: Map<string, DeliveryRow>
): ReviewStore {
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

  const tell = (notices: readonly DeliveryRow[]) => {
    for (const notice of notices) outbox.set(notice.deliveryId, structuredClone(notice))
  }
  /** A review that is open at `at` and that nobody but `by` has claimed. */
  const workable = (account: string, reviewId: string, { by, at }: { by: string; at: number }) => {
    const row = find(account, reviewId)
    if (row === undefined || !isOpen(row, at)) return undefined
    return row.claimedUntil === null || row.claimedUntil <= at || row.claimedBy === by ? row : undefined
  }

  function fullFor(row: ReviewRow, bounds: ReviewBounds): ReviewBound | undefined {
    const open = [...rows.values()].filter((other) => isOpen(other, row.createdAt))
    const ofAccount = open.filter(({ account }) => account === row.account)
    if (ofAccount.filter(({ lineage }) => lineage === row.lineage).length >= bounds.key) return 'key'
    if (ofAccount.length >= bounds.account) return 'account'
    if (open.length >= bounds.total) return 'total'
    const bytes = open.reduce((sum, other) => sum + sealedBytes(other), 0)
    return bytes + sealedBytes(row) > bounds.bytes ? 'bytes' : undefined
  }

  return {
    open: (row, notices = [], bounds = unbounded) =>
      call((): Opened => {
        const [same] = newestFirst((other) => isSubject(other, row) && isOpen(other, row.createdAt))
        if (same) return { reviewId: same.reviewId, created: false }
        const full = fullFor(row, bounds)
        if (full !== undefined) return { full, created: false }
        rows.set(row.reviewId, structuredClone(row))
        tell(notices)
        return { reviewId: row.reviewId, created: true }
      }),
    get: (account, reviewId) => call(() => structuredClone(find(account, reviewId))),
    list: (account, { state, category, keyId, createdBefore, createdAfter, now, order = 'newest', after, limit }) =>
      call(() => {
        const isIn = (row: ReviewRow) => {
          if (state === undefined) return true
          if (state === 'pending') return isOpen(row, now)
          if (state === 'expired') return row.state === 'pending' && row.expiresAt <= now
          return row.state === state
        }
        const page = newestFirst(
          (row) =>
            row.account === account &&
            isIn(row) &&
            (category === undefined || row.categories.includes(category)) &&
            (keyId === undefined || row.keyId === keyId) &&
            (createdBefore === undefined || row.createdAt < createdBefore) &&
            (createdAfter === undefined || row.createdAt > createdAfter) &&
            (after === undefined || (order === 'newest' ? row.reviewId < after : row.reviewId > after))
        )
        if (order === 'oldest') page.reverse()
        return page.slice(0, limit).map((row) => ({ ...structuredClone(row), ...withoutTexts }))
      }),
    current: (subject, now) =>
      call(() =>
        structuredClone(newestFirst((row) => isSubject(row, subject) && row.expiresAt > now && row.usedAt === null))
      ),
    claim: (account, reviewId, { by, at, until }) =>
      call(() => {
        const row = workable(account, reviewId, { by, at })
        if (row === undefined) return false
        Object.assign(row, { claimedBy: by, claimedUntil: until })
        return true
      }),
    release: (account, reviewId, by) =>
      call(() => {
        const row = find(account, reviewId)
        if (row?.claimedBy !== by) return false
        Object.assign(row, { claimedBy: null, claimedUntil: null })
        return true
      }),
    approve: (account, reviewId, { by, at, sealedNote }, notices = []) =>
      call(() => {
        const row = workable(account, reviewId, { by, at })
        if (row === undefined || row.approvedBy !== null) return false
        const approval = { approvedBy: by, approvedAt: at, sealedApprovalNote: sealedNote }
        Object.assign(row, { ...approval, claimedBy: null, claimedUntil: null })
        tell(notices)
        return true
      }),
    decide: (account, reviewId, { state, at, by, sealedNote, approvedBy }, notices = []) =>
      call(() => {
        const row = workable(account, reviewId, { by, at })
        if (row === undefined || (approvedBy !== undefined && row.approvedBy !== approvedBy)) return false
        Object.assign(row, { state, decidedAt: at, decidedBy: by, sealedNote })
        tell(notices)
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
      }),
    purgeTexts: ({ endedBefore, at, limit }) =>
      call(() => {
        const ended = [...rows.values()]
          .filter((row) => row.purgedAt === null && (row.decidedAt ?? row.expiresAt) < endedBefore)
          .slice(0, limit)
        for (const row of ended) Object.assign(row, withoutTexts, { purgedAt: at })
        return ended.length
      })
  }
}
