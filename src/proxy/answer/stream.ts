/**
 * The stage that judges a streamed answer. Text and response headers are held until they are judged. `full` holds until
 * the end. `window` holds until no rule can match from there on (see `window.ts`), and judges each completed sentence.
 * Both judge the held text as it stands once the hold budget is spent. Permitted text leaves; any other verdict ends
 * the stream in the dialect's own way and aborts the upstream.
 */
import type { Clock } from '../../base/clock.js'
import { Fault } from '../../base/errors.js'
import type { Framing } from '../../dialects/dialect.js'
import { messageOf } from '../../dialects/event-stream.js'
import type { Pushed, ReplyStream, WireEvent } from '../../dialects/reply-stream.js'
import { largeTurns } from '../../edge/large-turns.js'
import type { Files } from '../../files/file.js'
import type { Metrics } from '../../observe/metrics.js'
import type { Evaluator } from '../../policy/evaluation.js'
import type { Denials } from '../denials.js'
import { ClientGone, type Exchange, type Reply } from '../exchange.js'
import { addVerdictHeaders, clientHeaders, encodingOf, streamHeaders } from '../headers.js'
import { turnFacts } from '../reply.js'
import type { ReviewDesk } from '../review.js'
import { HeardAnswer } from '../sound/answer-sound.js'
import { Ear, isHeard } from '../sound/ear.js'
import { credentialRefused } from '../upstream/answered.js'
import { JudgedFailure } from '../upstream/failure.js'
import { transportFault, type UpstreamAnswer } from '../upstream/send.js'
import { releaseHeld } from '../verdict.js'
import type { Answers } from './answer.js'
import { openSource, type Source } from './events.js'
import { Arrivals, bearsOnHeld, HoldClock, Judgements, Looks, mostAtOnce, settledIn } from './window.js'

export interface StreamDeps {
  answers: Answers
  denials: Denials
  reviews: ReviewDesk
  evaluator: Pick<Evaluator, 'settled'>
  /** Hears sound; without it, sound that a route wants scanned is denied. */
  transcriber: Pick<Files, 'read'> | undefined
  clock: Clock
  metrics: Pick<Metrics, 'streamAddedTtft' | 'streamEnds' | 'streamHeldBytes'>
}

/**
 * UTF-16 units, received and held, from which a judgement waits for its turn: fast streams together would otherwise
 * fill one turn of the loop.
 */
const largeLook = 2048

const nothingSettled: ReadonlyMap<string, number> = new Map()

export class Streams {
  readonly #deps: StreamDeps

  constructor(deps: StreamDeps) {
    this.#deps = deps
  }

  /** Resolves when the first hold is judged, so that a failure until then is a clean error with its own status. */
  async judge(exchange: Exchange, answer: UpstreamAnswer): Promise<Reply> {
    const { route, inbound } = exchange
    this.#deps.answers.passIfOff(exchange)
    this.#deps.answers.passSound(exchange)
    const source = this.#heard(exchange, openSource(exchange, answer))
    const frames = this.relay(exchange, source, route.spoken.openStream(inbound.target))
    const first = await frames.next()
    const headers = Object.assign(clientHeaders(route.spoken, answer, exchange.chat.model), streamHeaders(exchange))
    addVerdictHeaders(headers, exchange, exchange.requestVerdict)
    if (exchange.saidIn !== undefined) headers['x-safety-message-language'] = exchange.saidIn
    const encoding = encodingOf(route.spoken.framing(inbound.target))
    const reply: Reply = { status: answer.status, headers, body: Buffer.from(first.value, encoding) }
    if (first.done) return reply
    return {
      ...reply,
      rest: {
        encoding,
        frames,
        broken(error) {
          const fault = transportFault(error)
          const frame = fault instanceof JudgedFailure ? fault.frame : undefined
          return frame ?? route.spoken.errorFrame(fault, inbound.requestId, inbound.target)
        }
      }
    }
  }

  /** Holds sound in a stream until it is transcribed, where its route scans sound. */
  #heard({ route, inbound, body }: Exchange, source: Source): Source {
    const { transcriber } = this.#deps
    if (transcriber === undefined || route.output === 'off' || !isHeard(route)) return source
    const spelled = route.spoken.spelledSound?.(body)
    if (spelled === undefined) return source
    const events = new HeardAnswer(new Ear(transcriber, inbound), spelled).all(source.events)
    return {
      ...source,
      events,
      isLive: true,
      close(ended) {
        source.close(ended)
        events.return().catch(() => {})
      }
    }
  }

  /**
   * Yields the frames that may leave; returns the last ones. Throws where the upstream breaks, so that no broken answer
   * ends cleanly.
   */
  relay(exchange: Exchange, source: Source, stream: ReplyStream): AsyncGenerator<string, string, undefined> {
    const { output, mode } = exchange.route
    if (source.key !== undefined) stream.watch(source.key)
    return output === 'off' || mode === 'observe'
      ? this.#passOn(exchange, source, stream)
      : this.#hold(exchange, source, stream)
  }

  async *#hold(exchange: Exchange, source: Source, stream: ReplyStream): AsyncGenerator<string, string, undefined> {
    const { route, inbound } = exchange
    const { metrics, clock } = this.#deps
    const timer = new HoldClock(clock, route.output === 'window' ? route.hold.ms : undefined)
    const arrivals = new Arrivals(source.events, timer)
    const judgements = new Judgements()
    const looks = new Looks(clock)
    let held = 0
    let hasLeft = false
    let pushed: Pushed = 'more'
    let end: StreamEnd = 'client'
    const letGo = ({ text, stopped }: Settled): string => {
      metrics.streamHeldBytes.dec(held)
      held = 0
      if (!hasLeft) metrics.streamAddedTtft.observe(timer.sinceFirst() / 1000)
      hasLeft ||= !stopped
      timer.restart()
      if (stopped) end = 'filtered'
      return text
    }
    try {
      for (;;) {
        const next = looks.isFull(held) ? await looks.rest() : await arrivals.next(looks.left())
        if (next === 'late') {
          const settled = await this.settle(exchange, stream, undefined, judgements)
          if (settled.stopped) return letGo(settled)
          judgements.judged(stream)
          yield letGo(settled)
          continue
        }
        if (next !== 'due' && next.done) break
        const come = next === 'due' ? 0 : next.value.reduce((sum, { data }) => sum + data.length, 0)
        const turn = largeTurns.take(inbound.caller.lineage, come + stream.weight, largeLook)
        if (turn !== undefined) await turn
        if (next !== 'due') {
          timer.arrived()
          for (const event of next.value) {
            held += event.data.length
            metrics.streamHeldBytes.inc(event.data.length)
            pushed = stream.push(event)
            if (pushed !== 'more') break
          }
          if (pushed !== 'more') break
        }
        const isSpent = held >= route.hold.bytes
        if (!isSpent && (route.output === 'full' || !looks.areDue(stream))) continue
        const began = clock.monotonic()
        const upTo = isSpent ? undefined : this.#mayLeave(exchange, source, stream, judgements)
        if (!isSpent && (upTo === undefined || stream.isSpelling)) {
          looks.looked(began)
          continue
        }
        const settled = await this.settle(exchange, stream, upTo, judgements)
        if (settled.stopped) return letGo(settled)
        judgements.judged(stream)
        looks.looked(began)
        if (settled.text !== '') yield letGo(settled)
      }
      if (pushed === 'failed') {
        if (hasLeft) {
          const settled = await this.settle(exchange, stream, undefined, judgements)
          if (settled.stopped) return letGo(settled)
          yield letGo(settled)
        }
        throw await this.#failure(exchange, source, stream, hasLeft)
      }
      refuseCut(pushed, stream)
      pushed = 'end'
      const settled = await this.settle(exchange, stream, undefined, judgements)
      end = 'complete'
      return letGo(settled) + (settled.stopped ? '' : stream.end())
    } catch (error) {
      const reason = reasonOf(exchange, error)
      end = endOf(reason)
      throw reason
    } finally {
      metrics.streamEnds.inc({ end })
      metrics.streamHeldBytes.dec(held)
      source.close(pushed === 'end')
    }
  }

  /**
   * The upstream's own error, judged: for a client that has got nothing yet with its status, else as the last event.
   * @throws Fault as `Answers.ofError`
   */
  async #failure(exchange: Exchange, { key }: Source, stream: ReplyStream, hasLeft: boolean): Promise<Fault> {
    const { event, body, status } = stream.failure!
    if (status === 401) return credentialRefused(key)
    const told = hasLeft ? event : body
    const { body: changed = told } = await this.#deps.answers.ofError(exchange, told, key)
    return new JudgedFailure(status, changed, hasLeft ? stream.failed(changed) : undefined)
  }

  #mayLeave(
    exchange: Exchange,
    { isLive }: Source,
    stream: ReplyStream,
    judgements: Judgements
  ): ReadonlyMap<string, number> | undefined {
    const holding = stream.holding()
    const hasEnded = judgements.haveEnded(holding)
    const { isRaised } = judgements
    const settled = settledIn(this.#deps.evaluator, exchange, stream, holding, { isRaised, hasEnded })
    if (settled !== undefined) return settled
    return (isLive && stream.leaving(() => 0) !== undefined) || hasEnded ? nothingSettled : undefined
  }

  /**
   * Passes a stream on at once: for `output: off`, and for `mode: observe`, which judges text that has left already.
   */
  async *#passOn(exchange: Exchange, source: Source, stream: ReplyStream): AsyncGenerator<string, string, undefined> {
    const { route } = exchange
    const { answers, metrics } = this.#deps
    const isOff = route.output === 'off'
    let held = 0
    let count = 0
    let last = ''
    /** Not passed on yet. */
    let frames = ''
    let hasLeft = false
    let pushed: Pushed = 'more'
    let end: StreamEnd = 'client'
    const observe = async () => {
      held = 0
      if (isOff) await answers.fork(exchange, stream.answerId)
      else await answers.verdictOf(exchange, stream.content())
      stream.release(undefined, [])
    }
    try {
      for (;;) {
        const next = await source.events.next()
        if (next.done) break
        for (const event of next.value) {
          pushed = stream.push(event)
          if (pushed === 'failed') break
          held += event.data.length
          const frame = rawFrame(source.framing, event, ++count === 1)
          // The end is passed on once all is judged. A bare marker is what `end` writes.
          if (pushed === 'more') frames += frame
          else if (stream.end() === '') last = frame
          if (pushed === 'end') break
        }
        if (pushed === 'failed') break
        if (frames !== '' && (!stream.isSpelling || frames.length >= route.hold.bytes)) {
          yield frames
          hasLeft = true
          frames = ''
        }
        if (pushed === 'end') break
        if (held >= Math.min(route.hold.bytes, mostAtOnce)) await observe()
      }
      if (pushed === 'failed') {
        await observe()
        if (hasLeft && frames !== '') yield frames
        throw await this.#failure(exchange, source, stream, hasLeft)
      }
      refuseCut(pushed, stream)
      pushed = 'end'
      await observe()
      end = 'complete'
      return frames + last + stream.end()
    } catch (error) {
      const reason = reasonOf(exchange, error)
      end = endOf(reason)
      throw reason
    } finally {
      metrics.streamEnds.inc({ end })
      source.close(pushed === 'end')
    }
  }

  /**
   * Judges the held text.
   * @param upTo by channel, how much of it leaves if permitted; undefined: everything
   * @param judgements records this one; undefined: it is not needed later
   * @returns the frames that may leave
   */
  async settle(
    exchange: Exchange,
    stream: ReplyStream,
    upTo: ReadonlyMap<string, number> | undefined,
    judgements?: Judgements
  ): Promise<Settled> {
    const { route } = exchange
    const { answers, denials, reviews } = this.#deps
    const holding = stream.holding()
    const content = stream.content()
    judgements?.begins()
    const evaluation = await answers.verdictOf(exchange, content, judgements?.raised)
    const decision =
      evaluation === undefined || !bearsOnHeld(evaluation, content, holding) ? 'permit' : evaluation.decision
    switch (decision) {
      case 'permit':
        return { stopped: false, text: releaseHeld(exchange, stream, upTo, content, evaluation) }
      case 'forbid': {
        const stopped = { decision, direction: 'answer', content, evaluation: evaluation! } as const
        const denial = await denials.of(exchange, stopped)
        return { stopped: true, text: stream.filtered(turnFacts(exchange, denial)) }
      }
      case 'divert':
      case 'depends': {
        const denial = await reviews.ofAnswer(exchange, content, evaluation!, JSON.stringify(content.parts))
        const facts = turnFacts(exchange, denial)
        // In mid-stream a second turn would read as part of the first: so the stream ends as filtered, and its sentence
        // names the review.
        const ends = stream.started || denial.decision === 'forbid'
        return { stopped: true, text: ends ? stream.filtered(facts) : route.spoken.turnStream(facts) }
      }
      default:
        decision satisfies never
        throw new Error('unknown decision')
    }
  }
}

/** @throws Fault `upstream_error` where the stream has ended before its end */
function refuseCut(pushed: Pushed, { complete }: ReplyStream): void {
  if (pushed === 'more' && !complete) throw new Fault('upstream_error', { internal: 'the stream ended before its end' })
}

/** The reason of the abort is the cause, not the error that the transport made of it. */
function reasonOf({ inbound }: Exchange, error: unknown): unknown {
  if (inbound.cancel.reason !== undefined) return inbound.cancel.reason
  return error instanceof ClientGone ? error : transportFault(error)
}

/** Cause of a stream's end, for metrics and wire alike. */
type StreamEnd = 'complete' | 'filtered' | 'upstream' | 'client' | 'failed'

function endOf(reason: unknown): StreamEnd {
  if (reason instanceof ClientGone) return 'client'
  const isUpstream = reason instanceof Fault && (reason.code === 'upstream_error' || reason.code === 'upstream_timeout')
  return isUpstream ? 'upstream' : 'failed'
}

export interface Settled {
  /** True where the stream must not go on: the text ends it. */
  stopped: boolean
  text: string
}

/** An event as it came, framed anew. */
function rawFrame(framing: Framing, { event, data }: WireEvent, isFirst: boolean): string {
  if (framing === 'ndjson') return `${data}\n`
  if (framing === 'aws-event-stream') return messageOf('event', event ?? '', data)
  if (framing === 'json-array') return `${isFirst ? '[' : ',\r\n'}${data}`
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
}
