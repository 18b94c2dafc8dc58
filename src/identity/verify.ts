/**
 * Verifies keys: one indexed lookup, then a cache of a few seconds. Time limits (expiry, end of a grace) are checked at
 * every use. A change in this process drops the cached key at once, a change of another node when its notice arrives. A
 * change without a notice (the command line beside a running server) takes effect when the entry ages out.
 */
import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.js'
import type { KeyRow, KeyStore } from '../storage/contracts/index.js'
import { type AddressMatcher, compileAddressList } from './address.js'
import type { Caller } from './caller.js'
import { type ParsedKey, shownPrefix } from './key-format.js'
import { keyStatus } from './key-record.js'
import { isScope } from './scopes.js'

/**
 * Together with `patienceMs` below the 5 s within which a revocation without notice must take effect (docs/keys.md).
 */
const freshMs = 3500
/** How long a prefix stays unknown, so that a flood of one made-up key costs one lookup a second. */
const absentMs = 1000
/** While the storage is down, how long a stale key is honoured before the storage is asked again. */
const retryMs = 1000
/** A storage slower than this counts as down for keys that are cached well enough. */
const patienceMs = 1000
const maxKnown = 20_000
const maxAbsent = 10_000

export interface Verified {
  caller: Caller
  /** Undefined: the key has no list, every address is allowed. */
  allows: AddressMatcher | undefined
}

export interface Verifier {
  /**
   * Undefined: unknown, wrong, revoked, expired or past its grace; callers do not learn which. Synchronous where the
   * key is cached. Rejects with the Fault `storage_unavailable` where the storage is down and the key is not known well
   * enough.
   */
  verify(key: ParsedKey): Verified | undefined | Promise<Verified | undefined>
  /** Whether this very key, secret included, was seen here lately: it gets a lookup even if its address is flooded. */
  recognises(key: ParsedKey): boolean
  /** Forgets a key; call it when a key was created or changed, before anyone is told. */
  invalidate(prefix: string): void
  /** Makes every key be looked up again at its next use, since a change elsewhere was missed. */
  invalidateAll(): void
}

interface Entry {
  row: KeyRow
  verified: Verified
  /** Monotonic ms at which the lookup began: a change after that moment may be missing. */
  loadedAt: number
  freshUntil: number
}

/** Whether a promise is still open after some time. */
function isLate(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms)
    const inTime = () => {
      clearTimeout(timer)
      resolve(false)
    }
    work.then(inTime, inTime)
  })
}

export interface VerifierDeps {
  keys: Pick<KeyStore, 'byPrefix'>
  clock: Clock
  /** Read at each lookup, so that a reload of the settings is in force within seconds. */
  limits: { readonly livePerMinute: number; readonly testPerMinute: number; readonly concurrentPerKey: number }
  /** How long known keys are honoured while the storage is down, ms. */
  staleKeysMs: number
}

export function createVerifier({ keys, clock, limits, staleKeysMs }: VerifierDeps): Verifier {
  const known = new LRUCache<string, Entry>({ max: maxKnown })
  /** Prefix to the monotonic ms until which it is taken as absent. */
  const absent = new LRUCache<string, number>({ max: maxAbsent })
  /** The same for prefixes that exist, with a key that fails. */
  const refused = new LRUCache<string, number>({ max: maxAbsent })
  const loading = new Map<string, Promise<Entry | undefined>>()
  const nobody = Buffer.alloc(32)

  function verifiedOf(row: KeyRow): Verified {
    const perMinute = row.environment === 'live' ? limits.livePerMinute : limits.testPerMinute
    const caller: Caller = Object.freeze({
      keyId: row.keyId,
      accountId: row.account,
      scopes: Object.freeze(row.scopes.filter(isScope)),
      environment: row.environment,
      lineage: row.lineage,
      roots: Object.freeze([...row.roots]),
      limitPerMinute: row.rateLimitPerMinute ?? perMinute,
      maxConcurrent: row.maxConcurrent ?? limits.concurrentPerKey,
      prefix: shownPrefix(row.environment, row.prefix)
    })
    return { caller, allows: row.ipAllowlist.length === 0 ? undefined : compileAddressList(row.ipAllowlist) }
  }

  function check(entry: Entry | undefined, key: ParsedKey): Verified | undefined {
    // An absent key is compared too, so that its answer takes as long as a wrong one's.
    const matches = timingSafeEqual(entry?.row.hash ?? nobody, key.hash)
    if (!entry || !matches) return undefined
    const status = keyStatus(entry.row, clock.now())
    return status === 'active' || status === 'retiring' ? entry.verified : undefined
  }

  /** A key that is known well enough to be honoured while the storage is down, for a while longer. */
  function prolong(prefix: string): Entry | undefined {
    const entry = known.get(prefix)
    const now = clock.monotonic()
    if (!entry || now - entry.loadedAt > staleKeysMs) return undefined
    entry.freshUntil = Math.min(now + retryMs, entry.loadedAt + staleKeysMs)
    return entry
  }

  /** One lookup at a time for each prefix, whoever asks. */
  function load(prefix: string): Promise<Entry | undefined> {
    const running = loading.get(prefix)
    if (running) return running
    const begun = clock.monotonic()
    // An invalidation takes the lookup out of `loading`: what it then brings was read before the change, perhaps. It
    // answers those who asked before the change and is never cached for those who ask after it.
    const isCurrent = () => loading.get(prefix) === lookup
    const lookup = keys
      .byPrefix(prefix)
      .then(
        (row) => {
          if (!row) {
            if (isCurrent()) {
              known.delete(prefix)
              absent.set(prefix, begun + absentMs)
            }
            return undefined
          }
          const entry = { row, verified: verifiedOf(row), loadedAt: begun, freshUntil: begun + freshMs }
          if (isCurrent()) known.set(prefix, entry)
          return entry
        },
        (error) => {
          const entry = prolong(prefix)
          if (entry === undefined) throw error
          return entry
        }
      )
      .finally(() => {
        if (isCurrent()) loading.delete(prefix)
      })
    loading.set(prefix, lookup)
    return lookup
  }

  /**
   * A key that fails although its prefix is cached is looked up like one whose prefix is unknown, as often: how long a
   * refusal takes would otherwise tell which prefixes exist.
   */
  function refuse(prefix: string, now: number): Promise<undefined> | undefined {
    if (now < (refused.get(prefix) ?? now)) return undefined
    refused.set(prefix, now + absentMs)
    const nothing = () => undefined
    return keys.byPrefix(prefix).then(nothing, nothing)
  }

  return {
    verify(key) {
      const now = clock.monotonic()
      const entry = known.get(key.prefix)
      if (entry && now < entry.freshUntil) return check(entry, key) ?? refuse(key.prefix, now)
      if (now < (absent.get(key.prefix) ?? now)) return check(undefined, key)
      const lookup = load(key.prefix)
      if (entry === undefined) return lookup.then((entry) => check(entry, key))
      return isLate(lookup, patienceMs)
        .then((late) => (late ? prolong(key.prefix) : undefined) ?? lookup)
        .then((entry) => check(entry, key))
    },
    recognises(key) {
      const entry = known.get(key.prefix)
      return entry !== undefined && timingSafeEqual(entry.row.hash, key.hash)
    },
    invalidate(prefix) {
      known.delete(prefix)
      absent.delete(prefix)
      loading.delete(prefix)
    },
    invalidateAll() {
      // Kept, but not fresh: while the storage is down they are known as well as before.
      for (const entry of known.values()) entry.freshUntil = 0
      absent.clear()
      loading.clear()
    }
  }
}
