/**
 * The contract of the store of pins: definitions of MCP servers as they were permitted (tools, prompts, resources,
 * instructions). `index.ts` has the rules of all contracts.
 */

export const pinKinds = ['tool', 'prompt', 'resource', 'template', 'instructions'] as const
export type PinKind = (typeof pinKinds)[number]

export interface PinRow {
  /** Hash of the four following fields; its texts are sealed for it. */
  pinId: string
  account: string
  /** Its name in the configuration. */
  server: string
  kind: PinKind
  /** Name of a tool or prompt, address of a resource or template; empty for instructions. */
  name: string
  /** SHA-256 of the valid definition, hex; empty until a person has permitted the first one. */
  digest: string
  /** That definition; null where there is none. */
  sealedDefinition: Uint8Array | null
  /** True where a person has permitted it, regardless of verdicts. */
  isPermitted: boolean
  /** SHA-256 of a changed definition that waits for a person; null without one. */
  pendingDigest: string | null
  sealedPending: Uint8Array | null
  changedAt: number
}

export interface PinStore {
  /** The stored pins among these ids, in no order; at most 1,000 ids. */
  find(pinIds: readonly string[]): Promise<PinRow[]>
  /** The names of every tool that is pinned, of all servers of the account, at most `limit`. */
  toolNames(account: string, limit: number): Promise<{ server: string; name: string }[]>
  /**
   * Stores new pins, at most `most` per server; of concurrent writers the first wins.
   * @returns the stored rows, without those for which there was no room
   */
  add(rows: readonly PinRow[], most: number): Promise<PinRow[]>
  /** Compare and set: replaces a row that still has these digests; false otherwise. */
  replace(row: PinRow, from: Pick<PinRow, 'digest' | 'pendingDigest'>): Promise<boolean>
}
