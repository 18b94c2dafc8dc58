/** What `output: window` lets go, and when. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatContent } from '../../base/chat.js'
import type { Clock } from '../../base/clock.js'
import type { HeldText } from '../../dialects/channel.js'
import type { ReplyStream } from '../../dialects/reply-stream.js'
import type { Evaluation, Evaluator } from '../../policy/evaluation.js'
import { sentenceStart } from '../../policy/match/growth.js'
import type { Exchange } from '../exchange.js'

/** Fewer UTF-16 units than this are not worth a judgement of their own, unless a channel ends or nothing has left yet. */
const leastStep = 40
/** The same within a sentence, where the encoder is asked about each. */
const leastRaisedStep = 200

/**
 * By channel, how much of what is judged next may leave: nothing that comes later can begin a match before there.
 * @param isRaised whether the encoder was asked about what was judged last
 * @param hasEnded whether a sentence has ended since then
 * @returns undefined where nothing would leave
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
  // Events leave in their order: what stands behind the first that must wait need not be looked at.
  const settled = stream.leaving(({ text, before, isClosed, isReadable }) => {
    const open = isReadable && !isClosed
    const length = open ? evaluator.settled(text, { ...growing, before }, policy) : isClosed ? text.length : 0
    step += length
    return before.length + length
  })
  return step > 0 && isWorth(step) ? settled : undefined
}

/**
 * Whether a verdict rests on anything that is still held. What has left was judged with what stood around it; without
 * its beginning, which is no longer at hand, a sentence that declines can look like one that agrees.
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
 * What is known of the judgements over a stream: what of the text that is held was judged (evidence may run on for
 * sentences, and a block is not to wait for its end), and whether the encoder was asked about it.
 */
export class Judgements {
  readonly #judged = new Map<string, number>()
  #isRaised = false

  /** Whether the encoder was asked in the last one. */
  get isRaised(): boolean {
    return this.#isRaised
  }

  /** Told of each before it. */
  begins(): void {
    this.#isRaised = false
  }

  /** Told where the encoder is asked. */
  readonly raised = (): void => {
    this.#isRaised = true
  }

  /** Whether a sentence has ended in what is held since it was judged last. */
  haveEnded(holding: readonly HeldText[]): boolean {
    return holding.some(
      ({ pointer, text, isReadable }) => isReadable && sentenceStart(text) > (this.#judged.get(pointer) ?? 0)
    )
  }

  /** Told of each judgement, once what may leave has left. */
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

  /** Something has left: what is held still is held from now on. */
  restart(): void {
    this.#heldSince = undefined
  }

  /** ms since the first event. */
  sinceFirst(): number {
    return this.#firstAt === undefined ? 0 : this.#clock.monotonic() - this.#firstAt
  }

  /** ms that what is held may be held on; undefined where nothing is, or no limit. */
  left(): number | undefined {
    if (this.#limitMs === undefined || this.#heldSince === undefined) return undefined
    return Math.max(0, this.#heldSince + this.#limitMs - this.#clock.monotonic())
  }
}

/** Of the time, looking at what is held takes one part, and ten at least pass from one look to the next. */
const restShare = 9
/** Rests shorter than this are not worth a timer, and none is longer: people read along. ms */
const shortestRest = 2
const longestRest = 100
/** A look at what is held is worth what it costs when a part of that has come since the last one: one in so many. */
const share = 8
/** What costs so little to look at, in UTF-16 units, is looked at whenever something comes. */
const small = 2048
/** UTF-16 units of events that are read before what is held is looked at, where nothing else holds it back. */
export const mostAtOnce = 16 * 1024

/**
 * When what is held is looked at. A look reads all that is held and some of what has left, so one for every event would
 * cost a stream of many small ones more than its text is worth: what comes fast, or takes long to read, is read in larger
 * pieces, and what does not settle is read in proportion to its length, however it is cut.
 */
export class Looks {
  readonly #clock: Clock
  #restUntil = Number.NEGATIVE_INFINITY
  /** What had come at the last look, in UTF-16 units. */
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

  /** Told of each look. @param began monotonic ms */
  looked(began: number): void {
    const now = this.#clock.monotonic()
    const rest = Math.min(longestRest, (now - began) * restShare)
    if (rest >= shortestRest) this.#restUntil = now + rest
  }

  /** Whether no more is read before the next look: what is let go leaves in one piece, which a client may never take. */
  isFull(held: number): boolean {
    return this.#isPutOff && held >= mostAtOnce
  }

  /** Resolves when the look that was put off is due. */
  rest(): Promise<'due'> {
    return sleep(this.left() ?? 0, 'due' as const)
  }

  /** ms until the look that was put off; undefined where none was. */
  left(): number | undefined {
    return this.#isPutOff ? Math.max(0, this.#restUntil - this.#clock.monotonic()) : undefined
  }
}

/** The events of a stream as they come, each waited for no longer than what is held may be held. */
export class Arrivals<T> {
  readonly #events: AsyncGenerator<T, void, undefined>
  readonly #clock: HoldClock
  /** Asked for, and not come in time: it is what the next call waits for. */
  #pending: Promise<IteratorResult<T, void>> | undefined

  constructor(events: AsyncGenerator<T, void, undefined>, clock: HoldClock) {
    this.#events = events
    this.#clock = clock
  }

  /**
   * The next event, or `late` where the hold's time is up first.
   * @param lookMs after which `due` is answered, where neither has come
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
