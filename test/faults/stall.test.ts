/** A text that is never done with, on the event loop, where nothing can interrupt it: the process ends, and nothing has passed. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call } from '../support/gateway.js'
import { msUntil, type Node, smallConstitution, startNode } from '../support/node.js'
import { completion, fakeUpstream, json } from '../support/upstream.js'
import { promise } from './report.js'

t.setTimeout(240_000)
const key = generateKey('live')
const chat = '/v1/chat/completions'
const said = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] })

async function setUp(t: Parameters<typeof smallConstitution>[0], workers: string, dataDir?: string) {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const env = {
    ...smallConstitution(t, `upstreams: { default: { url: "${upstream.url}" } }\n`),
    NODE_OPTIONS: `--import ${new URL('../support/broken-judge.mjs', import.meta.url)}`,
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_WORKERS: workers,
    ...(dataDir === undefined ? {} : { SLUICEGATE_DATA_DIR: dataDir })
  }
  return { upstream, node: await startNode(t, env, { lastLine: workers === '1' ? /bootstrap key/ : /workers serve/ }) }
}

/** What a text that is never done with came to: its status and code, or that the connection broke. */
const outcomeOf = (url: string, content: string): Promise<string> =>
  call(url, chat, { key, body: said(content) }).then(
    ({ status, body }) => `${status} ${(body as { error?: { code?: string } }).error?.code ?? ''}`.trim(),
    () => 'broken'
  )
const metric = async (node: Node, name: string) =>
  Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)`, 'm').exec(await (await fetch(`${node.opsUrl}/metrics`)).text())?.[1])

t.test('a worker that stands still is ended and replaced, and what held it holds nothing again', async (t) => {
  const { upstream, node } = await setUp(t, '2')
  const begun = performance.now()
  const outcome = await outcomeOf(node.url, '«broken:stall»')
  const after = performance.now() - begun
  // At once, as a client does that was cut off: the other worker, and the one that takes the place of the first.
  const again = await Promise.all(
    Array.from({ length: 4 }, (_, i) => outcomeOf(node.url, `«broken:stall» and words of its own, ${i}`))
  )
  const replaced = await msUntil(
    async () =>
      (await metric(node, 'sluicegate_workers')) === 2 &&
      (await metric(node, 'sluicegate_worker_restarts_total')) === 1,
    60_000
  )
  const later = await outcomeOf(node.url, '«broken:stall»')
  t.equal((await call(node.url, chat, { key, body: said('hello') })).status, 200, 'any other text is judged')
  const isTold = node.logs.some(({ msg }) => /stood still/.test(String(msg)))
  promise(
    t,
    'a worker whose event loop stands still',
    `its client saw ${outcome} after ${Math.round(after / 1000)} s, ${upstream.requests.length - 1} requests passed, replaced and counted ${Number.isFinite(replaced)}, told in the log ${isTold}`,
    'broken within 30 s, 0, true, true',
    outcome === 'broken' && after < 30_000 && upstream.requests.length === 1 && Number.isFinite(replaced) && isTold
  )
  const outcomes = [...again, later]
  const [restarts, apart, failures] = [
    await metric(node, 'sluicegate_worker_restarts_total'),
    await metric(node, 'sluicegate_judges_apart'),
    await metric(node, 'sluicegate_evaluator_failures_total')
  ]
  promise(
    t,
    'such texts after it',
    `${outcomes.filter((each) => each === '503 evaluator_unavailable').length} of ${outcomes.length} refused (${[...new Set(outcomes)]}), ${failures} counted, ${restarts} restarts, judged apart ${apart}`,
    'all, all counted, 1, 1',
    outcomes.every((each) => each === '503 evaluator_unavailable') &&
      failures === outcomes.length &&
      restarts === 1 &&
      apart === 1
  )
  t.ok(
    node.logs.some(({ msg }) => /every text is judged in a thread/.test(String(msg))),
    'told in the log'
  )
  const database = new DatabaseSync(join(node.dataDir, 'sluicegate.db'), { readOnly: true })
  const isAudited = () => database.prepare("SELECT 1 FROM audit WHERE kind = 'process.stalled'").get() !== undefined
  t.ok(Number.isFinite(await msUntil(async () => isAudited(), 5_000)), 'and in the audit')
  database.close()
})

t.test('a process that stands alone ends, and the one in its place refuses the text', async (t) => {
  const { upstream, node } = await setUp(t, '1')
  const ended = once(node.child, 'exit')
  await t.rejects(call(node.url, chat, { key, body: said('«broken:stall»') }))
  const [, signal] = await ended
  t.equal(signal, 'SIGKILL')
  t.equal(upstream.requests.length, 0)
  const next = await setUp(t, '1', node.dataDir)
  t.equal(await outcomeOf(next.node.url, '«broken:stall»'), '503 evaluator_unavailable')
  t.equal((await call(next.node.url, chat, { key, body: said('hello') })).status, 200)
  t.notOk(/broken|stall»/.test(readFileSync(join(node.dataDir, 'stalled'), 'utf8')), 'no text is kept')
})
