/** Upstreams that break in every way, for every API: its own error, never a clean-looking end, never a second POST. */
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { guard } from '../../src/http-proxy.js'
import { generateKey } from '../../src/identity/key-format.js'
import { createLog } from '../../src/observe/log.js'
import { call, serveReal, tempDir } from '../support/gateway.js'
import { smallConstitution } from '../support/node.js'
import { isSound, sentBy, templatesOf, type Wire, wholeOf, wires } from '../support/wires.js'
import { isFull, promise } from './report.js'

t.setTimeout(900_000)
const key = generateKey('live')
const words = 'The harbour is quiet. '.repeat(12).match(/.{1,30}/g)!
const said = words.join('')
const mebibyte = 1024 * 1024

interface Reply {
  head: string
  /** Without the framing headers. */
  type: string
  /** A character for each byte, as everything is written here. */
  body: string
  frames: string[]
}

/** Writes until the other side is gone. */
async function endless(socket: Socket, piece: string, gapMs: number, first = ''): Promise<void> {
  if (first !== '') socket.write(first)
  while (!socket.destroyed && socket.writable) {
    const isFree = socket.write(piece)
    if (gapMs > 0) await setTimeout(gapMs)
    else if (!isFree) await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
    else await new Promise(setImmediate)
  }
}

const sized = ({ head, body }: Reply, length = body.length) => `${head}content-length: ${length}\r\n\r\n`
const chunked = ({ head }: Reply) => `${head}transfer-encoding: chunked\r\n\r\n`
const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`
const half = ({ body }: Reply) => body.slice(0, Math.floor(body.length / 2))

type Play = (socket: Socket, reply: Reply) => unknown
/** What the client is to be told: 502, 504, or either that or the whole answer. */
const faults: Readonly<Record<string, [expected: 502 | 504 | 'whole', play: Play]>> = {
  reset: [502, (s) => s.resetAndDestroy()],
  'reset in the body': [502, (s, r) => s.write(sized(r) + half(r), () => s.resetAndDestroy())],
  'half-closed without an answer': [502, (s) => s.end()],
  'half-closed in the head': [502, (s) => s.end('HTTP/1.1 200 OK\r\ncontent-ty')],
  'truncated, by chunks': [502, (s, r) => s.end(chunked(r) + chunk(half(r)))],
  'truncated in a chunk': [502, (s, r) => s.end(`${chunked(r)}ffff\r\n${half(r)}`)],
  'truncated, by length': [502, (s, r) => s.end(sized(r) + half(r))],
  // All of it is there, its end marker too, where the API has one.
  'a length too long': ['whole', (s, r) => s.end(sized(r, r.body.length + 9) + r.body)],
  'truncated, framed well': [502, (s, r) => s.end(sized(r, half(r).length) + half(r))],
  'without the end marker': [
    502,
    (s, { head, frames, body, type }) => {
      const cut = body.slice(0, type === 'whole' ? -1 : -frames.at(-1)!.length)
      s.end(`${head}content-length: ${cut.length}\r\n\r\n${cut}`)
    }
  ],
  'garbage for a status line': [502, (s) => s.end('SSH-2.0-OpenSSH_9.2\r\n\r\n')],
  'garbage for headers': [502, (s, r) => s.end(`HTTP/1.1 200 OK\r\n\x00\x01 nonsense\r\n\r\n${r.body}`)],
  'garbage for a body': [502, (s, r) => s.end(`${r.head}\r\n\x00\xff\xfe<html>\r\n\r\n`)],
  'HTTP/0.9': [502, (s, r) => s.end(r.body)],
  'a length too short': [502, (s, r) => s.write(sized(r, r.body.length - 20) + r.body)],
  'two lengths': [502, (s, r) => s.write(`${r.head}content-length: 5\r\ncontent-length: 6\r\n\r\n${r.body}`)],
  'a length and chunks': [
    502,
    (s, r) =>
      s.end(`${r.head}content-length: ${r.body.length}\r\ntransfer-encoding: chunked\r\n\r\n${chunk(r.body)}0\r\n\r\n`)
  ],
  'a length that is none': [502, (s, r) => s.end(`${r.head}content-length: -5\r\n\r\n${r.body}`)],
  'a chunk size that is none': [502, (s, r) => s.end(`${chunked(r)}zz\r\n${r.body}\r\n0\r\n\r\n`)],
  nothing: [502, (s, r) => s.end(sized(r, 0))],
  'no content': [502, (s) => s.end('HTTP/1.1 204 No Content\r\n\r\n')],
  'not modified': [502, (s) => s.end('HTTP/1.1 304 Not Modified\r\n\r\n')],
  'another protocol': [
    502,
    (s) => s.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\nhello')
  ],
  'another content type': [502, (s, r) => s.end(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n${r.body}`)],
  'no answer of this API': [
    502,
    (s, { head, type }) => {
      const other =
        type === 'text/event-stream'
          ? 'data: {"hello":1}\n\n'
          : type === 'application/json'
            ? '[{"hello":1}]'
            : '{"hello":1}\n'
      s.end(`${head}content-length: ${other.length}\r\n\r\n${other}`)
    }
  ],
  'a number': [502, (s, r) => s.end(`${r.head}content-length: 2\r\n\r\n42`)],
  'slow drip': [504, (s, r) => endless(s, '1\r\n \r\n', 100, chunked(r))],
  'slow drip of the head': [504, (s) => endless(s, 'x', 100, 'HTTP/1.1 200 OK\r\nx-a: ')],
  'never answers': [504, () => {}],
  'stops in the body': [504, (s, r) => s.write(sized(r) + half(r))],
  'interim answers without end': [504, (s) => endless(s, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', 20)],
  'a flood of interim answers': [
    'whole',
    (s, r) => s.write(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(2000)}${sized(r)}${r.body}`)
  ],
  'oversize, as announced': [502, (s, r) => s.write(`${r.head}content-length: 999999999999\r\n\r\n${half(r)}`)],
  'oversize, as sent': [
    502,
    async (s, { head, type }) => {
      s.write(`${head}\r\n${type === 'text/event-stream' ? 'data: ' : type === 'application/json' ? '[' : ''}{"x":"`)
      await endless(s, 'x'.repeat(mebibyte), 0)
    }
  ],
  'oversize, the head': [502, (s, r) => s.end(`HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(mebibyte)}\r\n\r\n${r.body}`)],
  'a coding that it is not in': [
    502,
    (s, r) => s.end(`${r.head}content-encoding: gzip\r\ncontent-length: ${r.body.length}\r\n\r\n${r.body}`)
  ],
  'an unknown coding': [
    502,
    (s, r) => s.end(`${r.head}content-encoding: snappy\r\ncontent-length: ${r.body.length}\r\n\r\n${r.body}`)
  ],
  'two codings': [
    502,
    (s, r) => s.end(`${r.head}content-encoding: gzip, br\r\ncontent-length: ${r.body.length}\r\n\r\n${r.body}`)
  ],
  'UTF-16': [
    502,
    (s, r) => {
      const wide = Buffer.from(`\ufeff${r.body}`, 'utf16le').toString('latin1')
      s.end(sized(r, wide.length) + wide)
    }
  ],
  'a redirect': [
    502,
    (s, r) =>
      s.end(
        `HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-type: application/json\r\ncontent-length: ${r.body.length}\r\n\r\n${r.body}`
      )
  ],
  'another redirect': [502, (s) => s.end('HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n')],
  // Whatever it is called, what is said is complete and judged.
  'an early answer': ['whole', (s, r) => s.end(sized(r) + r.body)]
}

interface Upstream {
  url: string
  /** How often each question came. */
  asked: Map<string, number>
}

/** Plays the fault that the question names; `early`: before the question has been read. */
async function brokenUpstream(t: Test): Promise<Upstream> {
  const asked = new Map<string, number>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.setDefaultEncoding('latin1')
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end === -1 || text.length < end + 4 + length) return
      const question = /«([^|]+)\|([^|]+)\|([^»]+)»/.exec(Buffer.from(text, 'latin1').toString())
      text = ''
      if (question === null) {
        socket.destroy()
        return
      }
      const [, id, name, fault] = question as unknown as [string, string, string, string]
      asked.set(id, (asked.get(id) ?? 0) + 1)
      const wire = wires.find((each) => each.name === name)!
      const stream = fault.endsWith(', streamed')
      const frames = wire.frames(words)
      const answer = stream
        ? { type: wire.type, bytes: Buffer.from(frames.join(''), wire.encoding) }
        : wholeOf(wire, said)
      const body = answer.bytes.toString('latin1')
      const head = `HTTP/1.1 200 OK\r\ncontent-type: ${answer.type}\r\n`
      void faults[fault.replace(/, streamed$/, '')]![1](socket, {
        head,
        type: stream ? answer.type : 'whole',
        body,
        frames
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address!.port : 0}`, asked }
}

interface Cell {
  wire: Wire
  fault: string
  stream: boolean
  output: string
}

/** A sound that is cut where nothing says its length, or that is another, is a sound. */
const unheard = /^(?:truncated, framed well|without the end marker|a length too short|UTF-16)$/

function* cellsOf(spoken: readonly Wire[]): Generator<Cell> {
  for (const fault of Object.keys(faults)) {
    for (const wire of spoken) {
      if (isSound(wire) && unheard.test(fault)) continue
      for (const stream of wire.isWhole ? [false] : [false, true]) {
        for (const output of stream ? ['full', 'window'] : ['full']) yield { wire, fault, stream, output }
      }
    }
  }
}

/**
 * How long the gateway waits. What has to run out of time does so soon; nothing else does, however busy the machine is that
 * plays it.
 */
const patience = {
  short: 'first_byte_timeout: 2s, idle_timeout: 2s, total_timeout: 4s',
  long: 'first_byte_timeout: 120s, idle_timeout: 120s, total_timeout: 240s'
}

function yamlFor(upstream: Upstream): string {
  const routes = wires.flatMap((wire) =>
    templatesOf(wire).flatMap((at) => {
      const dialect = wire.name.split(',')[0]
      // Pictures and sound are asked about only where they may pass.
      const more = `dialect: ${dialect}, unscannable: { image: permit, audio: permit }`
      return ['full', 'window'].flatMap((output) =>
        Object.keys(patience).map(
          (upstream) =>
            `  - { path: "/${upstream}/${output}${at}", upstream_path: "${at}", upstream: ${upstream}, output: ${output}, ${more} }`
        )
      )
    })
  )
  const upstreams = Object.entries(patience).map(
    ([name, times]) => `  ${name}: { url: "${upstream.url}", connect_timeout: 60s, ${times} }`
  )
  return ['upstreams:', ...upstreams, 'routes:', ...new Set(routes), ''].join('\n')
}

function expectedOfStream({ encoding }: Wire, fault: string): 502 | 504 | 'whole' {
  // Streams are not bounded as a whole: this one only stops.
  if (fault === 'oversize, as announced') return 504
  // Blanks between two events say nothing; where messages have lengths, they are no message.
  if (fault === 'slow drip' && encoding === 'latin1') return 502
  return faults[fault]![0]
}

/** What is wrong with what a client of this cell sees. */
async function play(url: string, { wire, fault, stream, output }: Cell, id: string): Promise<string[]> {
  const question = `«${id}|${wire.name}|${fault}${stream ? ', streamed' : ''}»`
  // Sound is passed on as it comes, too.
  const expected = stream || isSound(wire) ? expectedOfStream(wire, fault) : faults[fault]![0]
  const sent = sentBy(wire, question, stream)
  const response = await fetch(`${url}/${expected === 504 ? 'short' : 'long'}/${output}${wire.path(stream)}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': sent.type },
    body: sent.bytes
  })
  let body = ''
  let isCut = false
  try {
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) body += Buffer.from(piece)
  } catch {
    isCut = true
  }
  const problems: string[] = []
  const last = JSON.stringify(body.slice(-200))
  const { status } = response
  if (status === 200 && !isCut) {
    // Only a whole answer may look like one.
    if (expected !== 'whole') problems.push(`a clean end: ${last}`)
    else {
      const read = (wire.decoded?.(body) ?? body).replace(/\s/g, '')
      if (!read.includes(words.at(-1)!.replace(/\s/g, ''))) problems.push('not all of the answer')
    }
  } else if (status === 200) {
    if (output !== 'window') problems.push('text left before all of it was judged')
    if (wire.isComplete(body)) problems.push(`an end marker before the cut: ${last}`)
    if (!/upstream_(?:error|timeout)/.test(body)) problems.push(`no error frame: ${last}`)
  } else {
    let code: unknown
    try {
      code = wire.codeOf(JSON.parse(body))
    } catch {
      code = `unreadable ${last}`
    }
    if (status !== (expected === 'whole' ? 502 : expected)) problems.push(`status ${status}`)
    if (code !== (status === 504 ? 'upstream_timeout' : 'upstream_error')) problems.push(`code ${code}`)
    if (isCut) problems.push('the error itself is cut')
  }
  return problems
}

async function playAll(t: Test, front: string, url: string, upstream: Upstream, cells: readonly Cell[]): Promise<void> {
  let wrong = 0
  let next = 0
  upstream.asked.clear()
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      for (let at = next++; at < cells.length; at = next++) {
        const cell = cells[at]!
        const id = `q${at}`
        const problems = await play(url, cell, id)
        const times = upstream.asked.get(id) ?? 0
        if (times !== 1) problems.push(`asked ${times} times`)
        if (problems.length === 0) continue
        wrong++
        const { fault, wire, stream, output } = cell
        t.fail(`${fault}, ${wire.name}, ${stream ? `streamed, ${output}` : 'whole'}: ${problems.join('; ')}`)
      }
    })
  )
  const repeated = [...upstream.asked.values()].filter((times) => times > 1).length
  promise(
    t,
    `broken upstreams, ${front}`,
    `${wrong} of ${cells.length} exchanges told wrongly, ${repeated} asked twice, ${Object.keys(faults).length} faults`,
    '0 and 0, at least 12 faults',
    wrong === 0 && repeated === 0
  )
}

t.test('broken upstreams', async (t) => {
  const upstream = await brokenUpstream(t)
  const env = { ...smallConstitution(t, yamlFor(upstream)), SLUICEGATE_BOOTSTRAP_KEY: key }
  const { url } = await serveReal(t, { env })
  await playAll(t, 'the gateway', url, upstream, [...cellsOf(wires)])
})

t.test('the same behind a program’s own http-proxy', async (t) => {
  const upstream = await brokenUpstream(t)
  const env = { ...smallConstitution(t, yamlFor(upstream)), SLUICEGATE_BOOTSTRAP_KEY: key }
  const dir = tempDir(t)
  const log = createLog({ level: 'silent' })
  const guarded = await guard({ cwd: dir, env: { ...env, SLUICEGATE_DATA_DIR: dir }, log, onFirstKey: () => {} })
  t.teardown(() => guarded.close())
  const server = createHttpServer((req, res) => guarded.handle(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const spoken = isFull ? wires : wires.filter(({ name }) => /openai-chat|gemini|ollama, chat/.test(name))
  await playAll(t, 'http-proxy', url, upstream, [...cellsOf(spoken)])
})

t.test('what an upstream says unasked is nobody’s answer', async (t) => {
  let count = 0
  const poison = 'poison-7c1d'
  const answer = (text: string) => {
    const { bytes } = wholeOf(wires[0]!, text)
    return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n${bytes}`
  }
  const sockets = new Set<Socket>()
  let closed = Promise.resolve(true)
  const server = createServer((socket) => {
    sockets.add(socket)
    const end = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)))
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      if (!bytes.toString('latin1').includes('«')) return
      count++
      closed = end
      // With the answer, in a write of its own right after it, and once the connection is idle.
      if (count % 3 === 0) socket.write(answer(`turn ${count}`) + answer(poison))
      else
        socket.write(
          answer(`turn ${count}`),
          () => void setTimeout(count % 3 === 1 ? 0 : 20).then(() => socket.write(answer(poison)))
        )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const yaml = `upstreams: { default: { url: "${upstream}", max_connections: 1 } }\n`
  const { url } = await serveReal(t, { env: { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: key } })
  let poisoned = 0
  let kept = 0
  const rounds = isFull ? 1000 : 90
  for (let i = 0; i < rounds; i++) {
    const { body } = await call(url, '/v1/chat/completions', { key, body: wires[0]!.ask(`«${i}»`, false) })
    if (JSON.stringify(body).includes(poison)) poisoned++
    // What comes after the next request was sent is its answer, as far as HTTP can tell: the next one waits until the
    // gateway has seen what came unasked, and has given the connection up for it.
    if (!(await Promise.race([closed, setTimeout(10_000, false)]))) kept++
  }
  promise(
    t,
    'answers that nobody asked for',
    `${poisoned} of ${rounds} clients got one, ${kept} connections were kept`,
    '0, 0',
    poisoned === 0 && kept === 0 && count === rounds
  )
})
