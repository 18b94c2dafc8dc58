/** The outbox of the webhook in this process. */
import type { DeliveryRow, DeliveryStore } from '../contracts/delivery-store.js'

/** @param rows what the reviews put in */
export function createMemoryDeliveries(
  rows: Map<string, DeliveryRow>,
  call: <T>(work: () => T) => Promise<T>
): DeliveryStore {
  const oldestFirst = (wanted: (row: DeliveryRow) => boolean) =>
    [...rows.values()].filter(wanted).sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1))

  return {
    take: ({ now, leasedUntil, limit }) =>
      call(() => {
        const due = oldestFirst(({ state, nextAt }) => state === 'waiting' && nextAt !== null && nextAt <= now)
        return due.slice(0, limit).map((row) => {
          const taken = structuredClone(row)
          row.nextAt = leasedUntil
          return taken
        })
      }),
    remove: (deliveryId) => call(() => void rows.delete(deliveryId)),
    fail: (deliveryId, { attempts, nextAt, error }) =>
      call(() => {
        const row = rows.get(deliveryId)
        const state = nextAt === null ? 'dead' : 'waiting'
        if (row !== undefined) Object.assign(row, { attempts, nextAt, lastError: error, state })
      }),
    list: (account, { state, after, limit }) =>
      call(() => {
        const page = oldestFirst(
          (row) =>
            row.account === account &&
            (state === undefined || row.state === state) &&
            (after === undefined || row.deliveryId > after)
        )
        return structuredClone(page.slice(0, limit))
      }),
    revive: (account, deliveryId, at) =>
      call(() => {
        const row = rows.get(deliveryId)
        if (row?.account !== account || row.state !== 'dead') return undefined
        Object.assign(row, { state: 'waiting', attempts: 0, nextAt: at })
        return structuredClone(row)
      }),
    dead: () => call(() => oldestFirst(({ state }) => state === 'dead').length),
    purge: (createdBefore) =>
      call(() => {
        const old = oldestFirst(({ state, createdAt }) => state === 'dead' && createdAt < createdBefore)
        for (const { deliveryId } of old) rows.delete(deliveryId)
        return old.length
      })
  }
}
