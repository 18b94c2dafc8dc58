/** Keys in this process: for tests, and for programs that embed the gateway and keep no data. */

import type { DeliveryRow } from '../contracts/delivery-store.js'
import { Conflict } from '../contracts/failure.js'
import type { KeyRow, KeyStore } from '../contracts/key-store.js'

/** @param outbox where the notices go */
export function createMemoryKeys(call: <T>(work: () => T) => Promise<T>, outbox: Map<string, DeliveryRow>): KeyStore {
  const rows = new Map<string, KeyRow>()
  const idByPrefix = new Map<string, string>()

  function insert(row: KeyRow): void {
    if (rows.has(row.keyId) || idByPrefix.has(row.prefix)) throw new Conflict('key id or prefix is taken')
    rows.set(row.keyId, structuredClone(row))
    idByPrefix.set(row.prefix, row.keyId)
  }

  function find(account: string, keyId: string): KeyRow | undefined {
    const row = rows.get(keyId)
    return row?.account === account ? row : undefined
  }

  function inOrder(account: string, lineage: string | undefined, after = ''): KeyRow[] {
    return [...rows.values()]
      .filter((row) => row.account === account && (lineage === undefined || row.lineage === lineage))
      .filter(({ keyId }) => keyId > after)
      .sort((a, b) => (a.keyId < b.keyId ? -1 : 1))
  }

  function end(row: KeyRow, at: number): void {
    if (row.revokedAt === null && (row.graceEndsAt === null || row.graceEndsAt > at)) row.revokedAt = at
  }

  return {
    insert: (row) => call(() => insert(row)),
    insertFirst: (row) =>
      call(() => {
        if (rows.size > 0) return false
        insert(row)
        return true
      }),
    isEmpty: () => call(() => rows.size === 0),
    byPrefix: (prefix) => call(() => structuredClone(rows.get(idByPrefix.get(prefix) ?? ''))),
    get: (account, keyId) => call(() => structuredClone(find(account, keyId))),
    list: (account, { lineage, after = '', limit }) =>
      call(() => structuredClone(inOrder(account, lineage, after).slice(0, limit))),
    revoke: (account, keyId, at) =>
      call(() => {
        const row = find(account, keyId)
        if (row) end(row, at)
        return structuredClone(row)
      }),
    revokeLineage: (account, lineage, at) =>
      call(() => {
        const chain = inOrder(account, lineage)
        for (const row of chain) end(row, at)
        return structuredClone(chain)
      }),
    rotate: (account, keyId, at, graceEndsAt, successor, notices = []) =>
      call(() => {
        const row = find(account, keyId)
        const open = row && row.revokedAt === null && row.rotatedTo === null
        if (!open || (row.expiresAt !== null && row.expiresAt <= at)) return false
        insert(successor)
        row.graceEndsAt = graceEndsAt
        row.rotatedTo = successor.keyId
        for (const notice of notices) outbox.set(notice.deliveryId, structuredClone(notice))
        return true
      }),
    touch: (uses) =>
      call(() => {
        for (const [keyId, at] of uses) {
          const row = rows.get(keyId)
          if (row) row.lastUsedAt = Math.max(row.lastUsedAt ?? at, at)
        }
      })
  }
}
