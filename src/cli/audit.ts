/** `sluicegate audit`: exports the audit as JSON lines, and verifies its hash chains. */

import { auditRecord } from '../api/audit.js'
import { systemClock } from '../base/clock.js'
import { parseMoment } from '../base/instant.js'
import type { AuditFilter, AuditStore, ChainHead } from '../storage/contracts/audit.js'
import { ChainCheck, type ChainFault } from '../storage/journal/chain.js'
import { commandSettings, openCommandStorage } from './store.js'
import { print, Told, UsageError } from './terminal.js'

const page = 1000

interface ExportOptions {
  account?: string
  kind?: string
  from?: string
  to?: string
}

/** Oldest first. */
export async function exportRows({ account, kind, from, to }: ExportOptions): Promise<void> {
  const filter: AuditFilter = { account, kind, from: readInstant('--from', from), to: readInstant('--to', to) }
  await withAudit(async (audit) => {
    for (let after = 0; ; ) {
      const rows = await audit.read({ filter, after, limit: page })
      if (rows.length === 0) return
      after = rows.at(-1)!.seq
      await print(rows.map((row) => `${JSON.stringify(auditRecord(row))}\n`).join(''))
    }
  })
}

/**
 * @param anchors ends of chains that were kept elsewhere, `node:position:hash`: they prove that no later rows were cut
 * off
 */
export async function verify({ head: anchors = [] }: { head?: string[] }): Promise<void> {
  const kept = anchors.map(readAnchor)
  await withAudit(async (audit) => {
    const heads = await audit.heads()
    const faults: ChainFault[] = []
    for (const head of heads) {
      const check = await follow(audit, head)
      faults.push(...check.faults)
      const removed = head.removed === 0 ? '' : `, ${head.removed} before them removed by retention`
      await print(`${head.node}: ${check.rows} rows${removed}, ends at ${head.node}:${head.position}:${head.hash}\n`)
    }
    for (const anchor of kept) faults.push(...(await checkAnchor(audit, heads, anchor)))
    for (const { node, position, problem } of faults) await print(`${node}: row ${position} is ${problem}\n`)
    if (faults.length > 0) throw new Told()
    await print('The audit is whole.\n')
  })
}

async function follow(audit: AuditStore, head: ChainHead): Promise<ChainCheck> {
  const check = new ChainCheck(head)
  for (let after = 0; ; ) {
    const rows = await audit.chain(head.node, { after, limit: page })
    if (rows.length === 0) break
    after = rows.at(-1)!.position
    for (const row of rows) check.next(row)
  }
  check.end()
  return check
}

interface Anchor {
  node: string
  position: number
  hash: string
}

async function checkAnchor(audit: AuditStore, heads: readonly ChainHead[], anchor: Anchor): Promise<ChainFault[]> {
  const { node, position, hash } = anchor
  const head = heads.find((one) => one.node === node)
  // An anchor before the beginning of the chain can only be checked directly at it.
  if (head !== undefined && position <= head.removed) {
    return position < head.removed || head.removedHash === hash ? [] : [{ node, position, problem: 'altered' }]
  }
  const [row] = await audit.chain(node, { after: position - 1, limit: 1 })
  if (row?.position !== position) return [{ node, position, problem: 'missing' }]
  return row.hash === hash ? [] : [{ node, position, problem: 'altered' }]
}

function readAnchor(text: string): Anchor {
  const [, node, position, hash] = /^(.+):(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (node === undefined) throw new UsageError('--head takes node:position:hash, as verify and the log write it')
  return { node, position: Number(position), hash: hash! }
}

function readInstant(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const at = parseMoment(text, systemClock.now())
  if (at === undefined) throw new UsageError(`${name} takes an ISO 8601 time, or a duration ago such as 24h`)
  return at
}

async function withAudit(use: (audit: AuditStore) => Promise<void>): Promise<void> {
  const storage = await openCommandStorage(commandSettings())
  try {
    await use(storage.audit)
  } finally {
    await storage.close()
  }
}
