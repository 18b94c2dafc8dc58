/** Opens the watch that raises alerts, with the sources it reads: once per process, like the rest of the platform. */
import type { Clock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { firstAccount } from '../identity/key-service.js'
import { StorageWatch } from '../notices/storage-watch.js'
import { Watch } from '../notices/watch.js'
import { describeError, type Log } from '../observe/log.js'
import type { Storage } from '../storage/contracts/index.js'
import type { SharedState } from '../storage/contracts/shared-state.js'
import type { People } from './review-desk.js'
import type { Self } from './vitals.js'

export interface NoticesOptions {
  storage: Storage
  shared: SharedState
  self: Self
  people: People
  clock: Clock
  log: Log
  node: string
  /** The settings in force. */
  settings(): Settings
}

export function openNotices({ storage, shared, self, people, clock, log, node, settings }: NoticesOptions): Watch {
  const { history, presence, processId } = self
  return new Watch({
    process: processId,
    store: storage.alerts,
    clock,
    sources: {
      reviews: () => people.reviews.backlog(),
      deadLetters: () => storage.deliveries.dead(),
      expiring: (wanted) => storage.keys.expiring(wanted),
      processes: () => presence.all(),
      totals: (windows) => history.totals(windows)
    },
    storage: new StorageWatch({
      node,
      writtenAt: () => presence.toldAt,
      write: () => presence.tell(),
      isFailing: () => storage.audit.isFailing,
      counters: shared.counters,
      send: (rows) => people.deliveries.direct(rows)
    }),
    settings: () => settings().notices,
    account: firstAccount,
    publicUrl: () => settings().signIn.publicUrl,
    noticed: () => people.noticed(),
    failure(error) {
      if (error === undefined) log.info({}, 'alerts are checked again')
      else log.error({ err: describeError(error) }, 'alerts cannot be checked: the storage does not answer')
    }
  })
}
