import t from 'tap'
import { Shedding } from '../../src/http/shedding.js'

interface Load {
  /** Requests per second, evenly. */
  rate: number
  seconds: number
  /** ms of one answer, and of one refusal. */
  cost: number
  refusal?: number
}

/** An event loop on a clock of its own: each turn takes what came during the one before, and looks come when they are due. */
function run({ rate, seconds, cost, refusal = 0.05 }: Load) {
  const shedding = new Shedding()
  const served: number[] = []
  /** ms that each waited, with the time of its answer. */
  const refusals: [at: number, waited: number][] = []
  let now = 0
  let arrived = 0
  let looked = 0
  while (now < seconds * 1000) {
    const begun = now
    const due: number[] = []
    for (; arrived < begun; arrived += 1000 / rate) due.push(arrived)
    for (const came of due) {
      const isRefused = shedding.refuses()
      now += isRefused ? refusal : cost
      if (isRefused) refusals.push([now, now - came])
      else served.push(now)
    }
    if (due.length === 0) now += 1
    if (now - looked >= 15) {
      shedding.observe(Math.max(0, now - looked - 15), now - looked)
      looked = now
    }
  }
  const between = (from: number, to: number) => served.filter((at) => at >= from * 1000 && at < to * 1000).length
  return { refusals, servedBetween: between, shedding }
}

const quantile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0

t.test('what can be answered is never refused', async (t) => {
  for (const cost of [0.1, 0.5, 2, 10]) {
    const { refusals } = run({ rate: (0.9 * 1000) / cost, seconds: 20, cost })
    t.equal(refusals.length, 0, `${cost} ms each, nine tenths of what is possible`)
  }
})

t.test('three times as much as can be answered', async (t) => {
  // Thirty-two in a turn are never refused: of longer answers that is more than 100 ms.
  for (const cost of [0.5, 1, 2]) {
    const possible = 1000 / cost
    const { refusals, servedBetween } = run({ rate: 3 * possible, seconds: 20, cost })
    const goodput = servedBetween(0, 20) / 20
    // A refusal costs too: two of them for each answer.
    const most = possible * (cost / (cost + 2 * 0.05))
    t.ok(goodput > most * 0.9, `${cost} ms each: ${Math.round(goodput)} of ${Math.round(most)} a second are answered`)
    t.ok(refusals.length > possible * 20, `${refusals.length} refused`)
    const slow = (from: number) =>
      quantile(
        refusals.filter(([at]) => at >= from).map(([, waited]) => waited),
        0.99
      )
    t.ok(slow(3000) < 100, `99 of 100 refusals within ${Math.round(slow(3000))} ms`)
    t.ok(slow(0) < 1000, `and within ${Math.round(slow(0))} ms with those of the first three seconds`)
  }
})

t.test('what comes at once and does not go on is answered', async (t) => {
  const shedding = new Shedding()
  const answers = Array.from({ length: 1000 }, () => shedding.refuses())
  t.notOk(answers.includes(true), 'a thousand in one turn of the loop')
  shedding.observe(250, 265)
  t.notOk(Array.from({ length: 1000 }, () => shedding.refuses()).includes(true), 'and again after it')
})

t.test('few requests in a turn are never refused, however late the loop is', async (t) => {
  const shedding = new Shedding()
  for (let turn = 0; turn < 200; turn++) {
    const answers = Array.from({ length: 32 }, () => shedding.refuses())
    if (answers.includes(true)) t.fail(`in turn ${turn}`)
    shedding.observe(1000, 1015)
  }
  t.pass()
})

t.test('when the load ends it refuses nothing within a second', async (t) => {
  const { shedding } = run({ rate: 6000, seconds: 5, cost: 0.5 })
  for (let at = 0; at < 1000; at += 15) shedding.observe(0, 15)
  t.notOk(Array.from({ length: 1000 }, () => shedding.refuses()).includes(true))
  for (let at = 0; at < 5000; at += 15) shedding.observe(0, 15)
  t.ok(shedding.isIdle, 'and sleeps')
})

t.test('refusals are spread evenly', async (t) => {
  const shedding = new Shedding()
  for (let at = 0; at < 1500; at += 50) {
    for (let i = 0; i < 100; i++) shedding.refuses()
    shedding.observe(48, 50)
  }
  const answers = Array.from({ length: 1000 }, () => shedding.refuses())
  const share = answers.filter(Boolean).length / answers.length
  t.ok(share > 0.1 && share < 0.9, `${share} of all`)
  for (let from = 0; from < 1000; from += 100) {
    const part = answers.slice(from, from + 100).filter(Boolean).length
    t.ok(Math.abs(part - share * 100) <= 1, `${part} of each hundred`)
  }
})
