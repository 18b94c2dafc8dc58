/** Keys in this process: for tests, and for programs that embed the gateway and keep no data. */

import { Conflict } from '../failure.js'
import type { KeyRow, KeyStore } from '../key-store.js'

export function createMemoryKeys(call: <T>(work: () => T) => Promise<T>): KeyStore {
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
    list: (account, { after = '', limit }) =>
      call(() => {
        const page = [...rows.values()].filter((row) => row.account === account && row.keyId > after)
        page.sort((a, b) => (a.keyId < b.keyId ? -1 : 1))
        return structuredClone(page.slice(0, limit))
      }),
    revoke: (account, keyId, at) =>
      call(() => {
        const row = find(account, keyId)
        if (row && row.revokedAt === null && (row.graceEndsAt === null || row.graceEndsAt > at)) row.revokedAt = at
        return structuredClone(row)
      }),
    rotate: (account, keyId, at, graceEndsAt, successor) =>
      call(() => {
        const row = find(account, keyId)
        const open = row && row.revokedAt === null && row.rotatedTo === null
        if (!open || (row.expiresAt !== null && row.expiresAt <= at)) return false
        insert(successor)
        row.graceEndsAt = graceEndsAt
        row.rotatedTo = successor.keyId
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
