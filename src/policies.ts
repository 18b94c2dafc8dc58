/** The constitutions of this process: stored, put in force, tried out, and followed where other nodes activate one. */
import type { Clock } from './clock.js'
import { isShipped } from './config/load.js'
import { ConstitutionService } from './constitutions/constitution-service.js'
import { Enforcement } from './constitutions/enforcement.js'
import { type TrialReport, type TrialRequest, tryOut } from './constitutions/trial.js'
import type { Actor } from './identity/caller.js'
import { firstAccount } from './identity/key-service.js'
import { describeError, type Log } from './observe/log.js'
import { createDryRunner } from './policy/dry-run-pool.js'
import type { Storage } from './storage/contracts.js'
import type { Notices } from './storage/shared-state.js'

/** How often the storage is asked for activations by other nodes and the command, which nobody may have told of. */
const refreshEveryMs = 1_000

export interface Policies {
  readonly enforcement: Enforcement
  readonly constitutions: ConstitutionService
  tryOut(actor: Actor, name: string, request: TrialRequest): Promise<TrialReport>
  /** Puts in force what other nodes activated; a failure is logged, and tried again soon. */
  refresh(): void
  close(): Promise<void>
}

export function openPolicies({
  storage,
  notices,
  clock,
  log
}: {
  storage: Storage
  notices: Notices
  clock: Clock
  log: Log
}): Policies {
  const enforcement = new Enforcement({
    store: storage.constitutions,
    account: firstAccount,
    clock,
    isShipped,
    followed: (change) => log.info({ ...change }, 'a version of a constitution was put in force'),
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
  const constitutions = new ConstitutionService({
    store: storage.constitutions,
    account: firstAccount,
    audit: storage.audit,
    clock,
    enforcement,
    origin: 'api',
    activated: () => notices.publish({ kind: 'constitution' })
  })
  const runner = createDryRunner()
  const refresh = () =>
    void enforcement
      .refresh()
      .catch((error) =>
        log.error({ err: describeError(error) }, 'an activation by another process is not in force here')
      )
  const refreshing = setInterval(refresh, refreshEveryMs)
  refreshing.unref()
  return {
    enforcement,
    constitutions,
    tryOut: (actor, name, request) => tryOut({ constitutions, enforcement, runner }, actor, name, request),
    refresh,
    async close() {
      clearInterval(refreshing)
      await runner.close()
    }
  }
}
