/**
 * Versions that are read and compiled before anybody puts them in force, so that all nodes can change over at one moment:
 * to read a large constitution takes a second, and several on a busy machine.
 */
import { LRUCache } from 'lru-cache'
import type { Policy } from '../policy/match/compile.js'
import { createQueue } from './queue.js'

/** The newest version, and the one before for the way back, of two constitutions. Each may take some megabytes. */
const most = 4
/** Who stores a version tries it out and activates it, or takes it back, within this time; then the memory is given back. */
const keptMs = 600_000

export interface Ahead {
  /** The policy, read where it is not at hand. One is read at a time. @throws what `load` throws; it is tried again then */
  policy(name: string, version: number): Promise<Policy>
  keep(name: string, version: number, policy: Policy): void
  /** Reads something else, when nothing else is being read. */
  inTurn(read: () => Promise<Policy>): Promise<Policy>
  /** Everything was read for judges that are no longer the configured ones. */
  clear(): void
}

export function createAhead(load: (name: string, version: number) => Promise<Policy>): Ahead {
  const queue = createQueue()
  const ready = new LRUCache<string, Policy>({ max: most, ttl: keptMs, ttlAutopurge: true })
  const underWay = new Map<string, Promise<Policy>>()
  let generation = 0
  const keyOf = (name: string, version: number) => `${name}@${version}`

  return {
    policy(name, version) {
      const key = keyOf(name, version)
      const known = ready.get(key)
      if (known !== undefined) return Promise.resolve(known)
      const begun = underWay.get(key)
      if (begun !== undefined) return begun
      const readFor = generation
      const reading = queue
        .run(() => load(name, version))
        .then((policy) => {
          if (readFor === generation) ready.set(key, policy)
          return policy
        })
        .finally(() => {
          if (underWay.get(key) === reading) underWay.delete(key)
        })
      underWay.set(key, reading)
      return reading
    },
    inTurn: (read) => queue.run(read),
    keep: (name, version, policy) => void ready.set(keyOf(name, version), policy),
    clear() {
      generation++
      underWay.clear()
      ready.clear()
    }
  }
}
