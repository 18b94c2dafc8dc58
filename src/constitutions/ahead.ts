/**
 * Prepares versions before their activation, so that all nodes can change over at the same moment: reading and
 * compiling a large constitution takes a second, and several on a busy machine.
 */
import { LRUCache } from 'lru-cache'
import type { Policy } from '../policy/match/compile.js'
import { createQueue } from './queue.js'

/** The newest version and its predecessor, for a rollback, of two constitutions. Each may take some megabytes. */
const most = 4
/** Time in which a stored version is usually tried, activated or rolled back; then the memory is freed. */
const keptMs = 600_000

export interface Ahead {
  /** The policy, read if necessary, one at a time. @throws the errors of `load`; the next call tries again */
  policy(name: string, version: number): Promise<Policy>
  keep(name: string, version: number, policy: Policy): void
  /** Runs another reading in the same queue. */
  inTurn(read: () => Promise<Policy>): Promise<Policy>
  /** Drops all policies, since the configured judges changed. */
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
