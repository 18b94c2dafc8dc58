/** The whole storage in this process; what it holds ends with it. */
import { createAuditBuffer } from '../audit-buffer.js'
import type { AuditRow, Storage } from '../contracts.js'
import { storageCall } from '../failure.js'
import { createMemoryConstitutions } from './constitutions.js'
import { createMemoryKeys } from './keys.js'
import { createMemoryReviews } from './reviews.js'

/** Enough to look back on in a test or a demonstration; older rows are forgotten, since nothing here is durable. */
const maxAuditRows = 10_000

export function createMemoryStorage(): Storage {
  let closed = false
  const call = <T>(work: () => T): Promise<T> =>
    storageCall(() => {
      if (closed) throw new Error('the storage is closed')
      return work()
    })

  const audit: (AuditRow & { seq: number })[] = []
  let seq = 0
  const buffer = createAuditBuffer(
    (rows) =>
      call(() => {
        for (const row of rows) audit.push({ ...structuredClone(row), seq: ++seq })
        if (audit.length > maxAuditRows) audit.splice(0, audit.length - maxAuditRows)
      }),
    () => {}
  )

  return {
    keys: createMemoryKeys(call),
    reviews: createMemoryReviews(call),
    constitutions: createMemoryConstitutions(call),
    audit: {
      append: buffer.append,
      flush: buffer.flush,
      get dropped() {
        return buffer.dropped
      },
      read: ({ after = 0, limit }) =>
        call(() => structuredClone(audit.filter((row) => row.seq > after).slice(0, limit)))
    },
    ping: () => call(() => {}),
    async close() {
      if (closed) return
      await buffer.close()
      closed = true
    }
  }
}
