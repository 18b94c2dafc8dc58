/** The whole storage in this process; what it holds ends with it. */

import type { DeliveryRow } from '../contracts/delivery-store.js'
import { storageCall } from '../contracts/failure.js'
import type { Storage } from '../contracts/index.js'
import { createMemoryAudit } from './audit.js'
import { createMemoryConstitutions } from './constitutions.js'
import { createMemoryDeliveries } from './deliveries.js'
import { createMemoryExceptions } from './exceptions.js'
import { createMemoryKeys } from './keys.js'
import { createMemoryMetrics } from './metrics.js'
import { createMemoryProcesses } from './processes.js'
import { createMemoryReviews } from './reviews.js'
import { createMemoryUsers } from './users.js'

/** @param node names its chain of the audit */
export function createMemoryStorage(node = 'memory'): Storage {
  let closed = false
  const call = <T>(work: () => T): Promise<T> =>
    storageCall(() => {
      if (closed) throw new Error('the storage is closed')
      return work()
    })

  const outbox = new Map<string, DeliveryRow>()
  const { audit, usage, close } = createMemoryAudit(call, node)

  return {
    keys: createMemoryKeys(call, outbox),
    reviews: createMemoryReviews(call, outbox),
    constitutions: createMemoryConstitutions(call),
    audit,
    usage,
    metrics: createMemoryMetrics(call),
    processes: createMemoryProcesses(call),
    exceptions: createMemoryExceptions(call),
    users: createMemoryUsers(call),
    deliveries: createMemoryDeliveries(outbox, call),
    scrub: () => call(() => {}),
    ping: () => call(() => {}),
    async close() {
      if (closed) return
      await close()
      closed = true
    }
  }
}
