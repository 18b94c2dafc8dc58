/**
 * The service of keys: create, list, revoke and rotate (docs/api.md, section 3), for the API, the command line and the
 * start.
 */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import { isId } from '../base/ids.js'
import { Conflict } from '../storage/contracts/failure.js'
import type { AuditStore, DeliveryRow, KeyRow, KeyStore } from '../storage/contracts/index.js'
import type { Actor, KeyRecord, KeyStatus } from './caller.js'
import { joinedRoots } from './hands.js'
import { generateKey, parseKey } from './key-format.js'
import { type CreateKeyInput, type NewKey, readKeyInput, readTerms } from './key-input.js'
import { keyRecord, keyStatus } from './key-record.js'
import { type NewRow, newRow, rowOf } from './key-rows.js'
import type { LastUsed } from './last-used.js'
import { holds, insufficientScope } from './scopes.js'

export type { CreateKeyInput } from './key-input.js'

/** How long a replaced key still works. */
export const graceMs = 5 * 60_000
/** The account of the first key. */
export const firstAccount = 'default'

/** Random prefixes of 62^8 almost never collide; repeated collisions mean a faulty random source. */
const attempts = 3

const rotationFaults = {
  retiring: 'key_retiring',
  revoked: 'key_revoked',
  expired: 'key_expired'
} as const satisfies Record<Exclude<KeyStatus, 'active'>, string>

export interface KeyServiceDeps {
  keys: KeyStore
  clock: Clock
  /** Removes the key from every verifier's cache; a change is reported only after this. */
  invalidate(prefix: string): void | Promise<void>
  lastUsed?: Pick<LastUsed, 'pending'> | undefined
  audit: Pick<AuditStore, 'append'>
  /** Address of the gateway's terms of use. Default: none. */
  termsUrl?: (() => string | undefined) | undefined
  /** Webhook messages about a key that rotates itself. Default: none. */
  notices?: ((rotation: SelfRotation) => DeliveryRow[]) | undefined
  /** Called when the webhook's outbox has new messages. */
  noticed?: (() => void) | undefined
}

/** A key rotated itself. A thief of a leaked key could lock out its owner this way, so the owner is notified. */
export interface SelfRotation {
  old: KeyRow
  successor: KeyRow
  at: number
  graceEndsAt: number
}

/** `ignored`: a bootstrap key was given although the store has keys. */
export type FirstKey = { created: true; key: string; record: KeyRecord } | { created: false; ignored: boolean }

export class KeyService {
  readonly #deps: KeyServiceDeps

  constructor(deps: KeyServiceDeps) {
    this.#deps = deps
  }

  /** The full key appears in this answer only. */
  async create(actor: Actor, input: CreateKeyInput): Promise<{ key: string; record: KeyRecord }> {
    if (!holds(actor.scopes, '*')) throw insufficientScope('*', actor.scopes)
    const now = this.#deps.clock.now()
    const wanted = readKeyInput(input, now)
    for (const scope of wanted.scopes) {
      if (!holds(actor.scopes, scope)) throw insufficientScope(scope, actor.scopes)
    }
    const descent = { createdBy: actor.keyId ?? null, roots: actor.keyId === undefined ? undefined : actor.roots }
    const terms = readTerms(input, { url: this.#deps.termsUrl?.(), at: now, by: actor.keyId ?? null })
    const { key, row } = await this.#store(
      () => newRow(actor.accountId, { ...wanted, ...terms }, now, descent),
      (row) => this.#deps.keys.insert(row)
    )
    const { name, environment, scopes, roots } = row
    this.#audit('key.created', actor, row.keyId, { name, environment, scopes, roots, terms: row.termsUrl })
    return { key, record: this.#record(row) }
  }

  /** Complete without a limit; a key without `*` lists only itself. `cursor` is exclusive: the last `next_cursor`. */
  async list(
    actor: Actor,
    page: { limit?: number | undefined; cursor?: string | undefined; lineage?: string | undefined } = {}
  ): Promise<{ keys: KeyRecord[]; next_cursor?: string }> {
    const { limit, cursor, lineage } = page
    if (cursor !== undefined && !isId('key', cursor)) {
      throw invalid('query.cursor', 'invalid_format', 'cursor must be a next_cursor of an earlier answer.')
    }
    if (!holds(actor.scopes, '*')) {
      const own = actor.keyId === undefined ? [] : [await this.get(actor, actor.keyId)]
      return { keys: own.filter((record) => lineage === undefined || record.lineage === lineage) }
    }
    // One more than asked for tells whether there is a next page.
    const after = { lineage, after: cursor, limit: limit === undefined ? undefined : limit + 1 }
    const rows = await this.#deps.keys.list(actor.accountId, after)
    const shown = rows.slice(0, limit)
    const keys = shown.map((row) => this.#record(row))
    return rows.length > shown.length ? { keys, next_cursor: shown.at(-1)!.keyId } : { keys }
  }

  async get(actor: Actor, keyId: string): Promise<KeyRecord> {
    return this.#record(await this.#authorised(actor, keyId))
  }

  /** Final, and in force when this resolves. A revoked key is returned unchanged. */
  async revoke(actor: Actor, keyId: string): Promise<KeyRecord> {
    const { keys, clock, invalidate } = this.#deps
    const { prefix } = await this.#authorised(actor, keyId)
    try {
      const row = await keys.revoke(actor.accountId, keyId, clock.now())
      if (!row) throw new Fault('not_found')
      this.#audit('key.revoked', actor, keyId, {})
      return this.#record(row)
    } finally {
      // Also after a storage failure, since it may have committed.
      await invalidate(prefix)
    }
  }

  /** Ends every key of a chain of rotations at once, so that an owner can recover from a stranger's rotation. */
  async revokeLineage(actor: Actor, lineage: string): Promise<{ keys: KeyRecord[] }> {
    if (!holds(actor.scopes, '*')) throw insufficientScope('*', actor.scopes)
    const { keys, clock, invalidate } = this.#deps
    const known = isId('key', lineage) ? await keys.list(actor.accountId, { lineage }) : []
    if (known.length === 0) throw new Fault('not_found', { message: 'There is no such lineage of keys.' })
    let rows: KeyRow[] = known
    try {
      rows = await keys.revokeLineage(actor.accountId, lineage, clock.now())
    } finally {
      for (const { prefix } of rows) await invalidate(prefix)
    }
    this.#audit('key.lineage_revoked', actor, lineage, { keys: rows.map(({ keyId }) => keyId) })
    return { keys: rows.map((row) => this.#record(row)) }
  }

  /** The old key works for 5 more minutes, or until its own expiry where that comes first. */
  async rotate(actor: Actor, keyId: string): Promise<{ key: string; record: KeyRecord; previous: KeyRecord }> {
    const { keys, clock, invalidate } = this.#deps
    const old = await this.#authorised(actor, keyId)
    const isSelf = actor.keyId === keyId
    if (isSelf && !old.selfRotation && !holds(actor.scopes, 'keys:rotate')) throw mayNotRotateItself(actor)
    const now = clock.now()
    throwUnlessActive(keyStatus(old, now))
    const roots = joinedRoots(old, actor.keyId === undefined ? undefined : actor)
    const graceEndsAt = Math.min(now + graceMs, old.expiresAt ?? Number.POSITIVE_INFINITY)
    try {
      let rotated = false
      const { key, row } = await this.#store(
        () => newRow(old.account, old, now, { lineage: old.lineage, createdBy: actor.keyId ?? null, roots }),
        async (row) => {
          const notices = isSelf ? this.#deps.notices?.({ old, successor: row, at: now, graceEndsAt }) : undefined
          rotated = await keys.rotate(old.account, keyId, now, graceEndsAt, row, notices)
        }
      )
      if (!rotated) {
        // Another call was faster: report the key's present state.
        throwUnlessActive(keyStatus(await this.#authorised(actor, keyId), now))
        throw new Fault('storage_unavailable', { internal: 'a rotation was refused although the key is active' })
      }
      if (isSelf) this.#deps.noticed?.()
      this.#audit('key.rotated', actor, keyId, { to: row.keyId, self: isSelf, roots })
      const previous = this.#record({ ...old, graceEndsAt, rotatedTo: row.keyId })
      return { key, record: this.#record(row), previous }
    } finally {
      await invalidate(old.prefix)
    }
  }

  /**
   * Where the store has no key at all, creates the account `default` and one key with scope `*`: the given one, or a
   * new live one. Never changes a store that has keys, so that no old key is revived.
   * @throws an Error where the given key is not well-formed; it does not quote the key
   */
  async ensureFirstKey({ bootstrapKey }: { bootstrapKey?: string | undefined } = {}): Promise<FirstKey> {
    const { keys, clock } = this.#deps
    const given = bootstrapKey === undefined ? undefined : parseKey(bootstrapKey)
    if (bootstrapKey !== undefined && !given) {
      throw new Error('the bootstrap key is not a well-formed key (slg_<live|test>_<8>_<48>, with its checksum)')
    }
    const ignored = bootstrapKey !== undefined
    if (!(await keys.isEmpty())) return { created: false, ignored }
    const key = bootstrapKey ?? generateKey('live')
    const { environment } = parseKey(key)!
    const wanted: NewKey = {
      name: 'first key',
      environment,
      scopes: ['*'],
      ipAllowlist: [],
      expiresAt: null,
      rateLimitPerMinute: null,
      maxConcurrent: null,
      selfRotation: true
    }
    const { row } = rowOf(key, firstAccount, wanted, clock.now())
    if (!(await keys.insertFirst(row))) return { created: false, ignored }
    await this.#deps.invalidate(row.prefix)
    this.#audit('key.created', { accountId: firstAccount }, row.keyId, { ...wanted, first: true })
    return { created: true, key, record: this.#record(row) }
  }

  /** A foreign key is absent; another key of the account is for holders of `*` only. */
  async #authorised(actor: Actor, keyId: string): Promise<KeyRow> {
    const row = isId('key', keyId) ? await this.#deps.keys.get(actor.accountId, keyId) : undefined
    if (!row) throw new Fault('not_found', { message: 'There is no such key.' })
    if (keyId !== actor.keyId && !holds(actor.scopes, '*')) throw insufficientScope('*', actor.scopes)
    return row
  }

  #audit(kind: string, by: Pick<Actor, 'accountId' | 'keyId'>, subject: string, data: Record<string, unknown>): void {
    const { audit, clock } = this.#deps
    audit.append({ at: clock.now(), kind, account: by.accountId, keyId: by.keyId ?? null, subject, data })
  }

  async #store(make: () => NewRow, insert: (row: KeyRow) => Promise<void>): Promise<NewRow> {
    for (let attempt = 1; ; attempt++) {
      const made = make()
      try {
        await insert(made.row)
        // Its prefix may be cached as absent.
        await this.#deps.invalidate(made.row.prefix)
        return made
      } catch (error) {
        if (!(error instanceof Conflict) || attempt === attempts) throw error
      }
    }
  }

  #record(row: KeyRow): KeyRecord {
    return keyRecord(row, this.#deps.clock.now(), this.#deps.lastUsed?.pending(row.keyId))
  }
}

function throwUnlessActive(status: KeyStatus): void {
  if (status !== 'active') throw new Fault(rotationFaults[status])
}

function mayNotRotateItself({ scopes }: Actor): Fault {
  return new Fault('insufficient_scope', {
    message:
      'This key may not rotate itself: self_rotation is false, and it lacks the scope keys:rotate. An administrator, a key with * or the command line may rotate it.',
    fields: { required: 'keys:rotate', available: [...scopes] }
  })
}
