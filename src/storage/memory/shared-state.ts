/** One node that shares with nobody. */
import type { Clock } from '../../base/clock.js'
import { memorySessions } from '../../policy/session.js'
import type { SharedState } from '../contracts/shared-state.js'
import { createMemoryCounters } from './counters.js'

export function createLocalState(clock: Clock): SharedState {
  const counters = createMemoryCounters({ clock })
  return {
    counters,
    sessions: memorySessions(clock),
    notices: { publish: async () => {}, publishAndWait: async () => {}, listen() {} },
    status: () => ({ up: undefined, nodes: 1 }),
    close: async () => counters.close()
  }
}
