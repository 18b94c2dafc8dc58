/** Opens the configured store for commands, beside a running server. */

import type { Settings } from '../base/settings.js'
import { loadSettings } from '../config/load.js'
import type { Storage } from '../storage/contracts/index.js'
import type { Notice } from '../storage/contracts/shared-state.js'
import { openExistingStorage, openStorage } from '../storage/open.js'
import { UsageError } from './terminal.js'

export function commandSettings(): Settings {
  const settings = loadSettings({ env: process.env, cwd: process.cwd() })
  if (settings.storage.url === 'memory:') {
    throw new UsageError('storage.url is memory: another process has no access to what it holds')
  }
  return settings
}

/** Notifies running nodes of a change over a shared Redis, which is loaded only then. */
export async function tellRunning({ redis }: Settings, notice: Notice): Promise<void> {
  if (redis === undefined) return
  const { tellNodes } = await import('../storage/redis/notices.js')
  await tellNodes(redis, notice)
}

/**
 * Opens it under the node's own name, so that acts of a command are in the node's audit chain. A store that does not
 * exist is an error: an empty one in a mistyped folder would be found whole, and would take a change that no server sees.
 * @param mayCreate for a command that prepares a store before the first start
 */
export function openCommandStorage({ storage, node }: Settings, mayCreate = false): Promise<Storage> {
  return (mayCreate ? openStorage : openExistingStorage)({ url: storage.url, node })
}
