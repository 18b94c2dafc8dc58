/** The contract of the store of data keys, which seal stored texts. `index.ts` has the rules of all contracts. */

/** `coming`: unseals already, but does not seal yet. `leaving`: still unseals, but no longer seals. */
export type DataKeyState = 'coming' | 'current' | 'leaving'

/** A data key in the store: texts sealed with it, and never the key in the clear. */
export interface DataKeyRow {
  /** See `sealing/seal.ts`. */
  keyId: string
  state: DataKeyState
  /** The keys for other purposes, sealed with this key. A key that cannot open it is a wrong one. */
  sealedSecrets: Uint8Array
  /** The key itself, sealed with the other key of a rotation, so that one gives both. Null outside of a rotation. */
  sealedKey: Uint8Array | null
  createdAt: number
}

/** The place of a sealed text. */
export interface SealedPlace {
  /** Among the columns that hold sealed texts, in a fixed order. */
  column: number
  id: string
}

/** @param field field of the object with that id, to which the text is bound */
export type Reseal = (sealed: Uint8Array, text: { id: string; field: string }) => Uint8Array

export interface DataKeyStore {
  /** The oldest first; two at most. */
  list(): Promise<DataKeyRow[]>
  /** Stores the first key of a store; false where it has one. Concurrent starts agree on one key. */
  first(row: DataKeyRow): Promise<boolean>
  /**
   * Begins a rotation, where none is under way: stores the coming key, and the current one sealed with it.
   * False where one is.
   */
  begin(coming: DataKeyRow, current: Pick<DataKeyRow, 'keyId' | 'sealedKey'>): Promise<boolean>
  /** Makes the coming key current, and the current one leaving. False where no such key is coming. */
  promote(keyId: string): Promise<boolean>
  /** Deletes the leaving key for good. False where no such key leaves. */
  retire(keyId: string): Promise<boolean>
  /** Any sealed text of the store; undefined where there is none. */
  anySealed(): Promise<Uint8Array | undefined>
  /**
   * Reseals texts that begin with a prefix, at most `limit` of one column in one transaction; a text that changes
   * meanwhile is skipped.
   * @returns their number, and the place to continue after; undefined at the end
   */
  reseal(
    prefix: Uint8Array,
    page: { after: SealedPlace | undefined; limit: number },
    reseal: Reseal
  ): Promise<{ texts: number; last: SealedPlace } | undefined>
  /** Number of texts that begin with a prefix. */
  count(prefix: Uint8Array): Promise<number>
}
