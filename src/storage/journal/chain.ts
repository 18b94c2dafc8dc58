/**
 * The hash chain of the audit: each row's hash covers the one before, so that a changed, moved or removed row breaks
 * every later hash. One chain per node, so that nodes do not wait for each other.
 */
import { hash } from 'node:crypto'
import type { Json } from '../../base/chat.js'
import { canonicalJson } from '../../json/canonical.js'
import type { AuditRow, ChainedRow, ChainHead } from '../contracts/audit.js'

/** The hash before the first row of a chain. */
export const genesis = '0'.repeat(64)

/** A row in its chain, before the store numbers it. */
export interface Link extends Omit<ChainedRow, 'seq'> {
  /** The canonical JSON of `data`, which is hashed and stored. */
  json: string
}

function chainHash(previous: string, row: Omit<Link, 'hash' | 'data'>): string {
  const { account, at, json, keyId, kind, node, position, subject } = row
  // Canonical JSON, the members in order; `data` is written already.
  const before = JSON.stringify({ account, at })
  const after = JSON.stringify({ key_id: keyId, kind, node, position, subject })
  return hash('sha256', `${previous}\n${before.slice(0, -1)},"data":${json},${after.slice(1)}`, 'hex')
}

/** Appends rows to a chain after its head. @returns the links and the new head */
export function chain(
  rows: readonly AuditRow[],
  head: Pick<ChainHead, 'node' | 'position' | 'hash'>
): { links: Link[]; position: number; hash: string } {
  const { node } = head
  let { position, hash: previous } = head
  const links = rows.map(({ at, kind, account, keyId, subject, data: given }) => {
    const data = defined(given)
    const json = canonicalJson(data as Json)
    position++
    previous = chainHash(previous, { at, kind, account, keyId, subject, json, node, position })
    return { at, kind, account, keyId, subject, data, json, node, position, hash: previous }
  })
  return { links, position, hash: previous }
}

/** Drops members without a value, as JSON does. */
function defined(data: AuditRow['data']): AuditRow['data'] {
  return Object.values(data).includes(undefined)
    ? Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))
    : data
}

/** A fault of a chain, with its place. */
export interface ChainFault {
  node: string
  position: number
  problem: 'missing' | 'altered' | 'surplus'
}

/** Verifies one chain row by row, in order of position. */
export class ChainCheck {
  readonly head: ChainHead
  readonly faults: ChainFault[] = []
  rows = 0
  #position: number
  #hash: string

  constructor(head: ChainHead) {
    this.head = head
    this.#position = head.removed
    this.#hash = head.removedHash
  }

  next(row: ChainedRow): void {
    this.rows++
    const expected = this.#position + 1
    if (row.position !== expected)
      this.#fault(Math.min(row.position, expected), row.position > expected ? 'missing' : 'surplus')
    else if (chainHash(this.#hash, { ...row, json: canonicalJson(row.data as Json) }) !== row.hash)
      this.#fault(row.position, 'altered')
    // Continues with the row's own values, so that each fault is reported once.
    this.#position = row.position
    this.#hash = row.hash
  }

  /** @returns the faults, those at the end of the chain included */
  end(): readonly ChainFault[] {
    const { position, hash } = this.head
    if (this.#position < position) this.#fault(this.#position + 1, 'missing')
    else if (this.#position > position) this.#fault(position + 1, 'surplus')
    else if (this.#hash !== hash && this.faults.length === 0) this.#fault(position, 'altered')
    return this.faults
  }

  #fault(position: number, problem: ChainFault['problem']): void {
    this.faults.push({ node: this.head.node, position, problem })
  }
}
