/** What every operation of every dialect must do. Each runs the whole of it over cases and recordings of its own. */
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { ChatContent, ChatPart, Json, JsonObject } from '../../src/base/chat.js'
import { type ErrorCode, errorTable, Fault } from '../../src/base/errors.js'
import { type Denial, denialTable, type StoppingDecision } from '../../src/dialects/denial.js'
import type { Dialect, Target, TurnFacts } from '../../src/dialects/dialect.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import type { Replacement } from '../../src/dialects/rewrite.js'
import { categories, type Scores } from '../../src/policy/evaluation.js'
import { readWire } from '../../src/proxy/answer/events.js'
import { encodingOf } from '../../src/proxy/headers.js'
import { windowSuite } from './window-suite.js'

/** What a client makes of the frames that it got. */
export interface Assembled {
  /** By the pointer under which `readReply` knows the same text. */
  texts: Readonly<Record<string, string>>
  /** The reason to stop that it was told; undefined where the stream has not come to its end. */
  finish: string | undefined
}

export interface StreamCase {
  /** The events of a whole answer that spells the pieces out, one an event, in each channel. */
  spell(pieces: readonly string[]): WireEvent[]
  /** Those channels. */
  channels: readonly string[]
  /** @throws where the frames are no legal run of events of this API. Written against its documentation, not our code. */
  assemble(frames: string): Assembled
  /** The same frames with their events as they read, where they come encoded. */
  decoded?(frames: string): string
  /** What tells a client that an answer was withheld. */
  filteredFinish: string
  /** What an upstream may not send: everything that leaves it open what was said. */
  refused: readonly WireEvent[]
}

export interface DialectCase {
  operation: Dialect
  target?: Target
  /** The dialect's own words, which carry no message. */
  names: ReadonlySet<string>
  /** A request and an answer with any JSON wherever they are read differently. */
  request(hole: (n: number) => Json): JsonObject
  answer(hole: (n: number) => Json): JsonObject
  /** Undefined for an operation that does not stream. */
  stream?: StreamCase
}

export const noTarget: Target = { params: {}, query: '' }

export function denial(decision: StoppingDecision, direction: Denial['direction'] = 'request'): Denial {
  return {
    decision,
    direction,
    pointer: '/messages/0',
    reviewId: decision === 'divert' ? 'rev_1' : undefined,
    wording: {
      developer: { text: `For developers: ${decision} of the ${direction}.`, language: 'en' },
      end_user: { text: `For people: ${decision} of the ${direction}.`, language: 'en' }
    },
    evaluation: {
      risk_score: 0.9,
      decision,
      is_blocked: decision === 'forbid',
      matched_rules: ['r'],
      detections: [],
      decision_time_ms: 1,
      scores: Object.fromEntries(categories.map((name) => [name, 0])) as Scores,
      evaluation_id: 'eval_1',
      policy: 'default@1',
      ...(decision === 'depends' && { missing_context: ['topic'] })
    }
  }
}

export function facts(decision: StoppingDecision, target = noTarget, direction?: Denial['direction']): TurnFacts {
  return {
    denial: denial(decision, direction),
    request: { model: 'm' },
    target,
    requestId: 'req_1',
    created: 1_700_000_000
  }
}

/** Every string leaf and key of a value. */
export function leaves(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(leaves)
  return Object.entries(value).flatMap(([key, child]) => [key, ...leaves(child)])
}

/** A recording under test/fixtures/dialects. */
export function recorded(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../fixtures/dialects/${name}`, import.meta.url)), 'utf8')
}

const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
const decisions: readonly StoppingDecision[] = ['forbid', 'divert', 'depends']

export function dialectSuite(
  t: Test,
  { operation, target = noTarget, names, request, answer, stream }: DialectCase
): void {
  t.test(
    'whatever stands in a request, an answer or an error is seen, unless it is a word of the closed set',
    async (t) => {
      const missed = (content: ChatContent | undefined, body: Json) => {
        if (content === undefined) return []
        const texts = new Set(content.parts.map(({ text }) => text))
        return leaves(body).filter((leaf) => leaf !== '' && !names.has(leaf) && !texts.has(leaf))
      }
      fc.assert(
        fc.property(fc.array(anyJson, { minLength: 5, maxLength: 5 }), (values) => {
          const hole = (n: number) => values[n % values.length]!
          const asked = request(hole)
          const answered = answer(hole)
          fc.pre(readable(() => operation.readRequest(asked, target)))
          return (
            missed(operation.readRequest(asked, target), asked).length === 0 &&
            missed(operation.readReply(answered), answered).length === 0 &&
            missed(operation.readError(answered), answered).length === 0
          )
        })
      )
      t.pass('for all of the bodies tried')
    }
  )

  t.test('every code of the error table, and every verdict, says its code in a shape of this API', async (t) => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      const body = JSON.stringify(operation.error(new Fault(code, { fields: { retry_after: 1 } }), 'req_1'))
      t.match(body, code)
      t.match(body, errorTable[code].message)
    }
    for (const decision of decisions) {
      const said = denial(decision)
      const body = JSON.stringify(operation.denied(said, 'req_1'))
      t.match(body, denialTable[decision].code)
      t.match(body, said.wording.developer.text)
      t.notMatch(body, said.wording.end_user.text)
      if (!operation.hasTurns) continue
      const turn = operation.turn(facts(decision, target))
      t.ok(leaves(turn).includes(said.wording.end_user.text), 'the turn says why')
      t.not(operation.readReply(turn), undefined, 'the turn is an answer of this API')
      const bad = answer(() => 'kaboom')
      t.notMatch(JSON.stringify(operation.filtered(bad, facts(decision, target, 'answer'))), /kaboom/)
    }
  })

  if (stream === undefined) return
  streamSuite(t, operation, target, stream)
  windowSuite(t, operation, target, stream)
}

function readable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

function streamSuite(t: Test, operation: Dialect, target: Target, stream: StreamCase): void {
  const { spell, channels, assemble, decoded = (frames) => frames, filteredFinish, refused } = stream
  const textAt = (parts: readonly ChatPart[], pointer: string) => parts.find((part) => part.pointer === pointer)?.text
  const framing = operation.framing(target)
  /** The frames of a whole answer, as the gateway writes them. */
  const framesOf = (events: readonly WireEvent[]) => {
    const held = operation.openStream(target)
    for (const event of events) held.push(event)
    return held.release(undefined, []).frames + held.end()
  }

  t.test('a stream cut into increments anywhere is assembled to the same texts', async (t) => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 }), (pieces) => {
        const held = operation.openStream(target)
        for (const event of spell(pieces)) held.push(event)
        const { parts } = held.content()
        const open = held.holding().filter(({ isClosed }) => !isClosed)
        return open.length === 0 && channels.every((pointer) => textAt(parts, pointer) === pieces.join(''))
      })
    )
    t.pass('for all of the cuts tried')
  })

  t.test('events are the same whatever the network makes of them', async (t) => {
    const frames = Buffer.from(framesOf(spell(['é"\n', '\u{1F600}\\'])), encodingOf(framing))
    const read = async (cuts: readonly number[]) => {
      const chunks = [0, ...cuts].map((start, i) => frames.subarray(start, cuts[i]))
      const events: WireEvent[] = []
      for await (const ready of readWire(framing, Readable.from(chunks))) events.push(...ready)
      return JSON.stringify(events)
    }
    const whole = await read([])
    const different: (readonly number[])[] = []
    for (let at = 1; at < frames.length; at++) if ((await read([at])) !== whole) different.push([at])
    if ((await read(Array.from({ length: frames.length - 1 }, (_, i) => i + 1))) !== whole) different.push([])
    const anyCuts = fc.uniqueArray(fc.integer({ min: 1, max: frames.length - 1 }), { maxLength: 12 })
    for (const cuts of fc.sample(anyCuts, 500)) {
      const ordered = cuts.sort((a, b) => a - b)
      if ((await read(ordered)) !== whole) different.push(ordered)
    }
    t.same(different, [], `${frames.length} bytes cut in two, in single bytes, and 500 times at random`)
  })

  t.test('what leaves piece by piece is what was judged, redacted over every cut', async (t) => {
    const marker = 'me@x.example'
    const token = fc.oneof(fc.string({ maxLength: 6 }), fc.constant(marker))
    const cuts = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 10 })
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 8 }), cuts, (tokens, at) => {
        const text = tokens.join('').replaceAll('\\', '/')
        const pieces = cut(text, at)
        fc.pre(pieces.length > 0)
        const held = operation.openStream(target)
        let frames = ''
        for (const event of spell(pieces)) {
          held.push(event)
          const { parts } = held.content()
          const replacements = parts.flatMap((part) => marked(part, marker))
          const settled = new Map(parts.map((part) => [part.pointer, settledLength(part, marker)]))
          frames += held.release(settled, replacements).frames
        }
        frames +=
          held.release(
            undefined,
            held.content().parts.flatMap((part) => marked(part, marker))
          ).frames + held.end()
        const { texts, finish } = assemble(frames)
        const expected = text.replaceAll(marker, '<X>')
        return finish !== undefined && channels.every((pointer) => texts[pointer] === expected)
      })
    )
    t.pass('for all of the texts tried')
  })

  t.test('a stream may be ended as filtered after any event, and says so in the way of this API', async (t) => {
    const events = spell(['a', 'b', 'c'])
    const own = assemble(framesOf(events)).finish
    for (let count = 0; count < events.length; count++) {
      for (const decision of decisions) {
        const held = operation.openStream(target)
        for (const event of events.slice(0, count)) held.push(event)
        const begun = held.release(undefined, []).frames
        const ended = begun + held.filtered(facts(decision, target, 'answer'))
        const { finish } = assemble(ended)
        // Once everything was permitted and the reason to stop has left, there is nothing more to say.
        const isTold = decoded(begun).includes(`"${own}"`) && finish === own
        if (decision === 'forbid' && !isTold) t.equal(finish, filteredFinish, `forbidden after ${count} events`)
        else t.ok(finish, `${decision} after ${count} events`)
      }
      const open = operation.openStream(target)
      for (const event of events.slice(0, count)) open.push(event)
      const { frames } = open.release(undefined, [])
      if (frames !== '' && !open.complete) t.equal(assemble(frames).finish, undefined, `cut after ${count} events`)
    }
    for (const decision of decisions) {
      const { finish, texts } = assemble(operation.turnStream(facts(decision, target)))
      t.ok(finish)
      if (decision !== 'forbid' && operation.hasTurns) {
        t.ok(Object.values(texts).includes(denial(decision).wording.end_user.text))
      }
    }
  })

  t.test('what this API does not stream is an error of the upstream', async (t) => {
    for (const event of [...refused, { data: 'nonsense' }, { data: '[1]' }, { data: '' }]) {
      t.throws(
        () => operation.openStream(target).push(event),
        { code: 'upstream_error' },
        `${event.event ?? ''} ${event.data}`
      )
    }
  })
}

/** The text in pieces, none of them empty. */
function cut(text: string, at: readonly number[]): string[] {
  const borders = [0, ...at.filter((each) => each < text.length).sort((a, b) => a - b), text.length]
  return borders.slice(1).flatMap((end, i) => (end > borders[i]! ? [text.slice(borders[i], end)] : []))
}

function marked({ pointer, text }: ChatPart, marker: string): Replacement[] {
  return [...text.matchAll(new RegExp(marker.replaceAll('.', '\\.'), 'g'))].map(({ index }) => ({
    pointer,
    start: index,
    end: index + marker.length,
    text: '<X>'
  }))
}

/** How much of a text cannot become a part of a marker any more. */
function settledLength({ text }: ChatPart, marker: string): number {
  const last = text.lastIndexOf(marker)
  const after = last === -1 ? 0 : last + marker.length
  let open = Math.max(after, text.length - marker.length + 1)
  while (open < text.length && !marker.startsWith(text.slice(open))) open++
  return open
}
