/** The shared state of nodes in Redis. It need not be durable: losing it never permits more. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../../base/clock.js'
import type { CounterStore, SharedState, Taken } from '../contracts/shared-state.js'
import { createMemoryCounters, grainOf, type MemoryCounters } from '../shared/local.js'
import { createVersionedSessions, type KeptSession } from '../shared/versioned-sessions.js'
import { RedisLink } from './link.js'
import { announcement, listenForNotices, type Published } from './notices.js'

/** A node without a heartbeat for this long counts as gone, and the others' shares grow. */
const nodeTtlMs = 10_000
/** How often answers are polled. */
const answersEveryMs = 20
const answerTtlMs = 60_000
const sessionTtlMs = 3_600_000

export interface RedisStateOptions {
  url: string
  /** Prefix of every key, so that gateways that share a Redis do not collide. */
  prefix: string
  clock: Clock
  /** Encrypts sessions, since they hold people's texts. */
  seal: {
    seal(bytes: Uint8Array, belongsTo: string): Buffer
    open(sealed: Uint8Array, belongsTo: string): Buffer
  }
  onChange(up: boolean, reason: string): void
}

export async function openRedisState({ url, prefix, clock, seal, onChange }: RedisStateOptions): Promise<SharedState> {
  const node = randomUUID()
  const names = { nodes: `${prefix}nodes`, revision: `${prefix}revision`, channel: `${prefix}notices` }
  let nodes = 1
  const board = listenForNotices(url, names.channel, (answer) => {
    link.run((redis) => redis.answer(answer, node, answerTtlMs)).catch(() => undefined)
  })
  const link: RedisLink = new RedisLink({
    url,
    onChange,
    async beat(redis) {
      const [count = 1, revision = 0] = await redis.beat(names.nodes, names.revision, node, nodeTtlMs)
      nodes = Math.max(1, count)
      board.revisionIs(revision)
    }
  })
  await link.open()

  const sessionName = (key: string) => `${prefix}session:${key}`
  const sessions = createVersionedSessions(
    {
      async get(key) {
        const found = await link.run((redis) => redis.hmgetBuffer(sessionName(key), 'version', 'session'))
        const [version, sealed] = found
        return { version: Number(version ?? 0), session: sealed == null ? undefined : unseal(sealed, key) }
      },
      async replace(key, version, session) {
        const sealed = seal.seal(Buffer.from(JSON.stringify(session)), `session:${key}`)
        return (await link.run((redis) => redis.replace(sessionName(key), version, sealed, sessionTtlMs))) === 1
      }
    },
    clock
  )
  /** A session sealed with another key counts as absent, and is replaced. */
  function unseal(sealed: Buffer, key: string): KeptSession | undefined {
    try {
      return JSON.parse(seal.open(sealed, `session:${key}`).toString())
    } catch {
      return undefined
    }
  }

  return {
    counters: createLocalShare({
      isUp: () => link.isUp,
      nodes: () => nodes,
      local: createMemoryCounters({ clock }),
      async take(counter, cost, limit, windowMs) {
        const grain = Math.round(grainOf(limit, windowMs) * 1000)
        const name = `${prefix}limit:${counter}`
        const answer = await link.run((redis) => redis.take(name, cost, limit, windowMs * 1000, grain))
        const [allowed = 0, remaining = 0, resetUs = 0, retryUs = 0] = answer
        return { allowed: allowed === 1, remaining, resetMs: resetUs / 1000, retryMs: retryUs / 1000 }
      }
    }),
    sessions,
    notices: {
      async publish(notice) {
        // No node can be reached: the others poll the storage, as nodes without Redis do.
        await link.run((redis) => redis.announce(...announcement(prefix, notice))).catch(() => undefined)
      },
      async publishAndWait(notice, mostMs) {
        const answer = `${prefix}answers:${randomUUID()}`
        const published: Published = { ...notice, answer }
        const deadline = performance.now() + mostMs
        const count = () => link.run((redis) => redis.scard(answer))
        try {
          await link.run((redis) => redis.announce(...announcement(prefix, published)))
          while ((await count()) < nodes && performance.now() < deadline) await setTimeout(answersEveryMs)
        } catch {
          // As for unreachable nodes.
        }
      },
      listen: board.listen
    },
    status: () => ({ up: link.isUp, nodes }),
    async close() {
      if (link.isUp) await link.run((redis) => redis.zrem(names.nodes, node)).catch(() => undefined)
      board.close()
      link.close()
    }
  }
}

/** Tolerated lateness of answers: the shared store measures windows by its clock, this node when the answer arrives. */
const latenessMs = 1_000

export interface LocalShareOptions {
  /** Takes from the shared counters; rejects where they do not answer. */
  take(counter: string, cost: number, limit: number, windowMs: number): Promise<Taken>
  isUp(): boolean
  /** The known number of nodes. */
  nodes(): number
  local: MemoryCounters
}

function createLocalShare({ take, isUp, nodes, local }: LocalShareOptions): CounterStore {
  const takeShare = (counter: string, cost: number, limit: number, windowMs: number): Taken =>
    local.take(counter, cost, Math.max(1, Math.floor(limit / nodes())), windowMs)

  return {
    take(counter, cost, limit, windowMs) {
      if (!isUp()) return takeShare(counter, cost, limit, windowMs)
      return take(counter, cost, limit, windowMs).then(
        (taken) => {
          if (!taken.allowed || cost === 0) return taken
          // Refused by the local count only: the shared store has lost its counts.
          const here = local.take(counter, cost, limit, windowMs, latenessMs)
          return here.allowed ? taken : here
        },
        () => takeShare(counter, cost, limit, windowMs)
      )
    },
    close: () => local.close()
  }
}
