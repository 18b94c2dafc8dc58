/**
 * Records the last use of each key: collected in memory and stored every few seconds, so that a request costs no write.
 */
import type { Clock } from '../base/clock.js'
import type { KeyStore } from '../storage/contracts/index.js'

export interface LastUsed {
  mark(keyId: string): void
  /** A use that is not stored yet, ms. */
  pending(keyId: string): number | undefined
  /** Stores the collected times; after a failure they are kept for the next flush. */
  flush(): Promise<void>
  /** Stops the timer and flushes. */
  close(): Promise<void>
}

export function createLastUsed({
  keys,
  clock,
  intervalMs = 5000
}: {
  keys: Pick<KeyStore, 'touch'>
  clock: Clock
  intervalMs?: number
}): LastUsed {
  let uses = new Map<string, number>()
  let storing = new Map<string, number>()

  async function flush(): Promise<void> {
    if (uses.size === 0 || storing.size > 0) return
    storing = uses
    uses = new Map()
    try {
      await keys.touch(storing)
    } catch (error) {
      uses = new Map([...storing, ...uses])
      throw error
    } finally {
      storing = new Map()
    }
  }

  // A failure is kept for the next round; the storage's own health is reported elsewhere.
  const timer = setInterval(() => flush().catch(() => {}), intervalMs)
  timer.unref()

  return {
    mark: (keyId) => void uses.set(keyId, clock.now()),
    pending: (keyId) => uses.get(keyId) ?? storing.get(keyId),
    flush,
    async close() {
      clearInterval(timer)
      await flush()
    }
  }
}
