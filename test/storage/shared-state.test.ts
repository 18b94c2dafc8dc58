import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { createLocalState } from '../../src/storage/memory/shared-state.js'
import { openRedisState } from '../../src/storage/redis/shared-state.js'
import { noRedis, redisPrefix, redisServer } from '../support/services.js'
import { sharedStateSuite } from './shared-state-suite.js'

/** Shows that what is stored is what the seal gave. */
const seal = {
  seal: (bytes: Uint8Array) => Buffer.from(bytes).reverse(),
  open: (sealed: Uint8Array) => Buffer.from(sealed).reverse()
}

t.test('memory', async (t) =>
  sharedStateSuite(t, async (t) => {
    const state = createLocalState(systemClock)
    t.teardown(() => state.close())
    return [state, state]
  })
)

t.test('redis', { skip: noRedis }, async (t) =>
  sharedStateSuite(t, async (t) => {
    const prefix = redisPrefix(t)
    const open = async () => {
      const state = await openRedisState({ url: redisServer!, prefix, clock: systemClock, seal, onChange() {} })
      t.teardown(() => state.close())
      return state
    }
    return [await open(), await open()]
  })
)
