/** A text that is never done with, on the event loop, where nothing can interrupt it: the process ends, and nothing has passed. */
import { once } from 'node:events'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call } from '../support/gateway.js'
import { msUntil, smallConstitution, startNode } from '../support/node.js'
import { completion, fakeUpstream, json } from '../support/upstream.js'
import { promise } from './report.js'

t.setTimeout(240_000)
const key = generateKey('live')
const chat = '/v1/chat/completions'
const said = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] })

async function setUp(t: Parameters<typeof smallConstitution>[0], workers: string) {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const env = {
    ...smallConstitution(t, `upstreams: { default: { url: "${upstream.url}" } }\n`),
    NODE_OPTIONS: `--import ${new URL('../support/broken-judge.mjs', import.meta.url)}`,
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_WORKERS: workers
  }
  return { upstream, node: await startNode(t, env, workers === '1' ? {} : { lastLine: /workers serve/ }) }
}

t.test('a worker that stands still is ended and replaced', async (t) => {
  const { upstream, node } = await setUp(t, '2')
  const begun = performance.now()
  const outcome = await call(node.url, chat, { key, body: said('«broken:stall»') }).then(
    ({ status }) => String(status),
    () => 'broken'
  )
  const after = performance.now() - begun
  const value = async (name: string) =>
    Number(new RegExp(`^${name} (\\S+)`, 'm').exec(await (await fetch(`${node.opsUrl}/metrics`)).text())?.[1])
  const replaced = await msUntil(
    async () => (await value('sluicegate_workers')) === 2 && (await value('sluicegate_worker_restarts_total')) === 1,
    60_000
  )
  t.equal((await call(node.url, chat, { key, body: said('hello') })).status, 200)
  const isTold = node.logs.some(({ msg }) => /stood still/.test(String(msg)))
  promise(
    t,
    'a worker whose event loop stands still',
    `its client saw ${outcome} after ${Math.round(after / 1000)} s, ${upstream.requests.length - 1} requests passed, replaced and counted ${Number.isFinite(replaced)}, told in the log ${isTold}`,
    'broken within 30 s, 0, true, true',
    outcome === 'broken' && after < 30_000 && upstream.requests.length === 1 && Number.isFinite(replaced) && isTold
  )
})

t.test('a process that stands alone ends', async (t) => {
  const { upstream, node } = await setUp(t, '1')
  const ended = once(node.child, 'exit')
  await t.rejects(call(node.url, chat, { key, body: said('«broken:stall»') }))
  const [, signal] = await ended
  t.equal(signal, 'SIGKILL')
  t.equal(upstream.requests.length, 0)
})
