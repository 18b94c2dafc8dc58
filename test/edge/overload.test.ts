import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { errorTable } from '../../src/base/errors.js'
import { generateKey } from '../../src/identity/key-format.js'
import { type Call, call, serveReal } from '../support/gateway.js'
import { smallConstitution } from '../support/node.js'

t.setTimeout(180_000)
const key = generateKey('live')

/** The gateway is in this process, so that holding the loop here makes it late. */
function hold(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const bodies: Record<string, object> = {
  '/api/v1/safety/evaluate': { input_text: 'Hello' },
  '/v1/chat/completions': { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] },
  '/v1/messages': { model: 'demo', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] },
  '/v1/moderations': { input: 'Hello' }
}

t.test('while there is too much to do', async (t) => {
  const { url, opsUrl } = await serveReal(t, {
    env: { ...smallConstitution(t), SLUICEGATE_BOOTSTRAP_KEY: key, SLUICEGATE_DATABASE_URL: 'memory:' }
  })
  // What is measured while a gateway starts counts for nothing.
  await setTimeout(3_100)
  const answers: Record<string, Call[]> = Object.fromEntries(Object.keys(bodies).map((path) => [path, []]))
  const managed: Call[] = []
  // Node accepts one connection in each turn of the loop: they are open before it is late.
  const each = Object.keys(bodies).flatMap((path) => Array<string>(40).fill(path))
  await Promise.all(each.map((path) => call(url, path, { key, body: bodies[path] })))
  let isOver = false
  const busy = (async () => {
    while (!isOver) {
      hold(400)
      await setTimeout(1)
    }
  })()
  const client = async (path: string) => {
    while (!isOver) {
      const answer = await call(url, path, { key, body: bodies[path] })
      answers[path]?.push(answer)
      // Not in step with the others: whoever comes first would always be let in.
      await setTimeout(Math.random() * 300)
    }
  }
  const clients = each.map(client)
  const operator = (async () => {
    while (!isOver) {
      managed.push(await call(url, '/api/v1/ssaas/keys', { key }), await call(opsUrl, '/healthz'))
      await setTimeout(20)
    }
  })()
  const refused = () => Object.values(answers).every((of) => of.filter(({ status }) => status === 503).length > 10)
  for (const until = Date.now() + 60_000; !refused() && Date.now() < until; ) await setTimeout(50)
  isOver = true
  await Promise.all([busy, operator, ...clients])

  for (const [path, of] of Object.entries(answers)) {
    const refusals = of.filter(({ status }) => status === 503)
    t.ok(refusals.length > 10, `${refusals.length} of ${of.length} refused at ${path}`)
    t.ok(
      refusals.every(({ headers }) => headers.get('retry-after') === '2' && headers.get('x-request-id') !== null),
      'each says when to come again, and which it was'
    )
    if (path === '/v1/messages') {
      t.ok(
        refusals.every(({ headers }) => headers.get('request-id') === headers.get('x-request-id')),
        "also where Anthropic's SDK looks for it"
      )
    }
    t.ok(
      refusals.every(({ body }) => JSON.stringify(body).includes(errorTable.overloaded.message)),
      'and why'
    )
    // The demo backend speaks OpenAI's dialect alone.
    const others = of.filter(({ status }) => ![200, 503, path === '/v1/messages' ? 404 : 200].includes(status))
    t.equal(others.length, 0, 'nothing else comes')
  }
  const shapeOf = (path: string) => answers[path]?.find(({ status }) => status === 503)?.body
  t.match(shapeOf('/api/v1/safety/evaluate'), { error: 'overloaded' })
  t.match(shapeOf('/v1/chat/completions'), { error: { code: 'overloaded', type: String } }, 'as the dialect has it')
  t.match(shapeOf('/v1/messages'), { type: 'error', error: { type: 'overloaded_error' } }, 'as the dialect has it')
  t.ok(
    managed.every(({ status }) => status === 200),
    `management and health: ${managed.length} of ${managed.length}`
  )
  const page = String((await call(opsUrl, '/metrics')).body)
  const counted = Number(/^sluicegate_shed_requests_total (\d+)/m.exec(page)?.[1])
  const seen = Object.values(answers)
    .flat()
    .filter(({ status }) => status === 503).length
  t.equal(counted, seen, 'every refusal is counted')

  await setTimeout(3_000)
  t.equal(
    (await call(url, '/v1/moderations', { key, body: bodies['/v1/moderations'] })).status,
    200,
    'then all is well'
  )
})
