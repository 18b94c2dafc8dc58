/** Clients that take nothing of their answers: they are let go, whatever they asked for, and meanwhile cost little. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { WebSocket } from 'ws'
import { generateKey } from '../../src/identity/key-format.js'
import { msUntil, type Node, smallConstitution, startNode } from '../support/node.js'
import { realtimeUpstream } from '../support/realtime.js'
import { chunks, fakeUpstream } from '../support/upstream.js'
import { isFull } from './report.js'

t.setTimeout(600_000)
const key = generateKey('live')

async function gauge(node: Node, name: string): Promise<number> {
  const page = await (await fetch(`${node.opsUrl}/metrics`)).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(page)?.[1])
}

function ask(node: Node, content: string, stream: boolean): Socket {
  const { hostname, port } = new URL(node.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  return socket
}

t.test('a client that takes nothing is let go; one for whom nothing is there is not', async (t) => {
  let open = 0
  const event = `data: ${JSON.stringify({ ...chunks('The harbour is quiet. ')[1], numbers: Array(4000).fill(0) })}\n\n`
  const upstream = await fakeUpstream(t, async (res, asked) => {
    open++
    res.once('close', () => open--)
    const what = asked.body.toString()
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    if (what.includes('nothing')) return
    while (!res.destroyed) {
      if (!res.write(event)) await Promise.race([once(res, 'drain'), once(res, 'close')])
      else await setTimeout(1)
    }
  })
  const voice = await realtimeUpstream(t)
  const yaml = `server: { write_timeout: 2s }
upstreams: { default: { url: "${upstream.url}" }, voice: { url: "${voice.origin}" } }
routes:
  - { path: /v1/chat/completions, dialect: openai-chat, output: off }
  - { path: /v1/realtime, dialect: openai-realtime, upstream: voice, output: off }
`
  const node = await startNode(t, { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: key })
  const none = ask(node, 'stream', true).pause()
  const silent = ask(node, 'nothing', true)
  t.teardown(() => [none, silent].forEach((socket) => void socket.destroy()))
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/realtime?model=m`, {
    headers: { 'x-api-key': key }
  })
  await once(socket, 'open')
  t.teardown(() => socket.terminate())
  socket.pause()
  const said = JSON.stringify({ type: 'session.updated', event_id: 'e', session: { padding: Array(20_000).fill(0) } })
  void voice.send({ frames: Array(600).fill(said) })
  const reason = 'sluicegate_stalled_clients_total'
  t.ok((await msUntil(async () => (await gauge(node, reason)) === 2, 40_000)) < 40_000, 'the stream and the session')
  t.ok((await msUntil(async () => open === 1, 10_000)) < 10_000, 'the upstream of the stream is given up')
  t.ok((await msUntil(async () => voice.closes.length === 1, 10_000)) < 10_000, 'and that of the session')
  await setTimeout(3000)
  t.equal(await gauge(node, reason), 2, 'who has nothing to take stays')
  t.equal(await gauge(node, 'sluicegate_requests_under_way'), 1)
})

/** What a node's main thread uses once all that is garbage is collected, in bytes. */
async function memoryOf(inspector: string): Promise<{ heapUsed: number; external: number }> {
  const [{ webSocketDebuggerUrl: url }] = (await (await fetch(`http://${inspector}/json`)).json()) as [
    { webSocketDebuggerUrl: string }
  ]
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const ask = async (id: number, method: string, params = {}) => {
    socket.send(JSON.stringify({ id, method, params }))
    for (;;) {
      const said = JSON.parse(String((await once(socket, 'message'))[0]))
      if (said.id === id) return said.result
    }
  }
  await ask(1, 'HeapProfiler.collectGarbage')
  const { result } = await ask(2, 'Runtime.evaluate', { expression: 'JSON.stringify(process.memoryUsage())' })
  socket.terminate()
  return JSON.parse(result.value)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

// A read of its connection, of 64 KiB as the system hands them out, is in it; beside other tests more may be under way.
const mostKib = isFull ? 256 : 512
t.test(`what a stalled stream keeps is less than ${mostKib} KiB`, async (t) => {
  const readers = 60
  const event = `data: ${JSON.stringify({ ...chunks('The harbour is quiet. ')[1], numbers: Array(500).fill(0) })}\n\n`
  const burst = event.repeat(50)
  let sent = 0
  let open = 0
  const upstream = await fakeUpstream(t, async (res) => {
    open++
    res.once('close', () => open--)
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    while (!res.destroyed) {
      sent += burst.length
      if (!res.write(burst)) await Promise.race([once(res, 'drain'), once(res, 'close')])
      else await new Promise(setImmediate)
    }
  })
  const yaml = `server: { write_timeout: 30m }\nupstreams: { default: { url: "${upstream.url}" } }\n`
  const inspector = `127.0.0.1:${await freePort()}`
  const node = await startNode(t, {
    ...smallConstitution(t, yaml),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    NODE_OPTIONS: `--inspect=${inspector}`
  })
  const isStill = async (count: number) => {
    const before = sent
    await setTimeout(2000)
    return open === count && sent === before
  }
  // What the first streams leave in the process stays, however many come after them.
  const first = Array.from({ length: 4 }, () => ask(node, 'stream', true).pause())
  t.ok((await msUntil(() => isStill(first.length), 120_000)) < 120_000)
  for (const socket of first) socket.destroy()
  t.ok((await msUntil(() => isStill(0), 30_000)) < 30_000)
  const before = await memoryOf(inspector)
  const sockets = Array.from({ length: readers }, () => ask(node, 'stream', true).pause())
  t.teardown(() => sockets.forEach((socket) => void socket.destroy()))
  t.ok((await msUntil(() => isStill(readers), 240_000)) < 240_000, 'nothing more is taken of any upstream')
  const after = await memoryOf(inspector)
  const kib = (name: 'heapUsed' | 'external') => Math.round((after[name] - before[name]) / readers / 1024)
  t.ok(
    kib('heapUsed') + kib('external') < mostKib,
    `${kib('heapUsed')} KiB of heap and ${kib('external')} KiB beside it each`
  )
})
