/**
 * The answer's half of the funnel for an answer that comes in pieces. Everything is held, the response's headers too,
 * until the end marker or until the hold budget is spent; then it is judged as it stands. What is permitted leaves, anything
 * else ends the stream in the dialect's own way and aborts the upstream. `window` behaves as `full`.
 */
import { Readable } from 'node:stream'
import type { Framing } from '../dialects/dialect.js'
import type { ReplyStream, WireEvent } from '../dialects/reply-stream.js'
import type { Replacement } from '../dialects/rewrite.js'
import { Fault } from '../errors.js'
import { judgeContent, storeAnswer } from './answer-verdict.js'
import type { UpstreamAnswer } from './ask.js'
import { ClientGone, type Exchange, type Reply } from './exchange.js'
import { discard, transportFault } from './forward.js'
import { clientHeaders } from './headers.js'
import { addVerdictHeaders, streamHeaders, turnFacts } from './reply.js'
import { denialOf, redactions } from './verdict.js'
import { readWire } from './wire.js'

const defaultHoldBytes = 1024 * 1024

/** Resolves when the first hold is judged, so that whatever fails until then is a clean error with its own status. */
export async function judgeStream(exchange: Exchange, answer: UpstreamAnswer): Promise<Reply> {
  const { route, inbound } = exchange
  const coding = answer.headers['content-encoding']
  if (coding !== undefined && coding !== 'identity') {
    discard(answer.body)
    throw new Fault('upstream_error', { internal: 'the stream came in a content coding' })
  }
  const frames = relay(exchange, answer)
  const first = await frames.next()
  const headers = Object.assign(clientHeaders(route.spoken, answer.headers), streamHeaders(exchange))
  addVerdictHeaders(headers, exchange, exchange.requestVerdict)
  const reply: Reply = { status: answer.status, headers, body: first.value }
  if (first.done) return reply
  return {
    ...reply,
    rest: {
      frames,
      broken: (error) => route.spoken.errorFrame(transportFault(error), inbound.requestId)
    }
  }
}

/** Yields what may leave; returns the last of it. Throws where the upstream breaks: never a clean-looking end. */
async function* relay(exchange: Exchange, answer: UpstreamAnswer): AsyncGenerator<string, string, undefined> {
  const { deps, route, inbound } = exchange
  const gauge = deps.metrics.streamHeldBytes
  const body = Buffer.isBuffer(answer.body) ? Readable.from([answer.body]) : answer.body
  const budget = deps.holdBytes ?? defaultHoldBytes
  const passes = route.output === 'off' || route.mode === 'observe'
  const framing = route.spoken.framing(inbound.target)
  const stream = route.spoken.openStream(inbound.target)
  let held = 0
  let count = 0
  let firstAt: number | undefined
  let ended = false
  if (route.output === 'off') deps.metrics.notEvaluated.inc({ reason: 'output_off' })
  try {
    for await (const event of readWire(framing, body)) {
      firstAt ??= deps.clock.monotonic()
      count++
      if (answer.key !== undefined && event.data.includes(answer.key)) {
        throw new Fault('upstream_error', { internal: 'the answer holds the credential' })
      }
      if (stream.push(event) === 'end') {
        ended = true
        break
      }
      held += event.data.length
      if (passes) yield rawFrame(framing, event, count === 1)
      else gauge.inc(event.data.length)
      if (held < budget) continue
      const { stopped, text } = await settle(exchange, stream)
      if (stopped) return text
      if (!passes) gauge.dec(held)
      held = 0
      if (!passes) {
        if (!exchange.streaming) deps.metrics.streamAddedTtft.observe((deps.clock.monotonic() - firstAt) / 1000)
        exchange.streaming = true
        yield text
      }
    }
    if (!ended && !stream.complete) throw new Fault('upstream_error', { internal: 'the stream ended before its end' })
    ended = true
    const { stopped, text } = await settle(exchange, stream)
    if (stopped) return text
    if (!exchange.streaming && firstAt !== undefined && !passes) {
      deps.metrics.streamAddedTtft.observe((deps.clock.monotonic() - firstAt) / 1000)
    }
    return (passes ? '' : text) + stream.end()
  } catch (error) {
    // The abort's reason is what happened; what the transport made of it is not.
    if (inbound.cancel.reason !== undefined) throw inbound.cancel.reason
    throw error instanceof ClientGone ? error : transportFault(error)
  } finally {
    if (!passes) gauge.dec(held)
    // After the end marker the connection is left to close in its own time; anything else is cut.
    if (!ended) discard(body)
  }
}

/**
 * Judges what is held.
 * @returns the frames that may leave; where `stopped`, those that end the stream, which must not go on
 */
async function settle(exchange: Exchange, stream: ReplyStream): Promise<{ stopped: boolean; text: string }> {
  const { route } = exchange
  const leave = (replacements: readonly Replacement[]) => {
    const { frames, redacted } = stream.release(undefined, replacements)
    exchange.redacted += redacted
    return { stopped: false, text: frames }
  }
  if (route.output === 'off') return leave([])
  const content = stream.content()
  const evaluation = await judgeContent(exchange, content)
  if (evaluation === undefined || route.mode === 'observe') return leave([])
  const { decision } = evaluation
  switch (decision) {
    case 'permit':
      return leave(redactions(exchange, content, evaluation))
    case 'forbid':
      return {
        stopped: true,
        text: stream.filtered(turnFacts(exchange, denialOf(exchange, 'forbid', 'answer', content, evaluation)))
      }
    case 'divert':
    case 'depends': {
      const denial = await storeAnswer(exchange, content, evaluation, JSON.stringify(content.parts))
      const facts = turnFacts(exchange, denial)
      // In mid-stream a second turn would read as part of the first: it ends as filtered, its sentence names the review.
      return { stopped: true, text: stream.started ? stream.filtered(facts) : route.spoken.turnStream(facts) }
    }
    default:
      decision satisfies never
      throw new Error('unknown decision')
  }
}

/** An event as it came, framed anew. */
function rawFrame(framing: Framing, { event, data }: WireEvent, isFirst: boolean): string {
  if (framing === 'ndjson') return `${data}\n`
  if (framing === 'json-array') return `${isFirst ? '[' : ',\r\n'}${data}`
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
}
