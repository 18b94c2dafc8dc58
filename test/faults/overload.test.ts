/** Three times the requests that keep a node busy: it goes on answering as many, and it stays operable. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call } from '../support/gateway.js'
import { smallConstitution, startNode } from '../support/node.js'
import { hasCommand } from '../support/services.js'
import { isFull, promise } from './report.js'

t.setTimeout(isFull ? 1_800_000 : 240_000)
const key = generateKey('live')
/** What waits when refusing begins has waited already. */
const settledMs = 3_000
const seconds = isFull ? 20 : 4
/** Long enough to cost a millisecond or so. */
const body = JSON.stringify({
  input_text: 'Could you help me to plan a trip to the sea with two children? '.repeat(300)
})

interface Load {
  ok: number
  refused: number
  other: Map<string, number>
  /** ms, of the answers with 503 that came when the load had lasted for `settledMs`. */
  refusals: number[]
  withoutRetryAfter: number
}

function ask(agent: Agent, url: string): Promise<{ status: number; retryAfter: string | undefined; ms: number }> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(`${url}/api/v1/safety/evaluate`, { agent, method: 'POST', headers }, (response) => {
      response.resume()
      const ms = performance.now() - begun
      const retryAfter = response.headers['retry-after']
      response.once('end', () => resolve({ status: response.statusCode ?? 0, retryAfter, ms }))
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

/** Requests that come at a rate, whether or not the ones before were answered, as from many clients. */
async function arrivals(url: string, perSecond: number, forMs: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true })
  const found: Load = { ok: 0, refused: 0, other: new Map(), refusals: [], withoutRetryAfter: 0 }
  const begun = performance.now()
  const waiting = new Set<Promise<void>>()
  const one = async () => {
    const at = performance.now() - begun
    const outcome = await ask(agent, url).catch((error) => ({ status: 0, code: error.code, retryAfter: '', ms: 0 }))
    count(found, 'code' in outcome ? String(outcome.code) : outcome.status, at, outcome.ms)
    if (outcome.status === 503 && outcome.retryAfter === undefined) found.withoutRetryAfter++
  }
  for (let sent = 0; performance.now() - begun < forMs; await setTimeout(2)) {
    for (const due = ((performance.now() - begun) / 1000) * perSecond; sent < due; sent++) {
      const asked = one().finally(() => waiting.delete(asked))
      waiting.add(asked)
    }
  }
  await Promise.all(waiting)
  agent.destroy()
  return found
}

/** @param at ms since the load began @param ms until the answer */
function count(found: Load, outcome: number | string, at: number, ms: number): void {
  if (outcome === 200) found.ok++
  else if (outcome === 503) {
    found.refused++
    if (at > settledMs) found.refusals.push(ms)
  } else found.other.set(String(outcome), (found.other.get(String(outcome)) ?? 0) + 1)
}

/** Of one answer: when it was asked for, µs since the epoch; its status, -1 where the time was up first; µs until its end. */
type Row = [at: number, status: number, us: number]

/**
 * Load by h2load (Debian: nghttp2-client), which costs a tenth of what the server does: a client written here is busier
 * than the server that it is to overload, and measures itself.
 * @param rate requests a second of each connection; undefined: the next as soon as the one before is answered
 */
async function h2load(t: Test, url: string, clients: number, forMs: number, rate?: number): Promise<Row[]> {
  const folder = t.testdir({ body })
  const log = join(folder, 'log')
  const paced = rate === undefined ? [] : ['--rps', rate.toFixed(3)]
  const load = ['--h1', '-t', '1', '-c', String(clients), '-D', `${forMs / 1000}s`, ...paced]
  const headers = ['-H', `x-api-key: ${key}`, '-H', 'content-type: application/json']
  const target = `${url}/api/v1/safety/evaluate`
  const child = spawn('h2load', [...load, ...headers, '-d', join(folder, 'body'), '--log-file', log, target], {
    stdio: 'ignore'
  })
  const [code] = await once(child, 'exit')
  t.equal(code, 0, 'h2load ends well')
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  return lines.map((line) => line.split('\t').map(Number) as Row)
}

/** Connections that share the arrivals: enough that answers are not what the next ones wait for. */
const manyClients = isFull ? 3_000 : 600

/** As `arrivals`; beside it a few by that, for the headers. */
async function flood(t: Test, url: string, perSecond: number, forMs: number): Promise<Load> {
  const [rows, found] = await Promise.all([
    h2load(t, url, manyClients, forMs, perSecond / manyClients),
    arrivals(url, 10, forMs)
  ])
  const begun = rows.reduce((least, [at]) => Math.min(least, at), Number.POSITIVE_INFINITY)
  for (const [at, status, us] of rows) if (status !== -1) count(found, status, (at - begun) / 1000, us / 1000)
  return found
}

/** Answers a second to connections that are never idle. */
async function peakOf(t: Test, url: string, forMs: number): Promise<number> {
  const rows = await h2load(t, url, 16, forMs)
  return rows.filter(([, status]) => status === 200).length / (forMs / 1000)
}

const skip = hasCommand('h2load') ? false : 'needs h2load (Debian: nghttp2-client)'

t.test('three times as many requests as it can answer', { skip }, async (t) => {
  const node = await startNode(t, { ...smallConstitution(t), SLUICEGATE_BOOTSTRAP_KEY: key })
  // What is measured while a node starts counts for nothing.
  await peakOf(t, node.url, 4000)
  const peak = await peakOf(t, node.url, seconds * 1000)
  let isOver = false
  const operations: { ok: boolean; ms: number }[] = []
  const operating = (async () => {
    while (!isOver) {
      for (const [url, path] of [
        [node.opsUrl, '/healthz'],
        [node.opsUrl, '/readyz'],
        [node.opsUrl, '/metrics'],
        [node.url, '/api/v1/ssaas/keys']
      ] as const) {
        const begun = performance.now()
        const { status } = await call(url, path, { key }).catch(() => ({ status: 0 }))
        operations.push({ ok: status === 200, ms: performance.now() - begun })
      }
      await setTimeout(200)
    }
  })()
  const over = await flood(t, node.url, 3 * peak, seconds * 1000)
  isOver = true
  await operating
  const goodput = over.ok / seconds
  const slow = over.refusals.sort((a, b) => a - b)[Math.floor(over.refusals.length * 0.99)] ?? 0
  const failed = operations.filter(({ ok }) => !ok).length
  promise(
    t,
    'overload',
    `goodput ${Math.round(goodput)} of ${Math.round(peak)} a second, ${over.refused} refused (99 % within ${Math.round(slow)} ms, ${over.withoutRetryAfter} without Retry-After), others ${JSON.stringify([...over.other])}, operations ${failed} of ${operations.length} failed`,
    `at least 90 %, within 100 ms, Retry-After on each, nothing else, 0${isFull ? '' : ' (the short form holds to neither goodput nor time)'}`,
    (!isFull || (goodput >= peak * 0.9 && slow <= 100)) &&
      over.withoutRetryAfter === 0 &&
      over.other.size === 0 &&
      failed === 0
  )

  const flying = arrivals(node.url, 20, 1000)
  await setTimeout(300)
  node.child.kill('SIGTERM')
  const [code] = await once(node.child, 'exit')
  const drained = await flying
  t.equal(code, 0, 'it ends by itself')
  const cut = [...drained.other].filter(([name]) => name !== 'ECONNREFUSED')
  t.ok(
    cut.every(([name]) => name === 'ECONNRESET') && cut.reduce((sum, [, count]) => sum + count, 0) <= 8,
    `what was under way was answered: ${JSON.stringify(cut)}`
  )
})
