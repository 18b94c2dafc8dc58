/** One streamed answer through the funnel, without sockets: its bytes come in the chunks that a test gives. */
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { defaultBudget } from '../../src/base/budget.js'
import { systemClock } from '../../src/base/clock.js'
import type { RouteSettings } from '../../src/base/settings.js'
import { operationAt } from '../../src/dialects/index.js'
import { Judging } from '../../src/observe/judging.js'
import { createLog } from '../../src/observe/log.js'
import { entryOf, loadPolicy, type PolicyEntry } from '../../src/policy/evaluate/entry.js'
import { type EvaluatorOptions, evaluatorOf, type PolicyEvaluator } from '../../src/policy/evaluate/evaluator.js'
import type { Evaluator } from '../../src/policy/evaluation.js'
import { Answers } from '../../src/proxy/answer/answer.js'
import { Streams } from '../../src/proxy/answer/stream.js'
import { Denials } from '../../src/proxy/denials.js'
import { Cancel, Exchange } from '../../src/proxy/exchange.js'
import { encodingOf } from '../../src/proxy/headers.js'
import { MediaStage } from '../../src/proxy/request/media.js'
import { compileRoutes } from '../../src/proxy/request/routes.js'
import { ReviewDesk } from '../../src/proxy/review.js'
import { Verdicts } from '../../src/proxy/verdict.js'
import { shippedWording } from '../../src/wording/wording.js'
import { caller, FakeReviews, route as routeSettings, testMetrics, testRecorder, testUnjudged } from './harness.js'

const file = new URL('../../config/constitutions/default.yaml', import.meta.url)

export async function shippedEntry(): Promise<PolicyEntry> {
  return entryOf(await loadPolicy(readFileSync(file, 'utf8'), 'default.yaml'))
}

export function evaluatorFor(entry: PolicyEntry, encoder?: EvaluatorOptions['encoder']): PolicyEvaluator {
  return evaluatorOf([entry], { clock: systemClock, inlineLimit: 1_000_000, encoder })
}

const metrics = testMetrics()
const record = testRecorder(metrics)
const log = createLog({ level: 'silent', destination: { write() {} } })
const unjudged = testUnjudged(metrics, log)

/** @returns everything that a client is sent */
export async function relayed(
  evaluator: Evaluator,
  overrides: Partial<RouteSettings>,
  chunks: readonly Buffer[],
  { params = {}, query = '', type = 'text/event-stream' } = {}
): Promise<{ text: string; exchange: Exchange; reviews: FakeReviews }> {
  const settings = routeSettings(overrides)
  const table = compileRoutes([settings])
  const entry = table.entries[0]!
  const reviews = new FakeReviews()
  // Which stands still: where a stream is cut depends on its text alone, and on no rest between two looks at it.
  const clock = { now: systemClock.now, monotonic: () => 0 }
  const judging = new Judging({ evaluator, record, unjudged, exceptions: () => undefined })
  const verdicts = new Verdicts({ judging, clock, metrics })
  const denials = new Denials(shippedWording)
  const desk = new ReviewDesk(reviews, denials)
  const media = new MediaStage({ file: undefined, audio: undefined }, defaultBudget)
  const answers = new Answers({ media, verdicts, denials, reviews: desk, sessions: undefined, answerLimit: 1 })
  const streams = new Streams({ answers, denials, reviews: desk, evaluator, transcriber: undefined, clock, metrics })
  const body = { model: 'm', stream: true, messages: [] }
  const exchange = new Exchange({
    inbound: {
      entry,
      headers: {},
      target: { params, query },
      caller,
      requestId: 'req',
      started: 0,
      cancel: new Cancel()
    },
    route: entry.candidates[0]!,
    body,
    bytes: 0,
    sent: undefined,
    reviewed: body,
    chat: {
      parts: [],
      joined: [],
      media: [],
      stream: true,
      model: 'm',
      metadata: undefined,
      session: undefined
    },
    context: undefined,
    session: undefined,
    policy: evaluator.hold(settings.constitution),
    readAt: clock.now()
  })
  if (operationAt(settings.dialect, settings.upstreamPath) === undefined) throw new Error('no such operation')
  const reply = await streams.judge(exchange, {
    status: 200,
    headers: { 'content-type': type },
    body: Readable.from(chunks),
    key: undefined
  })
  const { body: first } = reply
  const { framing } = entry.dialect
  let text = Buffer.isBuffer(first) ? first.toString(encodingOf(framing({ params, query }))) : first
  if (reply.rest !== undefined) {
    for (;;) {
      const { value, done } = await reply.rest.frames.next()
      text += value ?? ''
      if (done) break
    }
  }
  return { text, exchange, reviews }
}

/** Every run of `length` characters of a text. */
export function* runsOf(text: string, length: number): Generator<string> {
  for (let i = 0; i + length <= text.length; i++) yield text.slice(i, i + length)
}
