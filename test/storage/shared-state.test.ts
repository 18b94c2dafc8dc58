import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { createLocalState } from '../../src/storage/shared/local.js'
import { sharedStateSuite } from './shared-state-suite.js'

t.test('memory', async (t) =>
  sharedStateSuite(t, async (t) => {
    const state = createLocalState(systemClock)
    t.teardown(() => state.close())
    return [state, state]
  })
)
