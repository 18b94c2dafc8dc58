/** The shared state of workers without Redis, which the primary keeps. */
import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../base/clock.js'
import { memorySessions, type SessionState } from '../policy/evaluate/session.js'
import type { Listener, Notice, SharedState, Taken } from '../storage/contracts/shared-state.js'
import { createMemoryCounters } from '../storage/shared/local.js'
import { createVersionedSessions, type KeptSession } from '../storage/shared/versioned-sessions.js'
import type { Channel, Handlers } from './channel.js'

type TakeArguments = [counter: string, cost: number, limit: number, windowMs: number]

/** The worker's side. @param listen registers the listener for the primary's notices */
export function createWorkerState(primary: Channel, listen: (listener: Listener) => void, clock: Clock): SharedState {
  const keeper = {
    get: (key: string) => primary.ask('session', key) as Promise<{ version: number; session: KeptSession | undefined }>,
    replace: (...change: [string, number, KeptSession]) => primary.ask('replace', change) as Promise<boolean>
  }
  return {
    counters: {
      take: (...given: TakeArguments) => primary.ask('take', given) as Promise<Taken>,
      close() {}
    },
    sessions: createVersionedSessions(keeper, clock),
    notices: {
      publish: async (notice) => void (await primary.ask('publish', notice)),
      async publishAndWait(notice, mostMs) {
        const late = setTimeout(mostMs, undefined, { ref: false })
        await Promise.race([primary.ask('publishAndWait', notice).catch(() => {}), late])
      },
      listen
    },
    status: () => ({ up: undefined, nodes: 1 }),
    async close() {}
  }
}

/**
 * The primary's side for one worker.
 * @param tellOthers sends a notice to every other worker, and resolves when they have received or handled it
 */
export type Keeper = (tellOthers: (notice: Notice, as: 'notice' | 'awaitedNotice') => Promise<void>) => Handlers

export function createKeeper(clock: Clock): { handlersFor: Keeper; sessions(): number } {
  const counters = createMemoryCounters({ clock })
  const sessions = memorySessions(clock)
  const versions = new WeakMap<SessionState, number>()
  const versionOf = (state: SessionState | undefined) => (state === undefined ? 0 : versions.get(state)!)
  return {
    sessions: () => sessions.size,
    handlersFor: (tellOthers) => ({
      take: ([counter, cost, limit, windowMs]: TakeArguments) => counters.take(counter, cost, limit, windowMs),
      session(key: string) {
        const session = sessions.get(key)
        return { version: versionOf(session), session }
      },
      replace([key, version, session]: [string, number, KeptSession]) {
        if (versionOf(sessions.get(key)) !== version) return false
        versions.set(session, version + 1)
        sessions.update(key, () => session)
        return true
      },
      publish: (notice: Notice) => tellOthers(notice, 'notice'),
      publishAndWait: (notice: Notice) => tellOthers(notice, 'awaitedNotice')
    })
  }
}
