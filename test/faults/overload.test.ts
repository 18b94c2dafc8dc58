/** Three times the requests that keep a node busy: it goes on answering as many, and it stays operable. */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call } from '../support/gateway.js'
import { smallConstitution, startNode } from '../support/node.js'
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

/** So many clients, each with one request at a time. @returns answers a second */
async function capacity(url: string, clients: number, forMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const until = performance.now() + forMs
  let ok = 0
  const client = async () => {
    while (performance.now() < until) if ((await ask(agent, url)).status === 200) ok++
  }
  await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  return ok / (forMs / 1000)
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
    if (outcome.status === 200) found.ok++
    else if (outcome.status === 503) {
      found.refused++
      if (at > settledMs) found.refusals.push(outcome.ms)
      if (outcome.retryAfter === undefined) found.withoutRetryAfter++
    } else {
      const name = String('code' in outcome ? outcome.code : outcome.status)
      found.other.set(name, (found.other.get(name) ?? 0) + 1)
    }
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

t.test('three times as many requests as it can answer', async (t) => {
  const node = await startNode(t, { ...smallConstitution(t), SLUICEGATE_BOOTSTRAP_KEY: key })
  // What is measured while a node starts counts for nothing.
  await capacity(node.url, 4, 4000)
  const peak = await capacity(node.url, 16, seconds * 1000)
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
  const over = await arrivals(node.url, 3 * peak, seconds * 1000)
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
