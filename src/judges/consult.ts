/**
 * Consults judges, with everything that all types share: a bound on the input, a cache, a limit on concurrent calls, a
 * circuit breaker, a deadline, cancellation, thresholds, and a count of each outcome.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.js'
import { round } from '../base/decision.js'
import type { JudgeSettings } from '../base/settings.js'
import type { Failure, Opinion, Question } from '../policy/escalate/judges.js'
import { type Category, categories } from '../policy/evaluation.js'
import { type Adapter, type Answer, type FailureReason, JudgeFailure } from './adapter.js'
import { Breaker, type BreakerState } from './breaker.js'

export type Outcome = 'safe' | 'unsafe' | 'unsure' | 'cached' | 'cancelled' | FailureReason

/** Receiver of a judge's counts, in names and numbers. */
export interface Report {
  request(judge: string, outcome: Outcome): void
  duration(judge: string, seconds: number): void
  breaker(judge: string, state: BreakerState): void
}

/** A report that ignores all counts. */
export const noReport: Report = { request() {}, duration() {}, breaker() {} }

export interface ConsultDeps {
  clock: Clock
  report: Report
}

/** Failures of the judge itself; failures caused by a text must not open the breaker. */
const breaking: ReadonlySet<FailureReason> = new Set(['timeout', 'connection', 'status', 'invalid_response'])

export interface Consult {
  ask(question: Question): Promise<Opinion | Failure>
  readonly state: BreakerState
}

export function createConsult(settings: JudgeSettings, adapter: Adapter, { clock, report }: ConsultDeps): Consult {
  const { name, thresholds, timeoutMs, maxConcurrent, maxChars } = settings
  const breaker = new Breaker({ clock, ...settings.breaker, changed: (state) => report.breaker(name, state) })
  const cache =
    settings.cache.size === 0
      ? undefined
      : new LRUCache<string, Opinion>({
          max: settings.cache.size,
          ttl: settings.cache.ttlMs,
          ttlResolution: 0,
          perf: { now: () => clock.monotonic() }
        })
  let running = 0

  function failed(reason: FailureReason): Failure {
    report.request(name, reason)
    return { failure: reason }
  }

  async function ask(question: Question): Promise<Opinion | Failure> {
    if (question.texts.reduce((sum, { text }) => sum + text.length, 0) > maxChars) return failed('too_long')
    const key = cache === undefined ? '' : keyOf(question)
    const known = cache?.get(key)
    if (known !== undefined) {
      report.request(name, 'cached')
      return known
    }
    if (running >= maxConcurrent) return failed('overloaded')
    if (!breaker.admit()) return failed('breaker_open')
    running++
    const started = clock.monotonic()
    try {
      const answer = await bounded(adapter, question, timeoutMs, () => running--)
      const opinion = opinionOf(answer, thresholds, question.categories)
      breaker.succeed()
      cache?.set(key, opinion)
      report.request(name, outcomeOf(opinion, question.categories))
      return opinion
    } catch (error) {
      const { cancel } = question
      if (cancel?.reason !== undefined) {
        breaker.release()
        report.request(name, 'cancelled')
        throw cancel.reason
      }
      const reason = error instanceof JudgeFailure ? error.reason : 'connection'
      if (breaking.has(reason)) breaker.fail()
      else breaker.release()
      return failed(reason)
    } finally {
      report.duration(name, (clock.monotonic() - started) / 1000)
    }
  }
  return {
    ask,
    get state() {
      return breaker.state
    }
  }
}

/**
 * Ends the wait at the deadline or with the caller, whether or not the adapter can stop.
 * @param ended called when the adapter really is done: until then it counts as running
 */
async function bounded(adapter: Adapter, question: Question, timeoutMs: number, ended: () => void): Promise<Answer> {
  const abort = new AbortController()
  const { texts, picture, direction, categories: asked, wordsOf, cancel } = question
  let stop: (error: Error) => void = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = (error) => {
      reject(error)
      abort.abort()
    }
  })
  const timer = setTimeout(() => stop(new JudgeFailure('timeout', 'the judge did not answer in time')), timeoutMs)
  const off = cancel?.onCancel(stop)
  if (cancel?.reason !== undefined) stop(cancel.reason)
  try {
    const asking = adapter.ask({ texts, picture, direction, categories: asked, wordsOf }, abort.signal)
    asking.then(ended, ended)
    return await Promise.race([stopped, asking])
  } finally {
    clearTimeout(timer)
    off?.()
  }
}

/** @throws JudgeFailure where the judge left a question unanswered */
function opinionOf(
  { scores, flagged }: Answer,
  { unsafe, safe }: JudgeSettings['thresholds'],
  asked: readonly Category[]
): Opinion {
  if (asked.some((category) => scores[category] === undefined)) {
    throw new JudgeFailure('invalid_answer', 'the judge said nothing of a category that it was asked about')
  }
  const found = categories.filter((category) => (scores[category] ?? 0) >= unsafe)
  const clear = flagged || found.length > 0 ? [] : asked.filter((category) => scores[category]! <= safe)
  const pick = (list: readonly Category[]) =>
    Object.fromEntries(list.map((category) => [category, round(scores[category]!)]))
  return { unsafe: pick(found), safe: pick(clear) }
}

function outcomeOf({ unsafe, safe }: Opinion, asked: readonly Category[]): 'safe' | 'unsafe' | 'unsure' {
  if (Object.keys(unsafe).length > 0) return 'unsafe'
  return Object.keys(safe).length === asked.length ? 'safe' : 'unsure'
}

/** A digest: no text is kept. One cache belongs to one judge of one configuration. */
function keyOf({ texts, picture, direction, categories: asked, policy }: Question): string {
  const parts = texts.map(({ role, text }) => [role, text])
  return createHash('sha256')
    .update(JSON.stringify([policy, direction, asked, parts, picture?.role ?? null, picture?.type ?? null]))
    .update(picture?.data ?? '')
    .digest('base64')
}
