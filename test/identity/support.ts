/** A clock that moves when told to, and the rooms of identity wired as the gateway wires them. */
import type { Test } from 'tap'
import type { Clock } from '../../src/base/clock.js'
import { type Admission, createAdmission, type DenialReason } from '../../src/identity/admission.js'
import type { Actor } from '../../src/identity/caller.js'
import { generateKey } from '../../src/identity/key-format.js'
import { KeyService } from '../../src/identity/key-service.js'
import { createLastUsed, type LastUsed } from '../../src/identity/last-used.js'
import { createVerifier, type Verifier } from '../../src/identity/verify.js'
import { createLimiter } from '../../src/limits/limiter.js'
import type { KeyStore, Storage } from '../../src/storage/contracts/index.js'
import { createMemoryCounters } from '../../src/storage/memory/counters.js'
import { createMemoryStorage } from '../../src/storage/memory/storage.js'

export interface SteppedClock extends Clock {
  advance(ms: number): void
}

/** Both times move together, from origins that differ as real ones do. */
export function steppedClock(start = Date.UTC(2026, 0, 1)): SteppedClock {
  let passed = 0
  return {
    now: () => start + Math.floor(passed),
    monotonic: () => 5000 + passed,
    advance(ms) {
      passed += ms
    }
  }
}

export const operator: Actor = { accountId: 'default', scopes: ['*'] }

export interface House {
  clock: SteppedClock
  storage: Storage
  /** Lookups by prefix, in order; `gate` holds them up, `down` fails them. */
  lookups: string[]
  control: { gate: Promise<void> | undefined; down: boolean }
  verifier: Verifier
  lastUsed: LastUsed
  keys: KeyService
  admission: Admission
  denials: DenialReason[]
}

export function buildHouse(
  t: Test,
  options: { storage?: Storage; limits?: { live?: number; failures?: number }; staleKeysMs?: number } = {}
): House {
  const clock = steppedClock()
  const storage = options.storage ?? createMemoryStorage()
  const lookups: string[] = []
  const control: House['control'] = { gate: undefined, down: false }
  const keys: Pick<KeyStore, 'byPrefix'> = {
    async byPrefix(prefix) {
      lookups.push(prefix)
      // The row is read before the gate: what is held up is an answer that may have become stale.
      if (control.down) await storage.close()
      const row = await storage.keys.byPrefix(prefix)
      await control.gate
      return row
    }
  }
  const limits = {
    livePerMinute: options.limits?.live ?? 100,
    testPerMinute: 20,
    failedAuthPerAddressPerMinute: options.limits?.failures ?? 100,
    concurrentPerKey: 64
  }
  const verifier = createVerifier({ keys, clock, limits, staleKeysMs: options.staleKeysMs ?? 60_000 })
  const lastUsed = createLastUsed({ keys: storage.keys, clock })
  const service = new KeyService({
    keys: storage.keys,
    clock,
    lastUsed,
    audit: storage.audit,
    invalidate: (p) => verifier.invalidate(p)
  })
  const denials: DenialReason[] = []
  const admission = createAdmission({
    verifier,
    lastUsed,
    limiter: createLimiter({ counters: createMemoryCounters({ clock }) }),
    clock,
    docsUrl: '/docs',
    limits,
    denied: (reason) => denials.push(reason)
  })
  t.teardown(() => lastUsed.close().catch(() => {}))
  return { clock, storage, lookups, control, verifier, lastUsed, keys: service, admission, denials }
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A key with the prefix of one that exists, and another secret: each random byte below 248 is one character. */
export function sibling(of: string): string {
  const text = of.slice(9, 17) + generateKey('live').slice(18, 60)
  let at = 0
  return generateKey('live', (n) => Uint8Array.from({ length: n }, () => digits.indexOf(text[at++ % text.length]!)))
}
