/**
 * What is remembered of a conversation: the end of what was said, so that a payload split over turns is seen whole, and
 * a decaying sum of risk, so that repeated attempts weigh more. Neither ever counts against a turn by itself.
 */
import { LRUCache } from 'lru-cache'
import type { ChatPart } from '../../base/chat.js'
import type { Clock } from '../../base/clock.js'
import type { Decision } from '../evaluation.js'

export interface SessionState {
  /** Texts of recent turns that were not forbidden, oldest first. */
  readonly tail: readonly string[]
  /** Sum of the turns' own scores, as of `at`. */
  readonly risk: number
  /** Monotonic ms. */
  readonly at: number
}

/** Keys are `<account>:<session id>`. */
export interface SessionStore {
  /** Synchronous where sessions are in memory. */
  get(key: string): SessionState | undefined | Promise<SessionState | undefined>
  /** Stores what `next` makes of what stands; called again where another process was faster. Never rejects. */
  update(key: string, next: (state: SessionState | undefined) => SessionState): void | Promise<void>
  /** Sessions held now, for a gauge. */
  readonly size: number
}

export interface SessionBounds {
  /** Sessions; beyond, the least recently used is forgotten. Default 10,000. */
  max?: number
  /** Ms after a session's last turn until it is forgotten. Default one hour. */
  ttlMs?: number
}

export interface MemorySessions extends SessionStore {
  get(key: string): SessionState | undefined
  update(key: string, next: (state: SessionState | undefined) => SessionState): void
}

export function memorySessions(clock: Clock, { max = 10_000, ttlMs = 3_600_000 }: SessionBounds = {}): MemorySessions {
  const cache = new LRUCache<string, SessionState>({
    max,
    ttl: ttlMs,
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() }
  })
  return {
    get: (key) => cache.get(key),
    update: (key, next) => void cache.set(key, next(cache.get(key))),
    get size() {
      cache.purgeStale()
      return cache.size
    }
  }
}

const maxTurns = 8
/** UTF-16 units of the tail, all turns together. */
const maxTail = 2000

/** How a constitution lets a session's history count. */
export interface SessionPolicy {
  /** Ms in which remembered risk halves. */
  halfLifeMs: number
  /** Forbidden turns after which history adds 1 − 1/e, before the bound. */
  turns: number
  /** The most that history adds to a turn's score by noisy-or, 0..0.5; 0 switches it off. */
  most: number
}

/** By half at most: a turn must reach the middle band nearly by itself before a session can lift it into the high one. */
export const defaultSession: SessionPolicy = { halfLifeMs: 600_000, turns: 4, most: 0.5 }

/** What the session's risk adds to a turn's score by noisy-or, 0..`most`. */
export function boostOf(state: SessionState | undefined, now: number, policy: SessionPolicy): number {
  return state === undefined ? 0 : Math.min(policy.most, 1 - Math.exp(-decayed(state, now, policy) / policy.turns))
}

/** The state after a turn. A forbidden text is not remembered: it went nowhere and must not taint what follows. */
export function nextState(
  state: SessionState | undefined,
  turn: { text: string; decision: Decision; ownRisk: number },
  now: number,
  policy: SessionPolicy
): SessionState {
  const before = state?.tail ?? []
  const repeated = before[before.length - 1] === turn.text
  const remembers = turn.decision !== 'forbid' && turn.text !== '' && !repeated
  return {
    tail: remembers ? trimTail([...before, turn.text]) : before,
    risk: (state === undefined ? 0 : decayed(state, now, policy)) + turn.ownRisk,
    at: now
  }
}

/**
 * The first part of what was said just now: of the user's words after anyone else's. A chat request repeats its history,
 * which is judged but is no new turn.
 */
export function turnOf(parts: readonly ChatPart[]): number {
  const answered = parts.findLastIndex(
    ({ role, isKey }) => isKey !== true && ['assistant', 'tool', 'system'].includes(role)
  )
  const first = parts.findIndex((part, i) => i > answered && isSpoken(part))
  return first >= 0 ? first : Math.max(0, parts.findLastIndex(isSpoken))
}

/**
 * The user's words from a part on, with their places.
 * @param most UTF-16 units from which on no more parts are wanted
 */
export function spokenFrom(
  parts: readonly ChatPart[],
  turn: number,
  most = Number.POSITIVE_INFINITY
): { part: number; text: string }[] {
  const spoken: { part: number; text: string }[] = []
  let units = 0
  for (let i = turn; i < parts.length && units < most; i++) {
    const part = parts[i]!
    if (!isSpoken(part)) continue
    spoken.push({ part: i, text: part.text })
    units += part.text.length
  }
  return spoken
}

/** What a session remembers of a turn. */
export function textOfTurn(parts: readonly ChatPart[], turn: number): string {
  const spoken = spokenFrom(parts, turn)
  return spoken
    .map(({ text }) => text)
    .join(' ')
    .slice(-maxTail)
}

function isSpoken({ role, isKey, text }: ChatPart): boolean {
  return role === 'user' && isKey !== true && text !== ''
}

function decayed({ risk, at }: SessionState, now: number, { halfLifeMs }: SessionPolicy): number {
  return risk * 0.5 ** (Math.max(0, now - at) / halfLifeMs)
}

/** The last turns that fit; of one that does not, its end. */
function trimTail(texts: readonly string[]): string[] {
  const kept: string[] = []
  let room = maxTail
  for (const text of texts.slice(-maxTurns).reverse()) {
    if (room === 0) break
    const end = text.slice(-room)
    kept.unshift(end)
    room -= end.length
  }
  return kept
}
