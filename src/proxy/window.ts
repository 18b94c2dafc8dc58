/** What `output: window` lets go, and when. */
import type { ChatContent } from '../chat.js'
import type { Clock } from '../clock.js'
import type { HeldText, ReplyStream } from '../dialects/reply-stream.js'
import type { Evaluation } from '../policy/evaluation.js'
import { sentenceStart } from '../policy/growth.js'
import type { Exchange } from './exchange.js'

/** Fewer UTF-16 units than this are not worth a judgement of their own, unless a channel ends or nothing has left yet. */
const leastStep = 40

/**
 * By channel, how much of what is judged next may leave: nothing that comes later can begin a match before there.
 * @returns undefined where nothing would leave
 */
export function settledIn(
  exchange: Exchange,
  stream: ReplyStream,
  holding: readonly HeldText[]
): ReadonlyMap<string, number> | undefined {
  const { deps, route, policy } = exchange
  const growing = { role: 'assistant', direction: 'answer', redact: route.redact, prompts: exchange.prompts } as const
  const isWorth = (step: number) => step >= leastStep || !stream.started || holding.some(({ isClosed }) => isClosed)
  if (!isWorth(holding.reduce((sum, { text }) => sum + text.length, 0))) return undefined
  const settled = new Map<string, number>()
  let step = 0
  for (const { pointer, text, before, isClosed, isReadable } of holding) {
    const open = isReadable && !isClosed
    const length = open ? deps.evaluator.settled(text, { ...growing, before }, policy) : isClosed ? text.length : 0
    settled.set(pointer, before.length + length)
    step += length
  }
  if (step === 0 || !isWorth(step)) return undefined
  return stream.mayLeave(settled) ? settled : undefined
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

/** What of the text that is held was judged: evidence may run on for sentences, and a block is not to wait for its end. */
export class Sentences {
  readonly #judged = new Map<string, number>()

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

  /** The next event, or `late` where the hold's time is up first. */
  async next(): Promise<IteratorResult<T, void> | 'late'> {
    const next = this.#pending ?? this.#events.next()
    this.#pending = undefined
    const left = this.#clock.left()
    if (left === undefined) return next
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, left, 'late' as const)
    })
    try {
      const first = await Promise.race([next, late])
      if (first === 'late') {
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
