/**
 * Sessions that another process stores. Nodes may judge turns of one session concurrently: stored sessions have a
 * version, and a slower node applies its turn again to the newer state.
 */
import type { Clock } from '../../base/clock.js'
import { memorySessions, type SessionState, type SessionStore } from '../../policy/evaluate/session.js'

/** A state in transit. Its time is wall time, since monotonic clocks of processes are not comparable. */
export type KeptSession = SessionState

export interface SessionKeeper {
  /** @throws where the keeper does not answer */
  get(key: string): Promise<{ version: number; session: KeptSession | undefined }>
  /** Stores where the version is still the one that was read. */
  replace(key: string, version: number, session: KeptSession): Promise<boolean>
}

/** Most attempts; afterwards the last write wins. */
const attempts = 10

/** This node also keeps its own copy, which is used while the keeper does not answer. */
export function createVersionedSessions(keeper: SessionKeeper, clock: Clock): SessionStore {
  const local = memorySessions(clock)
  const toLocal = (kept: KeptSession): SessionState => ({
    ...kept,
    at: clock.monotonic() - Math.max(0, clock.now() - kept.at)
  })
  const toKept = (state: SessionState): KeptSession => ({
    ...state,
    at: clock.now() - Math.max(0, clock.monotonic() - state.at)
  })

  return {
    async get(key) {
      try {
        const { session } = await keeper.get(key)
        return session && toLocal(session)
      } catch {
        return local.get(key)
      }
    },
    async update(key, next) {
      try {
        for (let attempt = 1; attempt <= attempts; attempt++) {
          const { version, session } = await keeper.get(key)
          const state = next(session && toLocal(session))
          if (await keeper.replace(key, version, toKept(state))) {
            local.update(key, () => state)
            return
          }
        }
      } catch {
        // Falls through to the local copy.
      }
      local.update(key, next)
    },
    get size() {
      return local.size
    }
  }
}
