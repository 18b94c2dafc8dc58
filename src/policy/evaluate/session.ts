/**
 * The memory of a conversation. It holds the latest words of people and the latest tool calls of a model, so that a
 * payload split over turns and calls is seen whole, and a decaying sum of risk, so that repeated attempts count more.
 * Neither alone counts against a turn.
 */
import { LRUCache } from 'lru-cache'
import type { ChatPart } from '../../base/chat.js'
import type { Clock } from '../../base/clock.js'
import type { Decision, Said, Speaker } from '../evaluation.js'
import { bringMore } from './brought.js'

export interface SessionState {
  /** Texts of recent turns that were not forbidden, oldest first. */
  readonly tail: readonly string[]
  /** Indexes of the texts that are arguments of calls; the others are a person's. Default: none. */
  readonly calls?: readonly number[]
  /** Fingerprints of tool results: see `brought.ts`. */
  readonly brought?: string
  /** Sum of the turns' own scores, as of `at`. */
  readonly risk: number
  /** Monotonic ms. */
  readonly at: number
}

/** Keys are `<account>:<session id>`. */
export interface SessionStore {
  /** Synchronous where sessions are in memory. */
  get(key: string): SessionState | undefined | Promise<SessionState | undefined>
  /** Stores the result of `next`, which is called again where another process was faster. Never rejects. */
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

/** Turns kept per speaker: the frequent calls of an agent must not displace the words of people. */
const maxTurns = 8
/** UTF-16 units of the tail, all turns of one speaker together. */
const maxTail = 2000

/** How a session's history counts under a constitution. */
export interface SessionPolicy {
  /** Ms in which remembered risk halves. */
  halfLifeMs: number
  /** Forbidden turns after which history adds 1 − 1/e, before the bound. */
  turns: number
  /** The most that history adds to a turn's score by noisy-or, 0..0.5; 0 switches it off. */
  most: number
}

/** At most half: a turn must nearly reach the middle band alone before a session can lift it into the high one. */
export const defaultSession: SessionPolicy = { halfLifeMs: 600_000, turns: 4, most: 0.5 }

/** The session risk that is added to a turn's score by noisy-or, 0..`most`. */
export function boostOf(state: SessionState | undefined, now: number, policy: SessionPolicy): number {
  return state === undefined ? 0 : Math.min(policy.most, 1 - Math.exp(-decayed(state, now, policy) / policy.turns))
}

/** The texts of earlier turns, oldest first. */
export function saidBefore(state: SessionState | undefined): Said[] {
  const { tail = [], calls = [] } = state ?? {}
  return tail.map((text, i) => ({ role: calls.includes(i) ? 'assistant' : 'user', text }))
}

/**
 * The histories that are joined with the present turn: all turns in order, those of people alone, and calls alone, so
 * that neither kind can be put between two halves of the other.
 */
export function historiesOf(tail: readonly Said[]): (readonly Said[])[] {
  if (tail.length === 0) return []
  const calls = tail.filter(({ role }) => role === 'assistant')
  if (calls.length === 0 || calls.length === tail.length) return [tail]
  return [tail, tail.filter(({ role }) => role === 'user'), calls]
}

/** The state after a turn. A forbidden text is not remembered: it was not forwarded and must not taint later turns. */
export function nextState(
  state: SessionState | undefined,
  turn: Said & { decision: Decision; ownRisk: number },
  now: number,
  policy: SessionPolicy
): SessionState {
  const { role, text, decision, ownRisk } = turn
  const before = saidBefore(state)
  const isRepeated = before.findLast((said) => said.role === role)?.text === text
  const remembers = decision !== 'forbid' && text !== '' && !isRepeated
  const said = remembers ? trimTail([...before, { role, text }]) : before
  const calls = said.flatMap(({ role }, i) => (role === 'assistant' ? [i] : []))
  return {
    tail: said.map(({ text }) => text),
    ...(calls.length > 0 && { calls }),
    ...(state?.brought !== undefined && { brought: state.brought }),
    risk: (state === undefined ? 0 : decayed(state, now, policy)) + ownRisk,
    at: now
  }
}

/** The state after a tool's result, which is no turn. */
export function stateWith(state: SessionState | undefined, parts: readonly ChatPart[], now: number): SessionState {
  const texts = parts.flatMap(({ role, text, isKey }) => (role === 'tool' && isKey !== true ? [text] : []))
  const brought = bringMore(state?.brought, texts)
  return { ...(state ?? { tail: [], risk: 0, at: now }), ...(brought !== undefined && { brought }) }
}

/**
 * Index of the first part of the new turn: the user's words after anyone else's. A chat request repeats its history,
 * which is judged but is no new turn.
 */
export function turnOf(parts: readonly ChatPart[]): number {
  const answered = parts.findLastIndex(
    ({ role, isKey }) => isKey !== true && ['assistant', 'tool', 'system'].includes(role)
  )
  const first = parts.findIndex((part, i) => i > answered && isSpoken(part))
  return first >= 0
    ? first
    : Math.max(
        0,
        parts.findLastIndex((part) => isSpoken(part))
      )
}

/**
 * A speaker's words from a part on, with their places.
 * @param most UTF-16 units after which no more parts are collected
 */
export function spokenFrom(
  parts: readonly ChatPart[],
  turn: number,
  { by = 'user', most = Number.POSITIVE_INFINITY }: { by?: Speaker | undefined; most?: number } = {}
): { part: number; text: string }[] {
  const spoken: { part: number; text: string }[] = []
  let units = 0
  for (let i = turn; i < parts.length && units < most; i++) {
    const part = parts[i]!
    if (!isSpoken(part, by)) continue
    spoken.push({ part: i, text: part.text })
    units += part.text.length
  }
  return spoken
}

/** The text of a turn that a session remembers. */
export function textOfTurn(parts: readonly ChatPart[], turn: number, by?: Speaker): string {
  const spoken = spokenFrom(parts, turn, { by })
  return spoken
    .map(({ text }) => text)
    .join(' ')
    .slice(-maxTail)
}

function isSpoken({ role, isKey, text }: ChatPart, by: Speaker = 'user'): boolean {
  return role === by && isKey !== true && text !== ''
}

function decayed({ risk, at }: SessionState, now: number, { halfLifeMs }: SessionPolicy): number {
  return risk * 0.5 ** (Math.max(0, now - at) / halfLifeMs)
}

/** The last turns of each speaker that fit; of a longer one, its end. */
function trimTail(said: readonly Said[]): Said[] {
  const kept: Said[] = []
  const left = { user: { turns: maxTurns, units: maxTail }, assistant: { turns: maxTurns, units: maxTail } }
  for (const { role, text } of said.toReversed()) {
    const room = left[role]
    if (room.turns === 0 || room.units === 0) continue
    const end = text.slice(-room.units)
    kept.unshift({ role, text: end })
    room.turns--
    room.units -= end.length
  }
  return kept
}
