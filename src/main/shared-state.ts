/** Opens the state that nodes share besides the storage: in Redis, or in this process where none is configured. */
import type { Clock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import type { Log } from '../observe/log.js'
import type { Seal } from '../sealing/seal.js'
import type { SharedState } from '../storage/contracts/shared-state.js'
import { createLocalState } from '../storage/shared/local.js'

export async function openSharedState(
  { redis, storage }: Settings,
  { clock, log, seal }: { clock: Clock; log: Log; seal: Seal }
): Promise<SharedState> {
  if (redis === undefined) {
    if (storage.url.startsWith('postgres'))
      log.warn({}, 'without Redis each node counts limits and sessions by itself (SLUICEGATE_REDIS_URL)')
    return createLocalState(clock)
  }
  // Loaded only where it is used: the client is megabytes of memory that most installations never need.
  const { openRedisState } = await import('../storage/redis/shared-state.js')
  return openRedisState({
    ...redis,
    clock,
    seal,
    onChange(up, reason) {
      if (up) log.info({}, 'Redis answers: limits and sessions are shared')
      else log.error({ reason }, 'Redis does not answer: each node goes on by itself, with its share of the limits')
    }
  })
}
