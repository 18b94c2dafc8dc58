/**
 * Hands: who could hold the secret of a key. Where two hands are asked for, what counts is who could have acted, not which
 * id did.
 *
 * A root is a person, or a key that no other hand of the API has seen: made on the command line, at the first start, or
 * before descent was kept. Whoever creates or rotates a key over the API is shown its secret. So a new key has the roots
 * of its creator, and a rotated one those of the key before it and of whoever rotated it: its owner goes on with it, and
 * who rotated it knows it. With that, the roots of a key name everyone who could hold it, and two keys are in two hands
 * only where they share no root: then nobody who could hold the one could hold the other by an act of the API.
 * Roots never change after a key is stored, so that they are known in one look-up however long the descent is.
 */
import type { KeyStore } from '../storage/contracts/key-store.js'

/** A key or a person, as a hand. */
export interface Hand {
  /** Of a person, the person. Held by whoever holds any key of the chain, whichever version stored them. */
  readonly lineage: string
  /** Ids of people, and of the first keys of chains. */
  readonly roots: readonly string[]
}

/** What two hands have in common; empty: they are two. */
export function sharedRoots(one: Hand, other: Hand): string[] {
  const held = new Set([one.lineage, ...one.roots])
  return [...new Set([other.lineage, ...other.roots])].filter((root) => held.has(root))
}

/** Of a successor: whoever held the old key, and whoever is shown the new one. */
export function joinedRoots(old: Hand, rotator: Hand | undefined): string[] {
  return [...new Set([...old.roots, ...(rotator?.roots ?? [])])]
}

export interface Hands {
  /** The hand behind the id of a key or a person of an account, as reviews, exceptions and the audit keep it. */
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
