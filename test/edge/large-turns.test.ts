/** Turns: callers one after the other, and large bodies one in a turn of the event loop. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { FairQueue } from '../../src/base/fair-queue.js'
import { LargeTurns, largeBody } from '../../src/edge/large-turns.js'
import { createBatch } from '../../src/policy/evaluate/batch.js'

t.test('callers take turns, each in the order of its own', async (t) => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item[0]!, item)
  t.ok(queue.remove('a', 'a2'))
  t.notOk(queue.remove('a', 'a2'))
  t.notOk(queue.remove('z', 'z'))
  t.equal(queue.length, 5)
  const served = Array.from({ length: 6 }, () => queue.shift())
  t.same(served, ['a1', 'b1', 'c1', 'a3', 'b2', undefined])
  for (let i = 0; i < 5_000; i++) queue.push('a', String(i))
  for (let i = 0; i < 5_000; i++) if (queue.shift() !== String(i)) t.fail(String(i))
  t.equal(queue.length, 0)
})

t.test('large bodies: one in a turn of the loop, and others come between', async (t) => {
  const turns = new LargeTurns()
  t.equal(turns.take('a', largeBody - 1), undefined, 'small ones do not wait')
  const told: string[] = []
  let loops = 0
  const at: number[] = []
  let counting = true
  const count = async () => {
    while (counting) {
      await setImmediate()
      loops++
    }
  }
  const counted = count()
  const take = async (whose: string) => {
    await turns.take(whose, largeBody)
    told.push(whose)
    at.push(loops)
  }
  await Promise.all([take('a'), take('a'), take('a'), take('b')])
  counting = false
  await counted
  t.same(told, ['a', 'b', 'a', 'a'])
  t.same(at, [...new Set(at)], 'no two in one turn')
})

t.test('what takes long is not all judged in one turn of the loop', async (t) => {
  const inTurn = createBatch()
  const order: string[] = []
  const hold = (name: string, whose: string) =>
    inTurn(() => {
      const ends = performance.now() + 8
      while (performance.now() < ends);
      order.push(name)
    }, whose)
  const work = [hold('a1', 'a'), hold('a2', 'a'), hold('a3', 'a'), hold('b1', 'b')]
  const loop = (async () => {
    for (let i = 0; i < 3; i++) {
      await setImmediate()
      order.push('loop')
    }
  })()
  await Promise.all([...work, loop])
  t.same(
    order.filter((name) => name !== 'loop'),
    ['a1', 'b1', 'a2', 'a3'],
    'another caller waits for one'
  )
  t.ok(order.indexOf('loop') < order.indexOf('b1'), 'the loop goes on between two')
})
