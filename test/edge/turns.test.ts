import { setImmediate, setTimeout } from 'node:timers/promises'
import t from 'tap'
import { mostAtOnce, Turns } from '../../src/edge/turns.js'

function hold(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

t.test('the first few begin at once, the others in the order in which they came', async (t) => {
  const turns = new Turns()
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
  const turns = new Turns()
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
  const turns = new Turns()
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
  const turns = new Turns()
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
