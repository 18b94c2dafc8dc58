/** The audit and the usage in this process. */
import { chain, genesis } from '../audit-chain.js'
import type { AuditStore, ChainedRow, ChainHead } from '../contracts/audit-store.js'
import type { UsageRow, UsageStore } from '../contracts/usage-store.js'
import { createJournal, type Journal } from '../journal.js'

/** Enough to look back on in a test or a demonstration; older rows are forgotten, since nothing here is durable. */
const maxRows = 10_000

export function createMemoryAudit(
  call: <T>(work: () => T) => Promise<T>,
  node: string
): { audit: AuditStore; usage: UsageStore; close: Journal['close'] } {
  const rows: ChainedRow[] = []
  const sums = new Map<string, UsageRow>()
  let head: ChainHead = { node, position: 0, hash: genesis, removed: 0, removedHash: genesis }
  let seq = 0

  function remove(count: number): void {
    const last = rows.splice(0, count).at(-1)
    if (last !== undefined) head = { ...head, removed: last.position, removedHash: last.hash }
  }

  const journal = createJournal({
    node,
    store: ({ rows: added, usage }) =>
      call(() => {
        const { links, position, hash } = chain(structuredClone(added), head)
        for (const { json: _, ...link } of links) rows.push({ ...link, seq: ++seq })
        head = { ...head, position, hash }
        if (rows.length > maxRows) remove(rows.length - maxRows)
        for (const row of usage) {
          const key = [row.account, row.keyId, row.day, row.surface].join(' ')
          const sum = sums.get(key)
          if (sum === undefined) sums.set(key, { ...row })
          else {
            sum.evaluations += row.evaluations
            sum.characters += row.characters
          }
        }
      })
  })

  const audit: AuditStore = {
    append: journal.append,
    commit: journal.commit,
    flush: journal.flush,
    get dropped() {
      return journal.dropped
    },
    get waiting() {
      return journal.waiting
    },
    read: ({ filter = {}, order = 'oldest', after, limit }) =>
      call(() => {
        const { account, kind, keyId, subject, node, from = 0, to = Number.POSITIVE_INFINITY } = filter
        const found = rows.filter(
          (row) =>
            (account === undefined || row.account === account) &&
            (kind === undefined || row.kind === kind) &&
            (keyId === undefined || row.keyId === keyId) &&
            (subject === undefined || row.subject === subject) &&
            (node === undefined || row.node === node) &&
            row.at >= from &&
            row.at <= to &&
            (after === undefined || (order === 'oldest' ? row.seq > after : row.seq < after))
        )
        if (order === 'newest') found.reverse()
        return structuredClone(found.slice(0, limit))
      }),
    heads: () => call(() => (head.position === 0 ? [] : [{ ...head }])),
    chain: (name, { after, limit }) =>
      call(() => structuredClone(rows.filter((row) => row.node === name && row.position > after).slice(0, limit))),
    prune: (before, limit) =>
      call(() => {
        const young = rows.findIndex(({ at }) => at >= before)
        const count = Math.min(young === -1 ? rows.length : young, limit)
        remove(count)
        return count
      })
  }

  const usage: UsageStore = {
    add: journal.usage.add,
    read: (account, { from, to, keyId, after, limit }) =>
      call(() =>
        structuredClone(
          [...sums.values()]
            .filter(
              (row) =>
                row.account === account &&
                row.day >= from &&
                row.day <= to &&
                (keyId === undefined || row.keyId === keyId) &&
                (after === undefined || inOrder(row, after) > 0)
            )
            .sort(inOrder)
            .slice(0, limit)
        )
      )
  }
  return { audit, usage, close: journal.close }
}

type Place = Pick<UsageRow, 'day' | 'keyId' | 'surface'>

function inOrder(a: Place, b: Place): number {
  return compare(a.day, b.day) || compare(a.keyId, b.keyId) || compare(a.surface, b.surface)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
