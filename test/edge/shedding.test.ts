import t from 'tap'
import { Shedding } from '../../src/edge/shedding.js'

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
