/**
 * The backends that administrators connect over the API. They belong to the account that operates the gateway. Backends
 * of the configuration take precedence; a change is in force on every process within two seconds.
 */
import type { Clock } from '../../base/clock.js'
import { Fault, invalid } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { Settings } from '../../base/settings.js'
import { isHttpPrefix } from '../../base/units.js'
import type { Actor } from '../../identity/caller.js'
import { type Seal, sealedFor } from '../../sealing/seal.js'
import type { AuditStore } from '../../storage/contracts/index.js'
import type { BackendApi, UpstreamRow, UpstreamStore } from '../../storage/contracts/upstreams.js'
import { modelsOf } from './models.js'

const lookEveryMs = 1_000

export interface ConnectedUpstreamsDeps {
  store: UpstreamStore
  seal: Seal
  /** The account that operates the gateway. */
  account: string
  audit: Pick<AuditStore, 'append'>
  clock: Clock
  settings(): Settings
  /** Told the error of each look for changes, or undefined where it succeeded. */
  rounds(error: unknown): void
}

/** A backend as it is shown: never its key. Times are ISO 8601 UTC. */
export interface ConnectedRecord {
  name: string
  from: 'configuration' | 'api'
  url: string
  /** Null: the configuration does not say. */
  api: BackendApi | null
  has_key: boolean
  /** Whether requests to its name reach it. */
  in_force: boolean
  /** Null: it is the configuration's. */
  version: number | null
  changed_at: string | null
  changed_by: string | null
}

/** A backend in force: its name, address and credential. */
export interface Connected {
  name: string
  url: string
  key: string | undefined
}

export class ConnectedUpstreams {
  readonly #deps: ConnectedUpstreamsDeps
  #reload: (() => Promise<void>) | undefined
  /** The connected backends of the gateway in force. */
  #inForce = ''
  #timer: NodeJS.Timeout | undefined

  constructor(deps: ConnectedUpstreamsDeps) {
    this.#deps = deps
  }

  /** Why none can be connected here; undefined where administrators may. */
  get closed(): string | undefined {
    if (this.#reload === undefined) return 'The application that the gateway is part of names its backends.'
    return this.#deps.settings().server.dashboardUpstreams
      ? undefined
      : 'The configuration names them: server.dashboard_upstreams is not true, and the listener is not on loopback.'
  }

  /** @param reload puts the configuration in force anew, with what `current` answers then */
  follow(reload: () => Promise<void>): void {
    this.#reload = reload
    this.#timer = setInterval(
      () => void this.#look().then(() => this.#deps.rounds(undefined), this.#deps.rounds),
      lookEveryMs
    )
    this.#timer.unref()
  }

  /** The connected backends for a new gateway with these settings. */
  async current(settings: Settings): Promise<Connected[]> {
    const rows = await this.#deps.store.newest(this.#deps.account)
    this.#inForce = digest(rows)
    if (!settings.server.dashboardUpstreams) return []
    return rows.flatMap(({ name, url, sealedKey, upstreamId }) => {
      if (url === null) return []
      const key = sealedKey === null ? undefined : this.#deps.seal.open(sealedKey, sealedFor(upstreamId, 'key'))
      return [{ name, url, key: key?.toString() }]
    })
  }

  async list(actor: Actor): Promise<ConnectedRecord[]> {
    this.#own(actor)
    const { store, account, settings } = this.#deps
    const rows = (await store.newest(account)).filter(({ url }) => url !== null)
    const given = settings().givenUpstreams
    const isOpen = settings().server.dashboardUpstreams
    const configured = Object.values(settings().upstreams).filter(({ name }) => given.includes(name))
    return [
      ...configured.map(
        ({ name, url, key }): ConnectedRecord => ({
          name,
          from: 'configuration',
          url,
          api: null,
          has_key: key !== undefined,
          in_force: true,
          version: null,
          changed_at: null,
          changed_by: null
        })
      ),
      ...rows.map((row) => recordOf(row, isOpen && !given.includes(row.name)))
    ]
  }

  /**
   * Checks a backend by its list of models, stores it, and puts it in force.
   * @throws Fault `not_found` where none can be connected here, `validation_error` for a failed check, `active_changed`
   */
  async connect(
    actor: Actor,
    { name, url, api, key }: { name: string; url: string; api: BackendApi; key?: string | undefined }
  ): Promise<{ upstream: ConnectedRecord; models: string[] }> {
    this.#open(actor)
    if (!isHttpPrefix(url)) {
      const message = 'url must be an http or https URL without credentials, query or fragment.'
      throw invalid('url', 'invalid_format', message)
    }
    const models = await modelsOf({ url, api, key })
    const row = await this.#put(actor, name, url, api, key)
    return { upstream: recordOf(row, !this.#deps.settings().givenUpstreams.includes(name)), models }
  }

  /** @throws Fault `not_found` where there is none, or none can be connected here */
  async disconnect(actor: Actor, name: string): Promise<void> {
    this.#open(actor)
    const standing = (await this.#deps.store.newest(this.#deps.account)).find((one) => one.name === name)
    if (standing === undefined || standing.url === null) throw new Fault('not_found')
    await this.#put(actor, name, null, standing.api, undefined)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #put(actor: Actor, name: string, url: string | null, api: BackendApi, key: string | undefined) {
    const { store, account, audit, clock, seal } = this.#deps
    const standing = (await store.newest(account)).find((one) => one.name === name)
    const at = clock.now()
    const upstreamId = newId('ups', at)
    const sealedKey = key === undefined ? null : seal.seal(Buffer.from(key), sealedFor(upstreamId, 'key'))
    const by = actor.keyId ?? null
    const row = { upstreamId, account, name, version: (standing?.version ?? 0) + 1, url, api, sealedKey, at, by }
    if (!(await store.put(row))) throw new Fault('active_changed')
    const kind = url === null ? 'upstream.disconnected' : 'upstream.connected'
    const facts = url === null ? {} : { url, api, has_key: key !== undefined }
    audit.append({ at, kind, account, keyId: by, subject: name, data: { version: row.version, ...facts } })
    await this.#look()
    return row
  }

  async #look(): Promise<void> {
    if (digest(await this.#deps.store.newest(this.#deps.account)) !== this.#inForce) await this.#reload?.()
  }

  #open(actor: Actor): void {
    this.#own(actor)
    if (this.closed !== undefined) throw new Fault('not_found', { message: this.closed })
  }

  #own({ accountId }: Actor): void {
    if (accountId !== this.#deps.account) throw new Fault('not_found')
  }
}

function digest(rows: readonly UpstreamRow[]): string {
  return rows.map(({ upstreamId }) => upstreamId).join(' ')
}

function recordOf({ name, url, api, sealedKey, version, at, by }: UpstreamRow, isInForce: boolean): ConnectedRecord {
  return {
    name,
    from: 'api',
    url: url ?? '',
    api,
    has_key: sealedKey !== null,
    in_force: isInForce,
    version,
    changed_at: new Date(at).toISOString(),
    changed_by: by
  }
}
