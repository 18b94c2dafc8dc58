/**
 * Hands: the people and keys that could hold the secret of a key. Where two hands are required, the question is who
 * could have acted, not which id did.
 *
 * A root is a person, or a key that no other hand of the API has seen: made on the command line, at the first start, or
 * before descent was kept. Whoever creates or rotates a key over the API is shown its secret. So a new key has the
 * roots of its creator, and a rotated one those of the key before it and of whoever rotated it: its owner goes on with
 * it, and who rotated it knows it. With that, the roots of a key name everyone who could hold it, and two keys are in
 * two hands only where they share no root: then nobody who could hold the one could hold the other by an act of the
 * API. Roots never change after a key is stored, so that they are known in one look-up however long the descent is.
 */
import type { KeyStore } from '../storage/contracts/keys.js'

/** A key or a person, as a hand. */
export interface Hand {
  /** For a person, the person. It counts as a root too, since keys of earlier versions have none. */
  readonly lineage: string
  /** Ids of people, and of the first keys of chains. */
  readonly roots: readonly string[]
}

/** The common roots of two hands; empty: they are separate. */
export function sharedRoots(one: Hand, other: Hand): string[] {
  const held = new Set([one.lineage, ...one.roots])
  return [...new Set([other.lineage, ...other.roots])].filter((root) => held.has(root))
}

/** Roots of a rotated key: those of the old key, and of the rotator, who sees the new one. */
export function joinedRoots(old: Hand, rotator: Hand | undefined): string[] {
  return [...new Set([...old.roots, ...(rotator?.roots ?? [])])]
}

export interface Hands {
  /** The hand of a key's or person's id, as stored in reviews, exceptions and the audit. */
  of(account: string, id: string): Promise<Hand>
}

export function createHands(keys: Pick<KeyStore, 'get'>): Hands {
  return {
    async of(account, id) {
      const row = id.startsWith('key_') ? await keys.get(account, id) : undefined
      return row === undefined ? { lineage: id, roots: [id] } : { lineage: row.lineage, roots: row.roots }
    }
  }
}
