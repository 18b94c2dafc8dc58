/** The constitutions of this process: stored, put in force, tried out, and followed where other nodes activate one. */
import type { Clock } from '../base/clock.js'
import { isShipped } from '../config/load.js'
import { type BindableRoute, RouteBindings } from '../constitutions/bindings.js'
import { type Checker, createChecker } from '../constitutions/check.js'
import { ConstitutionService } from '../constitutions/constitution-service.js'
import { Enforcement } from '../constitutions/enforcement.js'
import { type TrialReport, type TrialRequest, tryOut } from '../constitutions/trial.js'
import type { Encoder } from '../encoder/index.js'
import type { Actor } from '../identity/caller.js'
import { firstAccount } from '../identity/key-service.js'
import type { Log } from '../observe/log.js'
import { tellOutages, tellRound } from '../observe/outages.js'
import { createDryRunner } from '../policy/explain/dry-run-pool.js'
import type { Storage } from '../storage/contracts/index.js'
import type { Notice, Notices } from '../storage/contracts/shared-state.js'

/** How often the storage is asked for activations by other nodes and the command: their notice may have been lost. */
const refreshEveryMs = 1_000
/**
 * How long an activation waits until other nodes have read the version: longer than a node that died counts as serving.
 */
const preparedMs = 20_000

export interface Policies {
  readonly enforcement: Enforcement
  readonly constitutions: ConstitutionService
  readonly checker: Checker
  readonly bindings: RouteBindings
  tryOut(actor: Actor, name: string, request: TrialRequest): Promise<TrialReport>
  /** Acts on the notice of another node; a failure is logged and soon retried. Resolves when it is done. */
  heard(notice: Notice): Promise<void>
  close(): Promise<void>
}

export function openPolicies({
  storage,
  notices,
  clock,
  log,
  encoder,
  routes
}: {
  storage: Storage
  notices: Notices
  clock: Clock
  log: Log
  /** The encoder in force; undefined where there is none. */
  encoder: () => Encoder | undefined
  /** Routes of the configuration in force. */
  routes: () => readonly BindableRoute[]
}): Policies {
  const enforcement = new Enforcement({
    store: storage.constitutions,
    account: firstAccount,
    clock,
    isShipped,
    read: (version) => log.info(version, 'a version of a constitution was read'),
    followed: (change) => log.info({ ...change }, 'a version of a constitution was put in force'),
    warned: (what) => log.warn(what, 'a constitution has entries that do not do what they say'),
    adopted({ name, from, to }) {
      log.info({ name, from, to }, 'the file of a constitution was put in force')
      const data = { name, from, to, origin: 'file' }
      storage.audit.append({
        at: clock.now(),
        kind: 'constitution.activated',
        account: firstAccount,
        keyId: null,
        subject: name,
        data
      })
    }
  })
  const shared = {
    store: storage.constitutions,
    account: firstAccount,
    audit: storage.audit,
    clock,
    enforcement,
    changed: () => notices.publish({ kind: 'constitution' })
  }
  const constitutions = new ConstitutionService({
    ...shared,
    origin: 'api',
    prepareOthers: (name, version) => notices.publishAndWait({ kind: 'prepare', name, version }, preparedMs)
  })
  const runner = createDryRunner(encoder)
  const rounds = tellOutages(log, 'an activation by another process is not in force here')
  const refresh = () => tellRound(rounds, () => enforcement.refresh())
  const refreshing = setInterval(() => void refresh(), refreshEveryMs)
  refreshing.unref()
  return {
    enforcement,
    constitutions,
    checker: createChecker(shared),
    bindings: new RouteBindings({ ...shared, routes }),
    tryOut: (actor, name, request) => tryOut({ constitutions, enforcement, runner }, actor, name, request),
    async heard(notice) {
      if (notice.kind !== 'prepare') return refresh()
      // Errors go unlogged here: the activation itself reports them.
      await enforcement.prepare(notice.name, notice.version).catch(() => undefined)
    },
    async close() {
      clearInterval(refreshing)
      await runner.close()
    }
  }
}
