/**
 * Bodies as they come: what readers of JSON differ on is refused, or forwarded with the meaning that was judged, and never a
 * 5xx; content codings, in both directions; and connections that outlive a refusal.
 */
import { spawnSync } from 'node:child_process'
import { Agent, request as httpRequest } from 'node:http'
import zlib from 'node:zlib'
import t from 'tap'
import { parse as parseYaml, YAMLParseError } from 'yaml'
import { supportedEncodings } from '../../src/edge/body.js'
import { parseJson } from '../../src/json/parse.js'
import { either, no, yes } from '../fixtures/json-texts.js'
import { type Answer, chunks, completion, fakeUpstream, json, sseText } from '../support/upstream.js'
import { chat, gatewayKey, harness, route, shown, upstreamSettings } from './harness.js'

/** The text as a whole body, and as a value within a chat that is valid. */
const whole = (text: string | Buffer) => Buffer.from(text)
const within = (text: string | Buffer) =>
  Buffer.concat([Buffer.from('{"messages":[{"role":"user","content":"hi"}],"x":'), Buffer.from(text), Buffer.from('}')])
const named = (text: string | Buffer) =>
  JSON.stringify(text.toString('latin1'))
    .replace(/[^ -~]/g, '?')
    .slice(0, 80)

/** Every string and key of a value. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const each of value) yield* textsOf(each)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      yield key
      yield* textsOf(each)
    }
  }
}

/** YAML: it has comments, bare words, single quotes, numbers of many forms, and takes the last of two equal keys. */
const lenient = (text: Buffer): unknown => parseYaml(text.toString(), { uniqueKeys: false, logLevel: 'silent' })

t.test('JSON', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const pairs: [sent: Buffer, forwarded: Buffer, judged: Buffer][] = []

  let asTheyCame = 0

  async function ask(text: string | Buffer, put: (text: string | Buffer) => Buffer): Promise<number> {
    upstream.requests.length = 0
    gateway.evaluator.inputs.length = 0
    const sent = put(text)
    const response = await gateway.post(sent)
    await response.text()
    const { status } = response
    if (status !== 200) {
      t.equal(upstream.requests.length, 0, named(text))
      return status
    }
    const forwarded = upstream.requests[0]!.body
    const judgedAs = Buffer.from(JSON.stringify(parseJson(sent)))
    pairs.push([sent, forwarded, judgedAs])
    const isAsItCame = forwarded.equals(sent)
    if (!isAsItCame) t.ok(forwarded.equals(judgedAs) && sent.includes('\\'), `written anew: ${named(text)}`)
    asTheyCame += isAsItCame ? 1 : 0
    const judged = new Set(gateway.evaluator.inputs.flatMap(({ parts }) => parts.map((part) => part.text)))
    const { x } = JSON.parse(forwarded.toString()) as { x: unknown }
    const unseen = [...textsOf(x)].filter((each) => each !== '' && !judged.has(each))
    // Names that the API itself uses carry no message.
    t.same(
      unseen.filter((each) => !/^[a-z_]+$/.test(each)),
      [],
      `all of it judged: ${named(text)}`
    )
    return status
  }

  t.ok(no.length + yes.length + either.length > 300)
  for (const text of no) {
    for (const put of [whole, within]) t.equal(await ask(text, put), 400, `refused: ${named(text)}`)
  }
  for (const text of yes) t.equal(await ask(text, within), 200, `taken: ${named(text)}`)
  for (const text of either) {
    const status = await ask(text, within)
    t.ok(status === 200 || status === 400 || status === 422, `either: ${named(text)}: ${status}`)
  }

  t.ok(asTheyCame > 50)

  t.test('a lenient reader takes what was forwarded for what was judged, where it reads it', async (t) => {
    let read = 0
    for (const [, forwarded, judgedAs] of pairs) {
      try {
        t.same(lenient(forwarded), lenient(judgedAs), named(forwarded))
        read++
      } catch (error) {
        t.ok(error instanceof YAMLParseError, named(forwarded))
      }
    }
    t.ok(read > 50)
  })

  const skip = spawnSync('python3', ['-V']).error !== undefined && 'python3 is not installed'
  t.test('another reader takes what was forwarded for what was sent, and for what was judged', { skip }, async (t) => {
    const script = [
      'import json, sys, re',
      'def clean(v):',
      '  if isinstance(v, str): return re.sub("[\\ud800-\\udfff]", "\\ufffd", v)',
      '  if isinstance(v, list): return [clean(x) for x in v]',
      '  if isinstance(v, dict): return {clean(k): clean(x) for k, x in v.items()}',
      '  return v',
      'pairs = json.load(sys.stdin)',
      'load = lambda h: clean(json.loads(bytes.fromhex(h).decode("utf-8")))',
      'print(json.dumps([i for i, (a, b, c) in enumerate(pairs) if not load(a) == load(b) == load(c)]))'
    ].join('\n')
    const input = JSON.stringify(pairs.map((pair) => pair.map((each) => each.toString('hex'))))
    const ran = spawnSync('python3', ['-c', script], { input })
    const different = JSON.parse(ran.stdout.toString() || `"${ran.stderr}"`) as number[]
    t.same(
      different.map((at) => pairs[at]!.map(String)),
      []
    )
    t.ok(pairs.length >= yes.length)
  })
})

const { zstdCompressSync } = zlib as { zstdCompressSync?: typeof zlib.gzipSync }
const coders: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes),
  ...(zstdCompressSync && { zstd: (bytes: Buffer) => zstdCompressSync(bytes) })
}

/** An answer in pieces of a given size, whatever coding was asked for. */
function coded(bytes: Buffer, coding: string, type: string, piece = bytes.length): Answer {
  return async (res) => {
    res.writeHead(200, { 'content-type': type, 'content-encoding': coding })
    for (let at = 0; at < bytes.length && !res.destroyed; at += piece) {
      res.write(bytes.subarray(at, at + piece))
      await new Promise(setImmediate)
    }
    res.end()
  }
}

t.test(
  'every coding that a request may have, an answer may come in, whole and streamed, with the same verdict',
  async (t) => {
    t.same(Object.keys(coders), supportedEncodings.slice(1))
    const upstream = await fakeUpstream(t, json(completion('x')))
    const routes = [route({ output: 'full' }), route({ path: '/window', upstreamPath: '/v1/chat/completions' })]
    const gateway = await harness(t, routes, { default: upstreamSettings(upstream.url) })
    const types = { whole: 'application/json; charset=utf-8', streamed: 'text/event-stream;charset=UTF-8' }
    for (const [coding, encode] of Object.entries(coders)) {
      for (const [text, isBlocked] of [
        ['hello, hello, hello', false],
        ['and now forbidme please', true]
      ] as const) {
        const whole = encode(Buffer.from(JSON.stringify(completion(text))))
        for (const name of [coding, coding.toUpperCase()]) {
          upstream.answer = coded(whole, name, types.whole)
          const response = await gateway.post(chat('hi'))
          t.equal(response.headers.get('content-encoding'), null)
          const { message, finish_reason: finish } = (await response.json()).choices[0]
          t.same([message.content, finish], isBlocked ? [null, 'content_filter'] : [text, 'stop'], `${name}, whole`)
        }
        const stream = encode(Buffer.from(sseText(chunks(...(text.match(/.{1,5}/g) ?? [])))))
        for (const path of ['/v1/chat/completions', '/window']) {
          for (const piece of [1, 7, stream.length]) {
            upstream.answer = coded(stream, coding, types.streamed, piece)
            const got = await (await gateway.post(chat('hi', { stream: true }), {}, path)).text()
            const label = `${coding}, streamed to ${path} in pieces of ${piece}`
            t.match(got, /\[DONE\]/, label)
            if (isBlocked) t.notMatch(shown(got), /forbid/, label)
            else t.equal(shown(got), text, label)
            t.equal(got.includes('content_filter'), isBlocked, label)
          }
        }
      }
    }
  }
)

t.test('a coded stream that is cut, or is none, is an error and never an end', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('x')))
  const gateway = await harness(t, [route({ output: 'full' })], { default: upstreamSettings(upstream.url) })
  for (const [coding, encode] of Object.entries(coders)) {
    const bytes = encode(Buffer.from(sseText(chunks('hel', 'lo').slice(0, -1), false)))
    for (const [what, sent] of [
      ['no end', bytes],
      ['cut', bytes.subarray(0, bytes.length >> 1)],
      ['garbage', Buffer.from(sseText(chunks('hello')))]
    ] as const) {
      upstream.answer = coded(sent, coding, 'text/event-stream')
      const response = await gateway.post(chat('hi', { stream: true }))
      t.equal(response.status, 502, `${coding}, ${what}`)
      t.notMatch(await response.text(), /hel|\[DONE\]/, `${coding}, ${what}`)
    }
  }
  for (const coding of ['compress', 'gzip, br', 'constructor']) {
    upstream.answer = coded(Buffer.from('x'), coding, 'text/event-stream')
    t.equal((await gateway.post(chat('hi', { stream: true }))).status, 502, coding)
  }
  // 128 MiB of one character in one event, in an eighth of a megabyte: read up to the length that an event may have.
  const pack = zlib.createGzip()
  pack.write('data: ')
  const block = Buffer.alloc(1 << 20, 'x')
  const packed: Buffer[] = []
  pack.on('data', (chunk: Buffer) => packed.push(chunk))
  for (let i = 0; i < 128; i++) if (!pack.write(block)) await new Promise((resolve) => pack.once('drain', resolve))
  await new Promise((resolve) => pack.end(resolve))
  const before = process.memoryUsage().arrayBuffers
  upstream.answer = coded(Buffer.concat(packed), 'gzip', 'text/event-stream', 1024)
  t.equal((await gateway.post(chat('hi', { stream: true }))).status, 502, 'a bomb')
  t.ok(process.memoryUsage().arrayBuffers - before < 64 << 20, 'memory stays flat')
})

t.test('a connection is used again after a refusal, and what comes next on it is judged for itself', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('fine')))
  const gateway = await harness(t, [route({})], { default: upstreamSettings(upstream.url) })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const ports = new Set<number | undefined>()
  const ask = (body: string, headers: Record<string, string> = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(
        `${gateway.url}/v1/chat/completions`,
        {
          method: 'POST',
          agent,
          headers: {
            authorization: `Bearer ${gatewayKey}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            ...headers
          }
        },
        (response) => {
          ports.add(response.socket.localPort)
          response.resume().on('end', () => resolve(response.statusCode))
        }
      )
      request.on('error', reject).end(body)
    })
  const say = (text: string) => JSON.stringify(chat(text))
  for (const [body, headers, status] of [
    [say('hi'), {}, 200],
    [say('forbidme'), {}, 400],
    [say('hi'), {}, 200],
    [say('askme'), {}, 422],
    ['{"model":', {}, 400],
    [say('hi'), { 'content-type': 'text/plain' }, 415],
    [say('hi'), { authorization: 'Bearer wrong' }, 401],
    [say('hi'), { 'content-type': 'application/json; charset="utf-8"' }, 200],
    [say('hi'), { 'content-type': 'application/json; charset=latin1' }, 415],
    [say('divertme'), {}, 403],
    [say('hi'), {}, 200]
  ] as [string, Record<string, string>, number][]) {
    t.equal(await ask(body, headers), status, `${body} ${JSON.stringify(headers)}`)
  }
  t.equal(ports.size, 1, 'one connection for all')
  t.equal(upstream.requests.length, 4, 'and only what was permitted went on')
})
