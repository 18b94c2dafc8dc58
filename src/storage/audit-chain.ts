/**
 * The chain that ties the rows of the audit together: each row's hash covers the hash before it, so that a row that is
 * changed, moved or taken out breaks every hash after it. One chain for each node, so that nodes do not wait for each other.
 */
import { hash } from 'node:crypto'
import type { Json } from '../base/chat.js'
import { canonicalJson } from '../json/canonical.js'
import type { AuditRow } from './contracts/audit-store.js'

/** A row in its place: what is stored, exported and verified. */
export interface ChainedRow extends AuditRow {
  /** Ascends over all nodes of a storage. */
  seq: number
  node: string
  /** 1, 2, 3, … within the node. */
  position: number
  /** SHA-256, hex, of the hash before it, a line feed, and the row's canonical JSON. */
  hash: string
}

/** How far a chain reaches. */
export interface ChainHead {
  node: string
  /** The last row. */
  position: number
  hash: string
  /** The last row that retention removed: the chain begins after it. 0 where none was. */
  removed: number
  /** The hash of that row, or `genesis`. */
  removedHash: string
}

/** What stands before the first row of a chain. */
export const genesis = '0'.repeat(64)

/** A row in its place, before the store gives it its number. */
export interface Link extends Omit<ChainedRow, 'seq'> {
  /** The canonical JSON of `data`: what is hashed, and stored. */
  json: string
}

function chainHash(previous: string, row: Omit<Link, 'hash' | 'data'>): string {
  const { account, at, json, keyId, kind, node, position, subject } = row
  // Canonical JSON, the members in order; `data` is written already.
  const before = JSON.stringify({ account, at })
  const after = JSON.stringify({ key_id: keyId, kind, node, position, subject })
  return hash('sha256', `${previous}\n${before.slice(0, -1)},"data":${json},${after.slice(1)}`, 'hex')
}

/** Gives rows their places after a head, in order. @returns them, and the head that they make */
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

/** As JSON will bring it back: a member without a value is no member. */
function defined(data: AuditRow['data']): AuditRow['data'] {
  return Object.values(data).includes(undefined)
    ? Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))
    : data
}

/** What is wrong with a chain, and where. */
export interface ChainFault {
  node: string
  position: number
  problem: 'missing' | 'altered' | 'surplus'
}

/** Follows one chain row by row; rows are given in order of position. */
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
    // Goes on from what the row says of itself, so that one fault is told once.
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
