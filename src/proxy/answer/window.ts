/** The rules of `output: window`: how much of a held answer may leave, and when it is judged. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatContent } from '../../base/chat.js'
import type { Clock } from '../../base/clock.js'
import type { HeldText } from '../../dialects/channel.js'
import type { ReplyStream } from '../../dialects/reply-stream.js'
import type { Evaluation, Evaluator } from '../../policy/evaluation.js'
import { sentenceStart } from '../../policy/match/growth.js'
import type { Exchange } from '../exchange.js'

/** Least UTF-16 units for a judgement of their own, unless a channel ends or nothing has left yet. */
const leastStep = 40
/** The same within a sentence, where each judgement asks the encoder. */
const leastRaisedStep = 200

/**
 * By channel, how much of the text that is judged next may leave: no later text can begin a match before that point.
 * @param isRaised whether the last judgement asked the encoder
 * @param hasEnded whether a sentence has ended since then
 * @returns undefined where no text would leave
 */
export function settledIn(
  evaluator: Pick<Evaluator, 'settled'>,
  { route, policy, prompts }: Exchange,
  stream: ReplyStream,
  holding: readonly HeldText[],
  { isRaised, hasEnded }: { isRaised: boolean; hasEnded: boolean }
): ReadonlyMap<string, number> | undefined {
  const least = isRaised && !hasEnded ? leastRaisedStep : leastStep
  const growing = { role: 'assistant', direction: 'answer', redact: route.redact, prompts } as const
  const isFirst = !stream.started && !isRaised
  const isWorth = (step: number) => step >= least || isFirst || holding.some(({ isClosed }) => isClosed)
  if (!isWorth(holding.reduce((sum, { text }) => sum + text.length, 0))) return undefined
  let step = 0
  // Events leave in order: those behind the first that must wait need no check.
  const settled = stream.leaving(({ text, before, isClosed, isReadable }) => {
    const open = isReadable && !isClosed
    const length = open ? evaluator.settled(text, { ...growing, before }, policy) : isClosed ? text.length : 0
    step += length
    return before.length + length
  })
  return step > 0 && isWorth(step) ? settled : undefined
}

/**
 * Whether a verdict rests on text that is still held. Text that has left was judged in its context; without its
 * beginning, which is gone, a refusal can look like consent.
 */
export function bearsOnHeld(
  { decision, matched_rules: rules, detections }: Evaluation,
  { media }: ChatContent,
  holding: readonly HeldText[]
): boolean {
  if (decision === 'permit') return false
  if (media.length > 0) return true
  const offsets = new Map(holding.map(({ pointer, before }) => [pointer, before.length]))
  const causes = detections.filter(({ rule }) => rules.includes(rule))
  return (
    causes.length === 0 ||
    causes.some(({ pointer, span }) => span.end > (offsets.get(pointer ?? '') ?? Number.NEGATIVE_INFINITY))
  )
}

/**
 * The judgements over a stream: how much of the held text was judged (evidence may run on for sentences, and a block
 * must not wait for its end), and whether the encoder was asked.
 */
export class Judgements {
  readonly #judged = new Map<string, number>()
  #isRaised = false

  /** Whether the encoder was asked in the last one. */
  get isRaised(): boolean {
    return this.#isRaised
  }

  /** Called before each judgement. */
  begins(): void {
    this.#isRaised = false
  }

  /** Called where the encoder is asked. */
  readonly raised = (): void => {
    this.#isRaised = true
  }

  /** Whether a sentence has ended in the held text since the last judgement. */
  haveEnded(holding: readonly HeldText[]): boolean {
    return holding.some(
      ({ pointer, text, isReadable }) => isReadable && sentenceStart(text) > (this.#judged.get(pointer) ?? 0)
    )
  }

  /** Called after each judgement, once the permitted text has left. */
  judged(stream: ReplyStream): void {
    this.#judged.clear()
    for (const { pointer, text } of stream.holding()) this.#judged.set(pointer, text.length)
  }
}

/** How long text has been held, and until when it may be. */
export class HoldClock {
  readonly #clock: Clock
  readonly #limitMs: number | undefined
  #firstAt: number | undefined
  #heldSince: number | undefined

  /** @param limitMs undefined: as long as it takes */
  constructor(clock: Clock, limitMs: number | undefined) {
    this.#clock = clock
    this.#limitMs = limitMs
  }

  arrived(): void {
    const now = this.#clock.monotonic()
    this.#firstAt ??= now
    this.#heldSince ??= now
  }

  /** Text has left: the time of the remaining text starts now. */
  restart(): void {
    this.#heldSince = undefined
  }

  /** ms since the first event. */
  sinceFirst(): number {
    return this.#firstAt === undefined ? 0 : this.#clock.monotonic() - this.#firstAt
  }

  /** ms that held text may still wait; undefined where no text waits, or without a limit. */
  left(): number | undefined {
    if (this.#limitMs === undefined || this.#heldSince === undefined) return undefined
    return Math.max(0, this.#heldSince + this.#limitMs - this.#clock.monotonic())
  }
}

/** A look is followed by a rest of this many times its own duration. */
const restShare = 9
/** ms. Shorter rests are not worth a timer; longer ones would be noticed by people who read along. */
const shortestRest = 2
const longestRest = 100
/** A look pays when the new text since the last one is at least one part in this many of the held text. */
const share = 8
/** UTF-16 units; held text this short is judged whenever text comes. */
const small = 2048
/** Most UTF-16 units of events that are read between two looks. */
export const mostAtOnce = 16 * 1024

/**
 * Schedules the looks at held text. A look reads all held text and some that has left, so a look for every small event
 * would cost too much. Text that comes fast or takes long to judge is judged in larger pieces, and the looks at text
 * that does not settle cost in proportion to its length, however it is cut.
 */
export class Looks {
  readonly #clock: Clock
  #restUntil = Number.NEGATIVE_INFINITY
  /** UTF-16 units received by the last look. */
  #seen = 0
  #isPutOff = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether to look now. */
  areDue({ weight, came }: Pick<ReplyStream, 'weight' | 'came'>): boolean {
    const isWorth = weight <= small || (came - this.#seen) * share >= weight
    this.#isPutOff = isWorth && this.#clock.monotonic() < this.#restUntil
    if (!isWorth || this.#isPutOff) return false
    this.#seen = came
    return true
  }

  /** Called after each look. @param began monotonic ms */
  looked(began: number): void {
    const now = this.#clock.monotonic()
    const rest = Math.min(longestRest, (now - began) * restShare)
    if (rest >= shortestRest) this.#restUntil = now + rest
  }

  /**
   * Whether reading stops until the next look: released text leaves in one piece, which a slow client may leave in
   * memory.
   */
  isFull(held: number): boolean {
    return this.#isPutOff && held >= mostAtOnce
  }

  /** Resolves when the postponed look is due. */
  rest(): Promise<'due'> {
    return sleep(this.left() ?? 0, 'due' as const)
  }

  /** ms until the postponed look; undefined where none is. */
  left(): number | undefined {
    return this.#isPutOff ? Math.max(0, this.#restUntil - this.#clock.monotonic()) : undefined
  }
}

/** Reads the events of a stream as they come. No wait is longer than the remaining hold time. */
export class Arrivals<T> {
  readonly #events: AsyncGenerator<T, void, undefined>
  readonly #clock: HoldClock
  /** A read that missed its deadline; the next call waits for it. */
  #pending: Promise<IteratorResult<T, void>> | undefined

  constructor(events: AsyncGenerator<T, void, undefined>, clock: HoldClock) {
    this.#events = events
    this.#clock = clock
  }

  /**
   * The next event, or `late` where the hold's time is up first.
   * @param lookMs time after which `due` is returned, where neither came before
   */
  async next(lookMs: number | undefined): Promise<IteratorResult<T, void> | 'late' | 'due'> {
    const next = this.#pending ?? this.#events.next()
    this.#pending = undefined
    const holdMs = this.#clock.left()
    if (holdMs === undefined && lookMs === undefined) return next
    const isLook = lookMs !== undefined && lookMs < (holdMs ?? Number.POSITIVE_INFINITY)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late' | 'due'>((resolve) => {
      timer = setTimeout(() => resolve(isLook ? 'due' : 'late'), isLook ? lookMs : holdMs)
    })
    try {
      const first = await Promise.race([next, late])
      if (first === 'late' || first === 'due') {
        this.#pending = next
        // It may fail after the stream was ended for another reason.
        next.catch(() => {})
      }
      return first
    } finally {
      clearTimeout(timer)
    }
  }
}
