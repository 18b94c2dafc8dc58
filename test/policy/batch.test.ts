import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createBatch } from '../../src/policy/evaluate/batch.js'

t.test('what comes in one turn of the event loop is done in one go, before any outcome is told', async (t) => {
  const inTurn = createBatch()
  const told: string[] = []
  const work = (name: string) =>
    inTurn(() => {
      told.push(`does ${name}`)
      return name
    }).then((name) => told.push(`tells ${name}`))
  const first = [work('a'), work('b')]
  await Promise.resolve()
  const late = work('c')
  t.same(told, [], 'nothing is done while more may come')
  await Promise.all([...first, late])
  t.same(told, ['does a', 'does b', 'does c', 'tells a', 'tells b', 'tells c'])
})

t.test('a failure is its own and no one else’s', async (t) => {
  const inTurn = createBatch()
  const fails = inTurn<string>(() => {
    throw new Error('broken')
  })
  const outcomes = await Promise.allSettled([
    inTurn(() => 1),
    fails,
    inTurn(async () => 2),
    inTurn(() => Promise.reject(new Error('late'))),
    inTurn(() => 3)
  ])
  t.match(outcomes, [
    { value: 1 },
    { reason: { message: 'broken' } },
    { value: 2 },
    { reason: { message: 'late' } },
    { value: 3 }
  ])
})

t.test('work that is asked for by work waits for the next turn, and is not lost', async (t) => {
  const inTurn = createBatch()
  let inner: Promise<string> | undefined
  await inTurn(() => {
    inner = inTurn(() => 'inner')
  })
  t.equal(await inner, 'inner')
  await setImmediate()
  t.equal(await inTurn(() => 'again'), 'again')
})
