/**
 * The service of constitutions: stores versions and activates them (docs/api.md, section 5), for the API and the
 * command. Constitutions judge all traffic, so they belong to the account that operates the gateway; other accounts see
 * none.
 */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import type { Actor } from '../identity/caller.js'
import type { Problem } from '../policy/constitution/problems.js'
import { isShipped, readShipped } from '../policy/constitution/shipped.js'
import type { ConstitutionOrigin, ConstitutionState, ConstitutionStore } from '../storage/contracts/constitutions.js'
import type { AuditStore } from '../storage/contracts/index.js'
import { digestOf } from './digest.js'
import type { Enforcement } from './enforcement.js'
import { notFit } from './faults.js'
import {
  type ActivationRecord,
  activationRecord,
  type ConstitutionRecord,
  constitutionRecord,
  type VersionRecord,
  versionRecord
} from './record.js'

export interface ConstitutionServiceDeps {
  store: ConstitutionStore
  /** The account whose constitutions judge. */
  account: string
  audit: Pick<AuditStore, 'append'>
  clock: Clock
  enforcement: Enforcement
  /** Recorded with every stored version and activation of this service. */
  origin: ConstitutionOrigin
  /** Notifies the other processes on this storage of a stored or activated version. */
  changed?(): Promise<void>
  /** Resolves when the other processes on this storage have read a version, or after a time-out. */
  prepareOthers?(name: string, version: number): Promise<void>
}

/** With the active version's own record and text, where one is active. */
export type ActiveConstitution = ConstitutionRecord &
  Partial<Omit<VersionRecord, keyof ConstitutionRecord> & { source: string }>

export interface Page {
  limit?: number | undefined
  /** The last `next_cursor`. */
  cursor?: string | undefined
}

export const constitutionName = /^[a-z0-9][a-z0-9_-]{0,63}$/
/** Most names (not versions): a mistyped name stays forever. */
const maxNames = 100
const defaultPage = 100

export class ConstitutionService {
  readonly #deps: ConstitutionServiceDeps

  constructor(deps: ConstitutionServiceDeps) {
    this.#deps = deps
  }

  async list(actor: Actor): Promise<{ constitutions: ConstitutionRecord[] }> {
    const { store, account } = this.#deps
    if (actor.accountId !== account) return { constitutions: [] }
    const states = await store.states(account)
    return { constitutions: await Promise.all(states.map((state) => this.#record(state))) }
  }

  /** The version in force, with its text. */
  async get(actor: Actor, name: string): Promise<ActiveConstitution> {
    const state = await this.#find(actor, name)
    const record = await this.#record(state)
    return state.active === null ? record : { ...(await this.version(actor, name, state.active)), ...record }
  }

  /**
   * What to compare another constitution with: the version in force, or else the shipped constitution of this name,
   * which no route needs to name for it.
   * @returns nothing where the name is stored, no version is in force, and none ships
   */
  async yardstick(actor: Actor, name: string): Promise<{ version?: number | 'shipped'; source?: string }> {
    this.#requireOwner(actor)
    const [state] = await this.#deps.store.states(this.#deps.account, name)
    if (typeof state?.active === 'number') return this.version(actor, name, state.active)
    if (isShipped(name)) return { version: 'shipped', source: readShipped(name) }
    if (state === undefined) throw notFound()
    return {}
  }

  /** Newest first, without texts. */
  async versions(
    actor: Actor,
    name: string,
    page: Page = {}
  ): Promise<{ versions: VersionRecord[]; next_cursor?: string }> {
    const { active } = await this.#find(actor, name)
    const { store, account } = this.#deps
    const { shown, next_cursor } = await paged(
      page,
      (range) => store.versions(account, name, range),
      ({ version }) => version
    )
    return { versions: shown.map((version) => versionRecord(version, active)), ...next_cursor }
  }

  async version(actor: Actor, name: string, version: number): Promise<VersionRecord & { source: string }> {
    const { active } = await this.#find(actor, name)
    const row = await this.#deps.store.get(this.#deps.account, name, version)
    if (row === undefined) throw new Fault('not_found', { message: `There is no version ${version} of ${name}.` })
    return { ...versionRecord(row, active), source: row.source }
  }

  /** Newest first. */
  async activations(
    actor: Actor,
    name: string,
    page: Page = {}
  ): Promise<{ activations: ActivationRecord[]; next_cursor?: string }> {
    await this.#find(actor, name)
    const { store, account } = this.#deps
    const { shown, next_cursor } = await paged(
      page,
      (range) => store.activations(account, name, range),
      ({ seq }) => seq
    )
    return { activations: shown.map(activationRecord), ...next_cursor }
  }

  /**
   * Stores a new version without activating it. A text equal to the latest version returns that version, without
   * warnings.
   * @throws Fault `validation_error` with every problem of the text
   */
  async put(
    actor: Actor,
    name: string,
    { source: given, note }: { source: string; note?: string | undefined }
  ): Promise<{ created: boolean; version: VersionRecord; warnings: readonly Problem[] }> {
    this.#requireOwner(actor)
    if (!constitutionName.test(name)) throw notFound()
    const { store, account, clock, enforcement, audit, origin } = this.#deps
    // Normalised, since invalid UTF-16 would come back from the store as another text.
    const source = Buffer.from(given).toString()
    const digest = digestOf(source)
    const states = await store.states(account)
    const state = states.find((one) => one.name === name)
    if (state === undefined && states.length >= maxNames) {
      throw invalid('', 'out_of_range', `There are ${maxNames} constitutions already; store a version of one of them.`)
    }
    const [latest] = await store.versions(account, name, { limit: 1 })
    if (latest?.digest === digest)
      return { created: false, version: versionRecord(latest, state?.active ?? null), warnings: [] }
    const policy = await enforcement.read(source, name).catch((error: unknown) => {
      throw notFit(error, 'source')
    })
    return enforcement.exclusive(async () => {
      const at = clock.now()
      const { version, created } = await store.add({
        account,
        name,
        declared: policy.constitution.version,
        digest,
        length: source.length,
        origin,
        note: note ?? null,
        createdAt: at,
        createdBy: actor.keyId ?? null,
        source
      })
      if (created) {
        enforcement.keep(name, version.version, policy)
        const data = { name, version: version.version, digest, origin }
        audit.append({ at, kind: 'constitution.stored', account, keyId: actor.keyId ?? null, subject: name, data })
        await this.#deps.changed?.()
      }
      const [{ active } = { active: null }] = await store.states(account, name)
      return { created, version: versionRecord(version, active), warnings: policy.constitution.warnings }
    })
  }

  /**
   * Puts a version in force: read and compiled in full, here and on the other nodes, then committed, then in force for
   * every call that begins later. A call under way ends with the version that it began with.
   * @throws Fault `not_found`, `active_changed`, or `validation_error` where the stored text is not fit to judge
   */
  async activate(
    actor: Actor,
    name: string,
    { version, if_active: ifActive }: { version: number; if_active?: number | null | undefined }
  ): Promise<{ changed: boolean; previous: number | null; constitution: ConstitutionRecord }> {
    this.#requireOwner(actor)
    const { store, account, clock, enforcement, audit, origin } = this.#deps
    const { active } = await this.#find(actor, name)
    if (ifActive !== undefined && ifActive !== active) throw activeChanged(active)
    if (active !== version || enforcement.versionOf(name) !== version) {
      const prepared = enforcement.prepare(name, version).catch((error: unknown) => {
        throw notFit(error, 'version')
      })
      await Promise.all([prepared, this.#deps.prepareOthers?.(name, version)])
    }
    return enforcement.exclusive(async () => {
      const state = await this.#find(actor, name)
      const isInForce = state.active === version && enforcement.versionOf(name) === version
      const policy = isInForce ? undefined : await enforcement.prepare(name, version)
      const at = clock.now()
      const by = actor.keyId ?? null
      const outcome = await store.activate({ account, name, to: version, ifActive, at, by, origin })
      if (outcome.outcome === 'absent')
        throw new Fault('not_found', { message: `There is no version ${version} of ${name}.` })
      if (outcome.outcome === 'other') throw activeChanged(outcome.from)
      if (policy !== undefined) enforcement.put(policy, version, state)
      const changed = outcome.outcome === 'activated'
      if (changed) {
        const data = {
          name,
          from: outcome.from,
          to: version,
          digest: policy && digestOf(policy.constitution.source),
          origin
        }
        audit.append({ at, kind: 'constitution.activated', account, keyId: by, subject: name, data })
        await this.#deps.changed?.()
      }
      const constitution = await this.#record(await this.#find(actor, name))
      return { changed, previous: outcome.from, constitution }
    })
  }

  async #record(state: ConstitutionState): Promise<ConstitutionRecord> {
    const { store, account, enforcement } = this.#deps
    const [active] =
      state.active === null ? [] : await store.versions(account, state.name, { before: state.active + 1, limit: 1 })
    const { name } = state
    return constitutionRecord(state, active, enforcement.versionOf(name) === state.active, enforcement.baseOf(name))
  }

  async #find(actor: Actor, name: string): Promise<ConstitutionState> {
    this.#requireOwner(actor)
    const [state] = await this.#deps.store.states(this.#deps.account, name)
    if (state === undefined) throw notFound()
    return state
  }

  #requireOwner({ accountId }: Actor): void {
    if (accountId !== this.#deps.account) throw notFound()
  }
}

async function paged<T>(
  { limit = defaultPage, cursor }: Page,
  read: (range: { before?: number | undefined; limit: number }) => Promise<T[]>,
  numberOf: (row: T) => number
): Promise<{ shown: T[]; next_cursor: { next_cursor?: string } }> {
  if (cursor !== undefined && !/^[1-9]\d{0,14}$/.test(cursor)) {
    throw invalid('query.cursor', 'invalid_format', 'cursor must be a next_cursor of an earlier answer.')
  }
  // One more than asked for tells whether there is a next page.
  const rows = await read({ before: cursor === undefined ? undefined : Number(cursor), limit: limit + 1 })
  const shown = rows.slice(0, limit)
  return { shown, next_cursor: rows.length > shown.length ? { next_cursor: String(numberOf(shown.at(-1)!)) } : {} }
}

function notFound(): Fault {
  return new Fault('not_found', { message: 'There is no such constitution.' })
}

function activeChanged(active: number | null): Fault {
  return new Fault('active_changed', { fields: { active } })
}
