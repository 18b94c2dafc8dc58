/**
 * Sessions that another process keeps. Two nodes may judge turns of one session at once: what is stored carries a
 * version, and whoever finds that another was faster works its turn into what now stands.
 */
import type { Clock } from '../../base/clock.js'
import { memorySessions, type SessionState, type SessionStore } from '../../policy/evaluate/session.js'

/** A state as it travels: monotonic clocks of two processes have nothing in common, so its time is wall time. */
export type KeptSession = SessionState

export interface SessionKeeper {
  /** @throws where the keeper does not answer */
  get(key: string): Promise<{ version: number; session: KeptSession | undefined }>
  /** Stores where the version is still the one that was read. */
  replace(key: string, version: number, session: KeptSession): Promise<boolean>
}

/** More than this many nodes at once on one session, each time: the last word then stands. */
const attempts = 10

/** What this node has seen is kept here too, and serves alone while the keeper does not answer. */
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
        // Below: in this node alone.
      }
      local.update(key, next)
    },
    get size() {
      return local.size
    }
  }
}
