import { setImmediate, setTimeout } from 'node:timers/promises'
import t from 'tap'
import { errorTable } from '../../src/base/errors.js'
import { mostAtOnce, RequestTurns, Shedding } from '../../src/edge/overload.js'
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

interface Load {
  /** When requests come, ms, in order. */
  arrivals: readonly number[]
  seconds: number
  /** ms of one answer, and of one refusal. */
  cost: number
  refusal?: number
}

const evenly = (rate: number, seconds: number) => Array.from({ length: rate * seconds }, (_, i) => (i * 1000) / rate)
const inWaves = (size: number, every: number, seconds: number) =>
  Array.from({ length: Math.floor((seconds * 1000) / every) }, (_, i) => Array<number>(size).fill(i * every)).flat()

/** An event loop on a clock of its own: in each turn it looks at all that came, and begins one that waits. */
function run({ arrivals, seconds, cost, refusal = 0.05 }: Load) {
  const shedding = new Shedding()
  const waiting: number[] = []
  const served: { at: number; waited: number }[] = []
  const refusals: { at: number; waited: number }[] = []
  /** Of each that came: whether it was refused. */
  const outcomes: boolean[] = []
  let now = 0
  let arrived = 0
  let isHeldUp = false
  while (now < seconds * 1000) {
    for (; (arrivals[arrived] ?? Number.POSITIVE_INFINITY) <= now; arrived++) {
      const came = arrivals[arrived]!
      const isRefused = shedding.refuses(waiting.length, now)
      outcomes.push(isRefused)
      if (isRefused) {
        now += refusal
        refusals.push({ at: now, waited: now - came })
      } else waiting.push(came)
    }
    const came = waiting.shift()
    if (came === undefined) {
      isHeldUp = false
      now = Math.min(seconds * 1000, arrivals[arrived] ?? Number.POSITIVE_INFINITY)
      continue
    }
    shedding.begins(waiting.length, isHeldUp, now)
    isHeldUp = true
    served.push({ at: now, waited: now - came })
    now += cost
  }
  return { refusals, served, outcomes, shedding, now }
}

const quantile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0
const waitsFrom = (of: readonly { at: number; waited: number }[], ms: number) =>
  of.filter(({ at }) => at >= ms).map(({ waited }) => waited)

t.test('what can be answered is never refused', async (t) => {
  for (const cost of [0.1, 0.5, 2, 10]) {
    const { refusals } = run({ arrivals: evenly((0.9 * 1000) / cost, 20), seconds: 20, cost })
    t.equal(refusals.length, 0, `${cost} ms each, nine tenths of what is possible`)
  }
})

/** Answers a second, where what is more than can be answered is refused. */
const mostOf = (rate: number, cost: number, refusal = 0.05) => (1000 - rate * refusal) / (cost - refusal)

t.test('three times as much as can be answered', async (t) => {
  for (const cost of [0.5, 1, 2]) {
    const rate = 3000 / cost
    const { refusals, served } = run({ arrivals: evenly(rate, 20), seconds: 20, cost })
    const goodput = served.length / 20
    const most = mostOf(rate, cost)
    t.ok(goodput > most * 0.98, `${cost} ms each: ${Math.round(goodput)} of ${Math.round(most)} a second are answered`)
    const late = quantile(waitsFrom(served, 5000), 0.99)
    t.ok(late < 600, `99 of 100 begin within ${Math.round(late)} ms`)
    const slow = quantile(waitsFrom(refusals, 0), 0.99)
    t.ok(slow < 2 * cost + 1, `99 of 100 refusals within ${slow.toFixed(1)} ms`)
  }
})

t.test('three times as much, in waves: it is never idle for having refused too many', async (t) => {
  for (const [size, every, cost] of [
    [600, 83, 0.4],
    [600, 333, 1.6]
  ] as const) {
    const { served } = run({ arrivals: inWaves(size, every, 20), seconds: 20, cost })
    const most = mostOf((size * 1000) / every, cost)
    const goodput = served.length / 20
    t.ok(goodput > most * 0.9, `${size} every ${every} ms: ${Math.round(goodput)} of ${Math.round(most)} a second`)
  }
})

t.test('clients that wait for their answers are not refused for being many', async (t) => {
  for (const [clients, cost] of [
    [500, 0.4],
    [250, 1.5]
  ] as const) {
    const shedding = new Shedding()
    // In the first turn all of them ask, in each after it the one that was answered.
    let [refused, now] = [0, 0]
    for (let asked = 0; asked < clients; asked++) if (shedding.refuses(asked, now)) refused++
    for (let waiting = clients; now < 30_000; now += cost) {
      waiting--
      shedding.begins(waiting, true, now)
      if (shedding.refuses(waiting, now)) refused++
      waiting++
    }
    t.equal(refused, 0, `${clients} clients, ${cost} ms each`)
  }
})

t.test('what comes at once and does not go on is answered', async (t) => {
  const two = [...Array<number>(1000).fill(0), ...Array<number>(1000).fill(1100)]
  const { refusals } = run({ arrivals: two, seconds: 5, cost: 1 })
  t.equal(refusals.length, 0, 'a thousand, and again a tenth of a second after the last was answered')
})

t.test('nobody waits for longer than two seconds', async (t) => {
  const { served, refusals } = run({
    arrivals: [...evenly(1000, 1), ...Array<number>(10_000).fill(1000)],
    seconds: 20,
    cost: 0.5
  })
  t.ok(refusals.length > 0)
  t.ok(quantile(waitsFrom(served, 0), 1) < 2_500)
})

t.test('few that wait are never refused, however long they take', async (t) => {
  const shedding = new Shedding()
  for (let turn = 0, now = 0; turn < 200; turn++, now += 1000) {
    const answers = Array.from({ length: 32 }, (_, waiting) => shedding.refuses(waiting, now))
    if (answers.includes(true)) t.fail(`in turn ${turn}`)
    shedding.begins(31, true, now)
  }
  t.ok([32, 33].map((waiting) => shedding.refuses(waiting, 200_000)).includes(true), 'of more, one is')
})

t.test('a loop that was held once is not held against those that come after', async (t) => {
  const { shedding, now } = run({ arrivals: evenly(1000, 1), seconds: 1, cost: 0.5 })
  shedding.begins(1, true, now + 5000)
  t.ok(shedding.refuses(100, now + 5000), 'an answer of five seconds')
  for (let i = 0; i < 150; i++) shedding.begins(1, true, now + 5000 + i / 2)
  t.notOk(shedding.refuses(100, now + 5075), 'a hundred and fifty short ones after it')
})

t.test('when the load ends it refuses nothing as soon as those that waited are answered', async (t) => {
  const { shedding, now } = run({ arrivals: evenly(6000, 5), seconds: 5.7, cost: 0.5 })
  t.notOk(Array.from({ length: 1000 }, (_, waiting) => shedding.refuses(waiting, now)).includes(true))
})

t.test('refusals are spread evenly', async (t) => {
  const { outcomes } = run({ arrivals: evenly(6000, 20), seconds: 20, cost: 0.5 })
  const settled = outcomes.slice(-30_000)
  const share = settled.filter(Boolean).length / settled.length
  t.ok(share > 0.6 && share < 0.9, `${share} of all`)
  for (let from = 0; from < settled.length; from += 1000) {
    const part = settled.slice(from, from + 1000).filter(Boolean).length
    if (Math.abs(part - share * 1000) > 100) t.fail(`${part} of a thousand`)
  }
})

t.test('the first few begin at once, the others in the order in which they came', async (t) => {
  const turns = new RequestTurns()
  const begun: [number, boolean][] = []
  for (let i = 0; i < 3000; i++) turns.take((hasWaited) => begun.push([i, hasWaited]))
  t.same(
    begun,
    Array.from({ length: mostAtOnce }, (_, i) => [i, false])
  )
  t.equal(turns.length, 3000 - mostAtOnce)
  while (turns.length > 0) await setImmediate()
  t.same(
    begun.map(([i]) => i),
    Array.from({ length: 3000 }, (_, i) => i)
  )
  t.ok(begun.slice(mostAtOnce).every(([, hasWaited]) => hasWaited))
  await setImmediate()
  await setImmediate()
  let isAtOnce = false
  turns.take((hasWaited) => (isAtOnce = !hasWaited))
  t.ok(isAtOnce, 'and the next at once again')
})

t.test('whoever comes while others wait goes behind them', async (t) => {
  const turns = new RequestTurns()
  const begun: string[] = []
  for (let i = 0; i < mostAtOnce; i++) turns.take(() => {})
  turns.take(() => {
    begun.push('first')
    turns.take(() => begun.push('third'))
  })
  turns.take(() => begun.push('second'))
  await setTimeout(5)
  t.same(begun, ['first', 'second', 'third'])
})

t.test('between them the loop comes to what else there is', async (t) => {
  const turns = new RequestTurns()
  const waits: number[] = []
  let due = performance.now() + 5
  const timer = setInterval(() => {
    waits.push(performance.now() - due)
    due = performance.now() + 5
  }, 5)
  for (let i = 0; i < 300; i++) turns.take(() => hold(1))
  const begun = performance.now()
  while (turns.length > 0) await setImmediate()
  clearInterval(timer)
  const took = performance.now() - begun
  t.ok(waits.length > 20, `a timer of 5 ms came ${waits.length} times in ${Math.round(took)} ms`)
})

t.test('however much else there is, requests begin', async (t) => {
  const turns = new RequestTurns()
  let busy = true
  let held = 0
  const other = (async () => {
    while (busy) {
      hold(5)
      held += 5
      await setTimeout(0)
    }
  })()
  for (let i = 0; i < 200; i++) turns.take(() => hold(1))
  while (turns.length > 0) await setTimeout(1)
  busy = false
  await other
  t.ok(held < 900, `${held} ms of other work beside 200 ms of requests: one in each turn would take 1,000`)
})
