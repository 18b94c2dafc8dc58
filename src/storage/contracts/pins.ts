/**
 * What the definitions of MCP servers were when they were let through: a tool, a prompt, a resource, the instructions of a
 * server. `index.ts` says what holds for every contract.
 */

export const pinKinds = ['tool', 'prompt', 'resource', 'template', 'instructions'] as const
export type PinKind = (typeof pinKinds)[number]

export interface PinRow {
  /** Hash of the four fields that follow: what its texts are sealed for. */
  pinId: string
  account: string
  /** Its name in the configuration. */
  server: string
  kind: PinKind
  /** Of a tool or a prompt, its name; of a resource or a template, its address; empty for instructions. */
  name: string
  /** SHA-256 of the definition that holds, hex; empty until a person has permitted the first one. */
  digest: string
  /** That definition; null where there is none. */
  sealedDefinition: Uint8Array | null
  /** True where a person has permitted it, whatever a verdict says of it. */
  isPermitted: boolean
  /** SHA-256 of what the server says now, where that waits for a person; null where nothing does. */
  pendingDigest: string | null
  sealedPending: Uint8Array | null
  changedAt: number
}

export interface PinStore {
  /** Those of the ids that are kept, in no order; at most 1,000 ids. */
  find(pinIds: readonly string[]): Promise<PinRow[]>
  /** The names of every tool that is pinned, of all servers of the account, at most `limit`. */
  toolNames(account: string, limit: number): Promise<{ server: string; name: string }[]>
  /**
   * Stores those that are not kept yet, as long as one server has no more than `most`; of two that store one at a time the
   * first counts.
   * @returns those of the rows as they stand now; without those for which there was no room
   */
  add(rows: readonly PinRow[], most: number): Promise<PinRow[]>
  /** Compare and set: replaces a row that still has these digests; false where it has others by now. */
  replace(row: PinRow, from: Pick<PinRow, 'digest' | 'pendingDigest'>): Promise<boolean>
}
