/** Clients that send or read as slowly as they can: the others do not notice, and memory stays what it is. */
import { execFile } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call } from '../support/gateway.js'
import { type Node, smallConstitution, startNode } from '../support/node.js'
import { hasCommand } from '../support/services.js'
import { chunks, fakeUpstream } from '../support/upstream.js'
import { isFull, promise } from './report.js'

t.setTimeout(1_800_000)
const key = generateKey('live')
const mebibyte = 1024 * 1024

const rss = async (node: Node) =>
  Number(/^process_resident_memory_bytes (\S+)/m.exec(await (await fetch(`${node.opsUrl}/metrics`)).text())![1]) /
  mebibyte

t.test('readers that stand still', async (t) => {
  const readers = isFull ? 1000 : 20
  // Much to hold and little to judge.
  const event = `data: ${JSON.stringify({ ...chunks('The harbour is quiet. ')[1], numbers: Array(4000).fill(0) })}\n\n`
  let open = 0
  const upstream = await fakeUpstream(t, async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    open++
    res.once('close', () => open--)
    // Without end, as it is taken.
    while (!res.destroyed) {
      if (!res.write(event)) await new Promise((resolve) => res.once('drain', resolve).once('close', resolve))
      else await new Promise(setImmediate)
    }
  })
  const yaml = `upstreams: { default: { url: "${upstream.url}", max_connections: 2000 } }\n`
  const node = await startNode(t, { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: key })
  const { hostname, port } = new URL(node.url)
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] })
  const sockets: Socket[] = []
  t.teardown(() => sockets.forEach((socket) => void socket.destroy()))
  const before = await rss(node)
  // Some may be told that the gateway is overloaded, while all the others' buffers fill at once: more come in their place.
  for (let i = 0; i < 3 * readers && open < readers; i++) {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    )
    for (let tries = 0; tries < 100 && open <= i && open < readers; tries++) await setTimeout(10)
  }
  // Until every buffer on the way is full.
  let last = await rss(node)
  for (let tries = 0; tries < 60; tries++) {
    await setTimeout(isFull ? 2000 : 300)
    const now = await rss(node)
    if (Math.abs(now - last) / last < 0.02) break
    last = now
  }
  const full = await rss(node)
  const series: number[] = []
  for (let i = 0; i < 10; i++) {
    await setTimeout(isFull ? 3000 : 200)
    series.push(await rss(node))
  }
  const drift = (Math.max(...series) - full) / full
  const { status } = await call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text: 'hello' } })
  promise(
    t,
    'readers that stand still',
    `${open} of ${readers} streams open, ${((full - before) / readers).toFixed(2)} MiB each, memory then grew by ${(drift * 100).toFixed(1)} %, others get ${status}`,
    `all open, 10 %${isFull ? '' : ' (not held to in the short form)'}, 200`,
    open >= readers && (drift <= 0.1 || !isFull) && status === 200
  )
  for (const socket of sockets) socket.destroy()
  for (let tries = 0; tries < 300 && open > 0; tries++) await setTimeout(50)
  t.equal(open, 0, 'who leaves ends the upstream')
})

/** How long others wait meanwhile, ms. */
async function others(node: Node, until: () => boolean): Promise<{ p99: number; failed: number; count: number }> {
  const times: number[] = []
  let failed = 0
  while (!until()) {
    const began = performance.now()
    const answer = await call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text: 'hello' } }).catch(
      () => undefined
    )
    times.push(performance.now() - began)
    if (answer?.status !== 200) failed++
    await setTimeout(5)
  }
  times.sort((a, b) => a - b)
  return { p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN, failed, count: times.length }
}

const modes: [name: string, args: string[]][] = [
  ['headers (-H)', ['-H', '-i', '5', '-x', '24']],
  ['bodies (-B)', ['-B', '-i', '5', '-s', '8192', '-x', '10', '-t', 'POST', '-f', 'application/json']],
  ['ranges (-R)', ['-R', '-a', '1', '-b', '3000']],
  ['reading (-X)', ['-X', '-w', '10', '-y', '20', '-n', '5', '-z', '32', '-k', '3', '-p', '3']]
]
const tool = isFull && hasCommand('slowhttptest')
const skip = !isFull ? 'with npm run test:faults only' : !tool && 'slowhttptest is not installed (Debian has it)'

t.test('slow clients', { skip }, async (t) => {
  const node = await startNode(t, { ...smallConstitution(t), SLUICEGATE_BOOTSTRAP_KEY: key })
  for (const [name, args] of modes) await slowly(t, node, name, args)
})

async function slowly(t: Test, node: Node, name: string, args: string[]): Promise<void> {
  const until = performance.now() + 10_000
  const usual = await others(node, () => performance.now() > until)
  let done = false
  const target = name.startsWith('bodies') ? `${node.url}/v1/chat/completions` : `${node.url}/openapi.json`
  const attack = promisify(execFile)('slowhttptest', [
    ...args,
    '-c',
    '800',
    '-r',
    '200',
    '-l',
    '45',
    '-u',
    target
  ]).finally(() => {
    done = true
  })
  const meanwhile = await others(node, () => done)
  await attack.catch(() => undefined)
  const served = 1 - meanwhile.failed / meanwhile.count
  promise(
    t,
    `slow ${name}`,
    `${(served * 100).toFixed(2)} % of ${meanwhile.count} others served, p99 ${meanwhile.p99.toFixed(1)} ms beside ${usual.p99.toFixed(1)} ms`,
    '99 %, twice the usual p99 or 100 ms',
    served >= 0.99 && meanwhile.p99 < Math.max(100, 2 * usual.p99)
  )
}
