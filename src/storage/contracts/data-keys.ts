/** The contract of what is kept of the data keys, by which stored texts are sealed. `index.ts` says what holds for every contract. */

/** `coming`: opens already and does not seal yet. `leaving`: opens still and does not seal any more. */
export type DataKeyState = 'coming' | 'current' | 'leaving'

/** A data key as the store knows it: what it seals, and never itself in the clear. */
export interface DataKeyRow {
  /** See `sealing/seal.ts`. */
  keyId: string
  state: DataKeyState
  /** What every key of this store seals alike: the keys for other purposes. A key that does not open it is another one. */
  sealedSecrets: Uint8Array
  /** The key itself, sealed with the other one of a rotation: whoever holds one holds both. Null outside of one. */
  sealedKey: Uint8Array | null
  createdAt: number
}

/** Where a sealed text stands. */
export interface SealedPlace {
  /** Among the columns that hold sealed texts, in a fixed order. */
  column: number
  id: string
}

/** @param field of the object with that id: what the text is bound to */
export type Reseal = (sealed: Uint8Array, text: { id: string; field: string }) => Uint8Array

export interface DataKeyStore {
  /** The oldest first; two at most. */
  list(): Promise<DataKeyRow[]>
  /** Stores the first key of a store; false where it has one. Two processes that start agree on one. */
  first(row: DataKeyRow): Promise<boolean>
  /**
   * Begins a rotation, where none is under way: stores the coming key, and the current one sealed with it.
   * False where one is.
   */
  begin(coming: DataKeyRow, current: Pick<DataKeyRow, 'keyId' | 'sealedKey'>): Promise<boolean>
  /** The coming key is current from now on, and the current one leaves. False where no such key is coming. */
  promote(keyId: string): Promise<boolean>
  /** Forgets the key that leaves; nothing opens it any more. False where no such key leaves. */
  retire(keyId: string): Promise<boolean>
  /** Any sealed text of the store; undefined where there is none. */
  anySealed(): Promise<Uint8Array | undefined>
  /**
   * Seals texts anew that begin with a prefix, at most `limit` of one column in one transaction; one that is changed at
   * the same time stays as it is then.
   * @returns how many, and the place to go on after; undefined where there is nothing more
   */
  reseal(
    prefix: Uint8Array,
    page: { after: SealedPlace | undefined; limit: number },
    reseal: Reseal
  ): Promise<{ texts: number; last: SealedPlace } | undefined>
  /** How many texts begin with a prefix. */
  count(prefix: Uint8Array): Promise<number>
}
