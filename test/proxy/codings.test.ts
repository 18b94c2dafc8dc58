/** Bodies in content codings, in both directions, and connections that outlive a refusal. */
import { Agent, request as httpRequest } from 'node:http'
import zlib from 'node:zlib'
import t from 'tap'
import { supportedEncodings } from '../../src/edge/body.js'
import { type Answer, chunks, completion, fakeUpstream, json, sseText } from '../support/upstream.js'
import { chat, gatewayKey, harness, route, shown, upstreamSettings } from './harness.js'

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
    const bytes = encode(Buffer.from(sseText(chunks('hel', 'lo'), false)))
    for (const [what, sent] of [
      ['no end marker', bytes],
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
