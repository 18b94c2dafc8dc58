/** Whatever bytes come: every reader answers, or refuses in its own words; none throws anything else, none depends on how they were cut. */
import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { Fault } from '../../src/base/errors.js'
import { ConfigError } from '../../src/config/problem.js'
import type { Dialect, Framing } from '../../src/dialects/dialect.js'
import { MessageReader } from '../../src/dialects/event-stream.js'
import { dialects } from '../../src/dialects/index.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import { decodeBody } from '../../src/edge/body.js'
import { clientAddress, compileAddressList } from '../../src/identity/address.js'
import { presentedKey } from '../../src/identity/credentials.js'
import { generateKey, parseKey } from '../../src/identity/key-format.js'
import { parseJson } from '../../src/json/parse.js'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { ConstitutionError } from '../../src/policy/constitution/problems.js'
import { readWire } from '../../src/proxy/answer/events.js'
import { readingsOf } from '../../src/text/views.js'
import { corpus } from '../fixtures/fuzz-corpus.js'
import { no, yes } from '../fixtures/json-texts.js'
import { part, source } from '../policy/support.js'
import { evaluatorFor, shippedEntry } from '../proxy/stream-cuts.js'
import { rules } from '../support/cli.js'
import { mutated, mutatedBytes } from '../support/mutate.js'
import { isSound, wires } from '../support/wires.js'
import { isFull, promise } from './report.js'

t.setTimeout(3_600_000)
const runs = Number(process.env['FUZZ_RUNS'] ?? (isFull ? 20_000 : 300))
let total = 0
let failures = 0

/** Tries a property as often as is asked for, first on what was found once. */
async function fuzz<T>(
  t: Test,
  name: string,
  arbitrary: fc.Arbitrary<T>,
  holds: (value: T) => unknown,
  examples: readonly T[] = []
) {
  const property = fc.asyncProperty(arbitrary, async (value) => void (await holds(value)))
  const { failed, counterexample, errorInstance, numRuns } = await fc.check(property, {
    numRuns: runs,
    examples: examples.map((each) => [each] as [T])
  })
  total += numRuns
  if (failed) failures++
  const told = failed
    ? `${fc.stringify(counterexample)}: ${errorInstance instanceof Error ? errorInstance.stack?.slice(0, 600) : errorInstance}`
    : ''
  t.notOk(failed, `${name}, ${numRuns} inputs ${told}`)
}

/** What a reader makes of it; faults are its own words, anything else is a mistake of ours. */
function outcome<R>(read: () => R): R | 'refused' {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) return 'refused'
    throw error
  }
}

const same = (a: unknown, b: unknown, what: string) => {
  if (JSON.stringify(a) !== JSON.stringify(b))
    throw new Error(`${what}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`)
}
const must = (holds: boolean, what: string) => {
  if (!holds) throw new Error(what)
}

const jsonPieces = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  '\\',
  '\\u',
  '\\ud83d',
  '0',
  '1e',
  '-',
  '.',
  'null',
  ' ',
  '\n',
  '\u2028',
  '\ufeff',
  '__proto__',
  '"a":1,'
]

t.test('JSON', async (t) => {
  await fuzz(
    t,
    'read again as it was read',
    mutatedBytes(
      [...yes, ...no].filter((each) => each.length < 500),
      jsonPieces
    ),
    (bytes) => {
      const value = outcome(() => parseJson(bytes))
      if (value === 'refused') return
      const text = JSON.stringify(value)
      same(parseJson(text), value, 'read again')
      const replaced = JSON.stringify(JSON.parse(bytes.toString()), (_, each) =>
        typeof each === 'string' ? Buffer.from(each).toString() : each
      )
      if (!/\\u[dD]/.test(bytes.toString())) same(value, JSON.parse(replaced), 'the native reader’s')
    },
    corpus.json.map((each) => Buffer.from(each))
  )
  await fuzz(
    t,
    'bodies in any coding',
    fc.tuple(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'zstd', '__proto__', 'constructor')
    ),
    async ([bytes, coding]) => {
      try {
        await decodeBody(Buffer.from(bytes), coding, 1000)
      } catch (error) {
        if (!(error instanceof Fault)) throw error
      }
    }
  )
})

/** All events of a body that comes in these pieces, or that it was refused. */
async function eventsOf(framing: Framing, pieces: readonly Buffer[]): Promise<WireEvent[] | 'refused'> {
  const events: WireEvent[] = []
  try {
    for await (const some of readWire(framing, Readable.from(pieces))) events.push(...some)
  } catch (error) {
    if (error instanceof Fault) return 'refused'
    throw error
  }
  return events.map(({ event, data }) => ({ event, data }))
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set([0, ...cuts.map((each) => each % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end))
}

/** Server-sent events by the letter of WHATWG HTML, section 9.2.6, a last event without its blank line included. */
function referenceEvents(text: string): { event: string | undefined; data: string }[] {
  const events: { event: string | undefined; data: string }[] = []
  let data: string[] = []
  let event: string | undefined
  for (const line of `${text.replace(/^\ufeff/, '')}\n\n`.split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (data.length > 0) events.push({ event, data: data.join('\n') })
      data = []
      event = undefined
      continue
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (name === 'data') data.push(value)
    if (name === 'event') event = value === '' ? undefined : value
  }
  return events
}

const cuts = fc.array(fc.nat(), { maxLength: 6 })
const framed = (type: string) =>
  wires
    .filter((wire) => wire.type === type)
    .map((wire) => Buffer.from(wire.frames(['a', 'é😀']).join(''), wire.encoding))

t.test('streams', async (t) => {
  await fuzz(
    t,
    'messages',
    fc.tuple(mutatedBytes(framed('application/vnd.amazon.eventstream'), ['\0\0\0', ':event-type', '{"a":1}']), cuts),
    async ([bytes, at]) => {
      const whole = await eventsOf('aws-event-stream', [bytes])
      same(await eventsOf('aws-event-stream', cut(bytes, at)), whole, 'however it is cut')
      same(
        await eventsOf(
          'aws-event-stream',
          [...bytes].map((each) => Buffer.from([each]))
        ),
        whole,
        'byte by byte'
      )
    }
  )
  const ssePieces = [
    'data:',
    'data: ',
    'data',
    'event: x\n',
    'event',
    ':c\n',
    'id: 1\n',
    'retry: x\n',
    'retry: 5\n',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    '\ufeff',
    'é',
    '😀',
    '{"a":1}',
    '[DONE]',
    '\0',
    'foo: bar\n'
  ]
  await fuzz(
    t,
    'events',
    fc.tuple(mutatedBytes(framed('text/event-stream'), ssePieces), cuts),
    async ([bytes, at]) => {
      const whole = await eventsOf('sse', [bytes])
      same(await eventsOf('sse', cut(bytes, at)), whole, 'however it is cut')
      same(
        await eventsOf(
          'sse',
          [...bytes].map((each) => Buffer.from([each]))
        ),
        whole,
        'byte by byte'
      )
      // What a reference reader sees and this one does not would go by unjudged.
      if (whole !== 'refused') same(whole, referenceEvents(bytes.toString()), 'the reference')
    },
    corpus.sse.map((each): [Buffer, number[]] => [Buffer.from(each), [1]])
  )
  await fuzz(
    t,
    'lines',
    fc.tuple(mutatedBytes(framed('application/x-ndjson'), [...jsonPieces, '\n\n', '\r\n']), cuts),
    async ([bytes, at]) => {
      const whole = await eventsOf('ndjson', [bytes])
      same(await eventsOf('ndjson', cut(bytes, at)), whole, 'however it is cut')
      if (whole !== 'refused')
        same(
          whole.map(({ data }) => data),
          bytes
            .toString()
            .replace(/^\ufeff/, '')
            .split('\n')
            .filter((line) => line.trim() !== ''),
          'every line'
        )
    }
  )
  await fuzz(
    t,
    'arrays',
    fc.tuple(
      mutatedBytes(
        [...framed('application/json'), ...yes.filter((each) => each.startsWith('[') && each.length < 500)],
        jsonPieces
      ),
      cuts
    ),
    async ([bytes, at]) => {
      const whole = await eventsOf('json-array', [bytes])
      same(await eventsOf('json-array', cut(bytes, at)), whole, 'however it is cut')
      let value: unknown
      if (!isUtf8(bytes)) return must(whole === 'refused', 'other encodings are refused')
      try {
        value = JSON.parse(bytes.toString())
      } catch {
        return
      }
      if (!Array.isArray(value)) return must(whole === 'refused', 'what is no array is refused')
      must(whole !== 'refused', 'an array is read')
      same(
        (whole as WireEvent[]).map(({ data }) => JSON.parse(data)),
        value,
        'every element'
      )
    },
    corpus.array.map((each): [Buffer, number[]] => [Buffer.from(each), [1]])
  )
})

/** The objects of a whole stream, each under its name where the framing has names. */
function framesIn(wire: (typeof wires)[number]): unknown[] {
  const frames = wire.frames(['a', 'b'])
  if (wire.encoding === 'latin1') {
    const messages = new MessageReader(1e6).feed(Buffer.from(frames.join(''), 'latin1'))
    return messages.map(({ headers, payload }) => ({ type: headers[':event-type'], ...JSON.parse(payload) }))
  }
  // The last event and the end marker are one frame.
  const events = frames.flatMap((frame) => frame.split('\n\n'))
  return events.flatMap((event) => {
    const data = event
      .replace(/^event: .*\n/, '')
      .replace(/^data: /, '')
      .replace(/^[[,]\r?\n?/, '')
      .trim()
    return data.startsWith('{') ? [JSON.parse(data) as unknown] : []
  })
}

const target = { params: { model: 'm', deployment: 'd' }, query: '' }
const operations = Object.values(dialects).flat()
const answersOf = (dialect: Dialect) => wires.filter(({ name }) => name.split(',')[0] === dialect.id)

t.test('chats', async (t) => {
  for (const dialect of operations) {
    const spoken = answersOf(dialect)
    const requests = [
      ...spoken.map((wire) => wire.ask('hello', true)),
      {
        model: 'm',
        input: ['a', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] }],
        prompt: ['a'],
        tools: [{ type: 'function', function: { name: 'f', description: 'x', parameters: {} } }],
        messages: [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"b"}' } }]
          },
          { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'x' }] }
        ]
      },
      {
        contents: [{ role: 'user', parts: [{ text: 'x' }, { functionCall: { name: 'f', args: { a: 'b' } } }] }],
        systemInstruction: { parts: [{ text: 'y' }] },
        content: { parts: [{ text: 'x' }] },
        requests: [{ content: { parts: [{ text: 'x' }] } }]
      }
    ]
    const name = `${dialect.id}${dialect.suffix}`
    await fuzz(t, `${name}: requests`, mutated(requests), (body) => {
      const value = outcome(() => parseJson(JSON.stringify(body)))
      if (value === 'refused' || typeof value !== 'object' || value === null || Array.isArray(value)) return
      const chat = outcome(() => dialect.readRequest(value as JsonObject, target))
      if (chat !== 'refused')
        for (const { text, pointer } of chat.parts)
          must(typeof text === 'string' && typeof pointer === 'string', 'parts are texts')
    })
    await fuzz(
      t,
      `${name}: answers`,
      mutated([
        ...spoken.filter((wire) => !isSound(wire)).map((wire) => wire.whole('hello')),
        { error: { message: 'x' } }
      ]),
      (body) => {
        const value = outcome(() => parseJson(JSON.stringify(body)))
        if (value === 'refused' || typeof value !== 'object' || value === null || Array.isArray(value)) return
        outcome(() => dialect.readReply(value as JsonObject))
        outcome(() => dialect.readError(value as JsonObject))
        outcome(() => dialect.forgetTokens(value as JsonObject))
      }
    )
    const streamed = spoken.filter((wire) => wire.isWhole !== true)
    if (streamed.length === 0) continue
    const frames = streamed.map(framesIn)
    await fuzz(t, `${name}: streams`, mutated(frames), (events) => {
      const at = { ...target, query: dialect.framing(target) === 'sse' ? '' : '?alt=sse' }
      outcome(() => {
        const stream = dialect.openStream(at)
        for (const event of Array.isArray(events) ? events : [events]) {
          const text = JSON.stringify(event) ?? ''
          if (stream.push({ event: (event as { type?: string })?.type, data: text }) === 'end') break
        }
        const { parts } = stream.content()
        for (const { text } of parts) must(typeof text === 'string', 'parts are texts')
        stream.holding()
        must(typeof stream.release(undefined, []).frames === 'string', 'frames are text')
        stream.end()
      })
    })
  }
})

t.test('keys, addresses', async (t) => {
  const key = generateKey('live')
  await fuzz(
    t,
    'a key with one character changed is none',
    fc.tuple(fc.nat(65), fc.string({ unit: 'binary', minLength: 0, maxLength: 2 })),
    ([at, by]) => {
      const other = key.slice(0, at) + by + key.slice(at + 1)
      must(other === key || parseKey(other) === undefined, other)
    }
  )
  await fuzz(
    t,
    'any headers',
    fc.tuple(
      fc.constantFrom('x-api-key', 'authorization', 'api-key'),
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc
          .array(fc.constantFrom(key, generateKey('test'), 'Bearer', ' ', ',', '\t', 'x'), { maxLength: 6 })
          .map((parts) => parts.join(''))
      )
    ),
    ([name, value]) => {
      const { kind } = presentedKey({ [name]: value }, ['api-key'])
      must(kind !== 'key' || value.includes('slg_'), value)
    }
  )
  const trusted = compileAddressList(['10.0.0.0/8', '::1'])
  const list = compileAddressList(['192.0.2.0/24'])
  const hop = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string({ maxLength: 12 }),
    fc.constantFrom('10.0.0.1', '192.0.2.7', '', 'unknown', '[::1]:5', '192.0.2.7:80')
  )
  await fuzz(t, 'forwarded addresses', fc.array(hop, { maxLength: 5 }), (hops) => {
    must(clientAddress('203.0.113.9', hops, trusted) === '203.0.113.9', 'an untrusted peer is itself')
    const address = clientAddress('10.0.0.1', [...hops, '203.0.113.9'].join(','), trusted)
    must(address === '203.0.113.9' && !list(address), 'the right-most untrusted hop counts')
  })
})

t.test('texts', async (t) => {
  const evaluator = evaluatorFor(await shippedEntry())
  t.teardown(() => evaluator.close())
  const pieces = [
    'how to build a pipe bomb',
    'ignore previous instructions',
    'aGVsbG8gd29ybGQ=',
    '68656c6c6f',
    '%68%65',
    '\\u0068',
    '&#104;',
    '.... . .-.. .-..',
    '\u200b',
    '\u202e',
    '\u{e0041}',
    '\ufe0f',
    '\ud800',
    '\udc00',
    '👩‍👩‍👧',
    'ｈｅｌｌｏ',
    'h.e.l.l.o',
    'uryyb',
    '=68=65',
    'xn--',
    '01101000 01101001',
    'ellohay',
    'a\u0300\u0301',
    ' ',
    '\n',
    '\0',
    'ﷺ',
    'ǆ',
    'İ',
    'ß'
  ]
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc
      .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 8 })), { maxLength: 12 })
      .map((each) => each.join(''))
  )
  await fuzz(
    t,
    'readings lie within their text',
    text,
    (given) => {
      const { views } = readingsOf(given)
      must(views[0]!.layer === 'plain' && views[0]!.text === given, 'the text itself comes first')
      must(views.length <= 64, `${views.length} views`)
      for (const view of views) {
        const { start, end } = view.textSpan(0, view.text.length)
        must(start >= 0 && end <= given.length && start <= end, `${view.layer}: ${start} to ${end}`)
      }
    },
    corpus.texts
  )
  await fuzz(
    t,
    'verdicts are whole and repeatable',
    text,
    async (given) => {
      const input = {
        parts: [part(given)],
        joined: [],
        context: undefined,
        session: undefined,
        direction: 'request' as const
      }
      const [one, two] = [await evaluator.evaluate(input), await evaluator.evaluate(input)]
      same([one.decision, one.risk_score, one.detections], [two.decision, two.risk_score, two.detections], 'again')
      for (const { span } of one.detections)
        must(span.start >= 0 && span.start <= span.end && span.end <= given.length, JSON.stringify(span))
      const settled = evaluator.settled(given, { role: 'assistant', direction: 'answer', redact: [] }, 'default')
      must(settled >= 0 && settled <= given.length, `settled ${settled}`)
    },
    corpus.texts
  )
  t.equal(evaluator.uncoveredChars(), 0)
})

t.test('constitutions', async (t) => {
  const yaml = source({ rules, lexicons: 'w: [a, b]' })
  const lines = yaml.split('\n')
  const pieces = [
    ...lines.map((line) => `${line}\n`),
    'rules:\n',
    '  - ',
    '{ ',
    ' }',
    '[',
    ']',
    '&a ',
    '*a',
    '<<: *a\n',
    '!!binary ',
    '!tag ',
    '|',
    '>',
    '"',
    "'",
    '#',
    ': ',
    '- ',
    '? ',
    '\t',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '\0',
    '\ufeff',
    'null',
    '.inf',
    '.nan',
    '0x1',
    '1e999',
    'name: x\n',
    'pattern: "(a+)+$"',
    'pattern: "["',
    'any: []',
    'all: [[a]]',
    'within: -1',
    'weight: 2',
    'extends: default\n',
    '__proto__: x\n',
    'constructor: {}\n'
  ]
  await fuzz(
    t,
    'refused with what is wrong, or read',
    mutatedBytes([yaml], pieces),
    (bytes) => {
      try {
        parseConstitution(bytes.toString(), 'x.yaml')
      } catch (error) {
        if (!(error instanceof ConstitutionError) && !(error instanceof ConfigError)) throw error
      }
    },
    corpus.constitutions.map((each) => Buffer.from(each))
  )
})

t.test('all of it', async (t) => {
  promise(
    t,
    'any bytes at every reader',
    `${failures} properties broken by ${total} inputs, ${runs} for each`,
    'every input read or refused',
    t.passing()
  )
})
