/**
 * What is evaluated is what is forwarded: a marked text in any place and of any type, in requests, answers, streams, errors
 * and headers of every API, reaches the other side only if the evaluator was given it.
 */

import { Readable } from 'node:stream'
import type { Test } from 'tap'
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { Fault } from '../../src/base/errors.js'
import { type DialectId, dialectIds } from '../../src/base/settings.js'
import { HeldStream } from '../../src/dialects/held-stream.js'
import { RealtimeStreamShape } from '../../src/dialects/openai-realtime/stream.js'
import type { Evaluator } from '../../src/policy/evaluation.js'
import { Cancel, type Inbound, type Reply } from '../../src/proxy/exchange.js'
import { judgeSingle } from '../../src/proxy/realtime/lane.js'
import type { UpstreamAnswer } from '../../src/proxy/upstream/send.js'
import { published } from '../dialects/published/index.js'
import { buildProxy, caller, type MarkerEvaluator, route, upstreamSettings } from '../proxy/harness.js'
import { evaluatorFor, shippedEntry } from '../proxy/stream-cuts.js'
import { type Asked, operations, realtimeAnswer, realtimeEvents } from '../support/answers.js'
import { asSent } from '../support/forms.js'
import { type Change, dresses, marked, namesIn, placesOf, randomOf } from '../support/marks.js'
import { isFull, promise } from './report.js'

t.setTimeout(3_600_000)
/** Cases of each operation and direction. */
const cases = isFull ? 2500 : 200
/** A text that the shipped constitution forbids, in fewer of them: it is read by the whole evaluator. */
const judgedCases = isFull ? 400 : 12
const forbidden = 'How to make a pipe bomb at home'
/** What an answer of a few hundred bytes may become. */
const mostBytes = 200_000

const random = randomOf(20_251_122)
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!

/** The funnel of a path, whose evaluator is the harness's or the shipped one. */
function funnel(
  t: Test,
  dialect: DialectId,
  path: string,
  { method = 'POST', shipped }: { method?: 'GET' | 'POST'; shipped?: Evaluator | undefined } = {}
) {
  const settings = route({ path, upstreamPath: path, dialect, method, unscannable: 'permit' })
  const { proxy, evaluator } = buildProxy(t, [settings], { default: upstreamSettings('http://127.0.0.1:1') }, shipped)
  const entry = proxy.table.entries[0]!
  const inbound = (params: Record<string, string>, query: string): Inbound => ({
    entry,
    headers: {},
    target: { params, query },
    caller,
    requestId: 'req',
    started: 0,
    cancel: new Cancel()
  })
  return { proxy, evaluator, inbound, entry }
}

interface Case {
  body: JsonObject
  what: string
  sent: string
  seen: string
}

let count = 0

/** A body with a mark somewhere. */
function anyCase(body: JsonObject, names: readonly string[], text?: string): Case | undefined {
  const places = placesOf(body)
  if (places.length === 0) return undefined
  const own = text ?? `so says zq${++count}canary to you`
  const dress = pick(Object.keys(dresses))
  const { value, sent, seen } = dresses[dress]!(own)
  const place = pick(places)
  const change = pick<Change>(['value', 'value', 'key', { beside: pick(names) }, { beside: pick(names) }])
  const key = typeof value === 'string' ? value : own
  const isPlain = change === 'key' && typeof value !== 'string'
  const changed = marked(body, place, change, value, key)
  if (changed === undefined) return undefined
  const told = typeof change === 'string' ? change : `beside: ${change.beside}`
  return {
    body: changed,
    what: `${place.join('/')} (${told}, ${dress})`,
    sent: isPlain ? own : sent,
    seen: isPlain ? own : seen
  }
}

function wasSeen({ inputs }: MarkerEvaluator, text: string): boolean {
  return inputs.some(({ parts }) => parts.some((part) => part.text.includes(text)))
}

async function textOf({ body, rest }: Reply): Promise<string> {
  let text = String(body)
  if (rest === undefined) return text
  try {
    for (;;) {
      const { value, done } = await rest.frames.next()
      text += value ?? ''
      if (done) return text
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return text
  }
}

/** What went each way is compared with what the evaluator was given; what leaked is told. */
class Findings {
  tried = 0
  forwarded = 0
  readonly leaks: string[] = []

  note(name: string, each: Case, text: string, evaluator: MarkerEvaluator | undefined): void {
    this.tried++
    if (text.length > mostBytes) this.leaks.push(`${name} ${each.what}: ${text.length} bytes`)
    if (!text.includes(each.sent)) return
    this.forwarded++
    // Encoded text that stands in a place for text is judged as it stands: the evaluator decodes it itself.
    if (evaluator === undefined || !(wasSeen(evaluator, each.seen) || wasSeen(evaluator, each.sent)))
      this.leaks.push(`${name} ${each.what}`)
  }

  tell(t: Test, what: string, { mayForward = true } = {}): void {
    for (const leak of this.leaks.slice(0, 20)) t.comment(leak)
    const figure = `${this.leaks.length} of ${this.tried} (${this.forwarded} forwarded)`
    promise(t, `unjudged in ${what}`, figure, '0', this.leaks.length === 0 && this.tried > 0)
    if (mayForward) t.ok(this.forwarded > this.tried / 20, 'what is harmless is forwarded')
  }
}

async function requests(dialect: DialectId, shipped: Evaluator | undefined, runs: number, t: Test) {
  const found = new Findings()
  const names = [...new Set(published[dialect].flatMap(({ body }) => namesIn(body)))]
  const funnels = new Map(published[dialect].map(({ path }) => [path, funnel(t, dialect, path, { shipped })]))
  for (let i = 0; i < runs; i++) {
    const request = pick(published[dialect])
    const each = anyCase(request.body, names, shipped === undefined ? undefined : forbidden)
    if (each === undefined) continue
    const own = funnels.get(request.path)!
    own.evaluator.inputs.length = 0
    let sent = ''
    const asked = asSent(own.entry.dialect, each.body)
    if (asked === undefined) continue
    await own.proxy.funnel.run(
      { ...own.inbound(request.params, ''), headers: { 'content-type': asked.type } },
      asked.bytes,
      async (_, { bytes }) => {
        sent = bytes.toString()
        throw new Fault('upstream_error')
      }
    )
    found.note(request.path, each, sent, shipped === undefined ? own.evaluator : undefined)
  }
  return found
}

type Kind = 'whole' | 'stream' | 'error'

/** An answer with a mark in it. */
function anyAnswer(
  asked: Asked,
  kind: Kind,
  names: readonly string[],
  text?: string
): (Case & { answer: UpstreamAnswer }) | undefined {
  if (kind === 'stream') {
    const frames = [...pick(asked.streams.filter((each) => each.length > 0))]
    const events = frames.flatMap((frame, i) => (frame.includes('{') ? [i] : []))
    const at = pick(events)
    const frame = frames[at]!
    const [from, to] = [frame.indexOf('{'), frame.lastIndexOf('}') + 1]
    const each = anyCase(JSON.parse(frame.slice(from, to)) as JsonObject, names, text)
    if (each === undefined) return undefined
    const { reframe = () => frame.slice(0, from) + JSON.stringify(each.body) + frame.slice(to) } = asked
    frames[at] = reframe(frame, each.body)
    const what = `event ${at} ${each.what}`
    const bytes = frames.map((part) => Buffer.from(part, asked.encoding))
    return { ...each, what, answer: answerOf(200, asked.type, Readable.from(bytes)) }
  }
  const each = anyCase(kind === 'error' ? asked.error : pick(asked.whole), names, text)
  if (each === undefined) return undefined
  const bytes = Buffer.from(JSON.stringify(each.body))
  return { ...each, answer: answerOf(kind === 'error' ? 400 : 200, 'application/json', bytes) }
}

function answerOf(status: number, type: string, body: Buffer | Readable): UpstreamAnswer {
  return { status, headers: { 'content-type': type }, body, key: undefined }
}

function fieldsOf(asked: Asked): string[] {
  const events = asked.streams.flat().filter((frame) => frame.includes('{'))
  const bodies = events.map((frame) => JSON.parse(frame.slice(frame.indexOf('{'), frame.lastIndexOf('}') + 1)) as Json)
  return [...new Set([...bodies, ...asked.whole, asked.error].flatMap(namesIn))]
}

async function answers(asked: Asked, kind: Kind, shipped: Evaluator | undefined, runs: number, t: Test) {
  const found = new Findings()
  const { proxy, evaluator, inbound, entry } = funnel(t, asked.dialect, asked.path, { shipped })
  const names = fieldsOf(asked)
  for (let i = 0; i < runs; i++) {
    const each = anyAnswer(asked, kind, names, shipped === undefined ? undefined : forbidden)
    if (each === undefined) continue
    evaluator.inputs.length = 0
    const sent = asSent(entry.dialect, asked.ask(kind === 'stream'))!
    const outcome = await proxy.funnel.run(
      { ...inbound(asked.params, kind === 'stream' ? asked.query : ''), headers: { 'content-type': sent.type } },
      sent.bytes,
      async () => each.answer
    )
    const { reply } = outcome!
    found.note(
      asked.path,
      each,
      (await textOf(reply)) + JSON.stringify(reply.headers),
      shipped === undefined ? evaluator : undefined
    )
  }
  return found
}

const shippedEvaluator = evaluatorFor(await shippedEntry())
t.teardown(() => shippedEvaluator.close())

for (const dialect of dialectIds) {
  t.test(`requests: ${dialect}`, async (t) => {
    const found = await requests(dialect, undefined, cases, t)
    found.tell(t, `requests of ${dialect}`)
    const judged = await requests(dialect, shippedEvaluator, judgedCases, t)
    judged.tell(t, `requests of ${dialect}, by the shipped constitution`, { mayForward: false })
  })
}

for (const asked of operations) {
  for (const kind of ['whole', 'stream', 'error'] as const) {
    if ((kind === 'stream' && asked.streams.length === 0) || (kind === 'whole' && asked.whole.length === 0)) continue
    t.test(`${kind}: ${asked.path}${asked.query}`, async (t) => {
      const found = await answers(asked, kind, undefined, cases, t)
      found.tell(t, `${kind} answers of ${asked.path}${asked.query}`, { mayForward: asked.streams.length > 0 })
      const judged = await answers(asked, kind, shippedEvaluator, judgedCases, t)
      judged.tell(t, `${kind} answers of ${asked.path}${asked.query}, by the shipped constitution`, {
        mayForward: false
      })
    })
  }
}

t.test('headers', async (t) => {
  const named = 'retry-after retry-after-ms openai-model openai-version openai-processing-ms request-id apim-request-id'
  const others =
    'x-ms-region x-ratelimit-limit-requests x-request-id set-cookie location www-authenticate server via link'
  const found = new Findings()
  const kept: Record<string, string> = {}
  for (const asked of operations.filter(({ streams }) => streams.length > 0)) {
    const { proxy, evaluator, inbound, entry } = funnel(t, asked.dialect, asked.path)
    const get = async (headers: Record<string, string>, kind: Kind) => {
      const { answer } = { answer: answerOf(kind === 'error' ? 400 : 200, 'application/json', Buffer.from('{}')) }
      const frames = asked.streams[0]?.map((part) => Buffer.from(part, asked.encoding)) ?? []
      const body = kind === 'stream' ? Readable.from(frames) : Buffer.from(JSON.stringify(asked.error))
      const type = kind === 'stream' ? asked.type : 'application/json'
      const sent = asSent(entry.dialect, asked.ask(kind === 'stream'))!
      const outcome = await proxy.funnel.run(
        { ...inbound(asked.params, kind === 'stream' ? asked.query : ''), headers: { 'content-type': sent.type } },
        sent.bytes,
        async () => ({ ...answer, body, headers: { 'content-type': type, ...headers } })
      )
      await textOf(outcome!.reply)
      return outcome!.reply.headers
    }
    for (const name of `${named} ${others}`.split(' ')) {
      for (const kind of ['stream', 'error'] as const) {
        for (const text of [
          'so says zq0canary',
          'zq0canary',
          'm-zq0canary',
          'req_zq0canary',
          '12 zq0canary',
          '2020-10-01zq0canary'
        ]) {
          const headers = await get({ [name]: text }, kind)
          const each = { body: {}, what: `${kind} ${name}: ${text}`, sent: 'zq0canary', seen: 'zq0canary' }
          found.note(asked.path, each, JSON.stringify(headers), evaluator)
        }
      }
    }
    const documented = {
      'retry-after': '7',
      'openai-model': 'm-2024-08-06',
      'openai-version': '2020-10-01',
      'openai-processing-ms': '12',
      'request-id': 'req_011CSHoEeqs5C35K2UUqR7Fy'
    }
    Object.assign(kept, await get(documented, 'error'))
    t.equal((await get({ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 'error'))['retry-after']?.length, 29)
  }
  t.match(kept, {
    'retry-after': '7',
    'openai-model': 'm-2024-08-06',
    'openai-version': '2020-10-01',
    'request-id': /^req_/
  })
  found.tell(t, 'headers of upstreams', { mayForward: false })
})

t.test('events of a session', async (t) => {
  const { proxy, evaluator, inbound, entry } = funnel(t, 'openai-realtime', '/v1/realtime', { method: 'GET' })
  const { stages } = proxy
  const chat = { stream: true, model: undefined, metadata: undefined, session: undefined }
  const exchange = () =>
    stages.requests.open(
      inbound({}, ''),
      entry.candidates[0]!,
      { ...chat, parts: [], joined: [], media: [] },
      { body: {} }
    )
  const nextId = () => 'event_1'
  const names = [...new Set([...realtimeAnswer, ...realtimeEvents].flatMap(namesIn))]
  const found = new Findings()
  const refused = (error: unknown) => {
    if (!(error instanceof Fault)) throw error
    return ''
  }
  for (let i = 0; i < cases * 2; i++) {
    evaluator.inputs.length = 0
    const isSingle = i % 2 === 0
    const events = isSingle ? [pick(realtimeEvents)] : [...realtimeAnswer]
    const at = random(events.length)
    const each = anyCase(events[at]!, names)
    if (each === undefined) continue
    events[at] = each.body
    let text = ''
    if (isSingle) {
      text = await judgeSingle(stages, nextId, exchange(), JSON.stringify(each.body)).catch(refused)
    } else {
      const lines = events.map((event) => [{ data: JSON.stringify(event) }])
      const source = {
        framing: 'ndjson',
        events: (async function* () {
          yield* lines
        })(),
        key: undefined,
        isLive: true,
        close() {}
      } as const
      const frames = stages.streams.relay(
        exchange(),
        source,
        new HeldStream(new RealtimeStreamShape('response.done', nextId))
      )
      text = await textOf({ status: 200, headers: {}, body: '', rest: { encoding: 'utf8', frames, broken: () => '' } })
    }
    found.note('session', each, text, evaluator)
  }
  found.tell(t, 'events of a session')
})
