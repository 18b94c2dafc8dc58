/**
 * Bindings of routes to constitutions in the store. The configuration takes precedence: where the file names a route's
 * constitution, the stored binding is only shown.
 */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import type { RouteSettings } from '../base/settings.js'
import type { Actor } from '../identity/caller.js'
import type { ConstitutionBinding, ConstitutionOrigin, ConstitutionStore } from '../storage/contracts/constitutions.js'
import type { AuditStore } from '../storage/contracts/index.js'
import type { Enforcement } from './enforcement.js'

/** A route of the store, with its configuration. */
export type BindableRoute = Pick<
  RouteSettings,
  'id' | 'method' | 'path' | 'dialect' | 'upstream' | 'match' | 'constitution' | 'constitutionGiven'
>

export interface RouteRecord {
  route: string
  /** Undefined: the configuration has no such route any more. */
  path?: string
  dialect?: string
  upstream?: string
  models?: readonly string[]
  /** Its constitution, and the source of the binding. */
  constitution: string | null
  decided_by: 'file' | 'store' | 'default' | null
  /**
   * Whether the constitution is in force in the answering process; without it every request of the route is refused.
   */
  in_force: boolean
  file: string | null
  store: { constitution: string | null; at: string; by: string | null; origin: ConstitutionOrigin } | null
}

export interface RouteBindingDeps {
  store: Pick<ConstitutionStore, 'bind' | 'bindings'>
  /** The account whose constitutions judge. */
  account: string
  audit: Pick<AuditStore, 'append'>
  clock: Clock
  enforcement: Pick<Enforcement, 'versionOf' | 'rebind' | 'boundTo'>
  /** Routes of the configuration in force. */
  routes(): readonly BindableRoute[]
  /** Notifies the other processes on this storage. */
  changed(): Promise<void>
}

/** The constitution of a route: from the file, else the store, else `default`. */
export function constitutionOf(
  { id, constitution, constitutionGiven }: Pick<BindableRoute, 'id' | 'constitution' | 'constitutionGiven'>,
  bound: (route: string) => string | undefined
): string {
  return constitutionGiven ? constitution : (bound(id) ?? constitution)
}

export class RouteBindings {
  readonly #deps: RouteBindingDeps

  constructor(deps: RouteBindingDeps) {
    this.#deps = deps
  }

  /** The routes of the configuration in order, then those that exist only in the store. */
  async list(actor: Actor): Promise<{ routes: RouteRecord[] }> {
    const { store, account } = this.#deps
    if (actor.accountId !== account) return { routes: [] }
    const stored = new Map((await store.bindings(account)).map((binding) => [binding.route, binding]))
    const routes = this.#deps.routes()
    const known = new Set(routes.map(({ id }) => id))
    const gone = [...stored.values()].filter(({ route, name }) => name !== null && !known.has(route))
    return {
      routes: [
        ...routes.map((route) => this.#record(route, stored.get(route.id))),
        ...gone.map((binding) => ({
          route: binding.route,
          constitution: null,
          decided_by: null,
          in_force: false,
          file: null,
          store: storedRecord(binding)
        }))
      ]
    }
  }

  /**
   * Binds a route to a constitution that is in force, or to none: then the configuration's own judges it again. Counts for
   * every request that begins later.
   * @throws Fault `not_found`, `binding_changed`, or `validation_error` where the file names the route's constitution
   */
  async bind(
    actor: Actor,
    {
      route: id,
      constitution,
      if_constitution: ifName
    }: {
      route: string
      constitution: string | null
      if_constitution?: string | null | undefined
    }
  ): Promise<RouteRecord> {
    const { store, account, audit, clock, enforcement, changed } = this.#deps
    if (actor.accountId !== account) throw noRoute()
    const route = this.#deps.routes().find((one) => one.id === id)
    if (route === undefined && constitution !== null) throw noRoute()
    if (route?.constitutionGiven === true && constitution !== null) {
      const message = `The configuration names ${route.constitution} for this route, and has the first word.`
      throw invalid('route', 'invalid_format', message)
    }
    if (constitution !== null && enforcement.versionOf(constitution) === undefined) {
      const message = 'No version of this constitution is in force: activate one first.'
      throw invalid('constitution', 'invalid_format', message)
    }
    const before = (await store.bindings(account)).find((one) => one.route === id)?.name ?? null
    if (route === undefined && before === null) throw noRoute()
    const at = clock.now()
    const by = actor.keyId ?? null
    const binding = await store.bind({ account, route: id, name: constitution, at, by, origin: 'api', ifName })
    if (binding === undefined) throw new Fault('binding_changed', { fields: { constitution: before } })
    await enforcement.rebind()
    const data = { route: id, from: before, to: constitution, origin: 'api' }
    audit.append({ at, kind: 'constitution.bound', account, keyId: by, subject: constitution ?? before, data })
    await changed()
    return route === undefined
      ? { route: id, constitution: null, decided_by: null, in_force: false, file: null, store: storedRecord(binding) }
      : this.#record(route, binding)
  }

  #record(route: BindableRoute, binding: ConstitutionBinding | undefined): RouteRecord {
    const { enforcement } = this.#deps
    const constitution = constitutionOf(route, (id) => enforcement.boundTo(id))
    const { id, path, dialect, upstream, match, constitutionGiven } = route
    return {
      route: id,
      path,
      dialect,
      upstream,
      ...(match === undefined ? {} : { models: match.model }),
      constitution,
      decided_by: constitutionGiven ? 'file' : enforcement.boundTo(id) === undefined ? 'default' : 'store',
      in_force: enforcement.versionOf(constitution) !== undefined,
      file: constitutionGiven ? route.constitution : null,
      store: binding === undefined ? null : storedRecord(binding)
    }
  }
}

function storedRecord({ name, at, by, origin }: ConstitutionBinding): NonNullable<RouteRecord['store']> {
  return { constitution: name, at: new Date(at).toISOString(), by, origin }
}

function noRoute(): Fault {
  return new Fault('not_found', { message: 'The configuration has no such route.' })
}
