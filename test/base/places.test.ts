import t from 'tap'
import { FairQueue } from '../../src/base/fair-queue.js'
import { type LetGo, Places } from '../../src/base/places.js'

t.test('one caller has at most its number of places; the others are for others', async (t) => {
  const places = new Places({ most: 3, mostEach: 2, refusal: () => new Error('full') })
  const begun: string[] = []
  const open: LetGo[] = []
  const take = (whose: string) => {
    const got = places.take(whose)
    const begin = (letGo: LetGo) => {
      begun.push(whose)
      open.push(letGo)
    }
    return got instanceof Promise ? got.then(begin) : begin(got)
  }
  const all = [take('a'), take('a'), take('a'), take('a'), take('b'), take('c'), take('b')]
  t.same(begun, ['a', 'a', 'b'])
  t.equal(places.taken, 3)
  // The place of b is not for a, whose turn it would be; then a gives one back.
  const step = async (i: number) => {
    open[i]!()
    open[i]!()
    await new Promise(setImmediate)
  }
  await step(2)
  t.same(begun.slice(3), ['c'])
  await step(0)
  t.same(begun.slice(4), ['a'])
  await step(3)
  t.same(begun.slice(5), ['b'])
  for (let i = 0; i < open.length; i++) await step(i)
  await Promise.all(all)
  t.same(begun.slice(6), ['a'])
  t.equal(places.taken, 0)
})

t.test('a full queue takes who has less than an even share', async (t) => {
  const queue = new FairQueue<number>()
  for (let i = 0; i < 8; i++) {
    t.notOk(queue.isOverShare('a', 8))
    queue.push('a', i)
  }
  t.ok(queue.isOverShare('a', 8))
  for (let i = 0; i < 4; i++) {
    t.notOk(queue.isOverShare('b', 8), 'half of it')
    queue.push('b', i)
  }
  t.ok(queue.isOverShare('b', 8))
  t.notOk(queue.isOverShare('c', 8))
})

t.test('who may not go keeps the place', async (t) => {
  const queue = new FairQueue<string>()
  queue.push('a', 'a1')
  queue.push('b', 'b1')
  queue.push('a', 'a2')
  const notA = (whose: string) => whose !== 'a'
  t.equal(queue.shift(notA), 'b1')
  t.equal(queue.shift(notA), undefined)
  t.equal(queue.length, 2)
  t.equal(queue.shift(), 'a1')
  t.equal(queue.shift(), 'a2')
})

t.test('the least user goes first, and equals take turns', async (t) => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'b1', 'b2', 'c1']) queue.push(item[0]!, item)
  const used = new Map([['a', 5]])
  const next = () => queue.shiftLeast((whose) => used.get(whose) ?? 0)
  t.same([next(), next(), next()], ['b1', 'c1', 'b2'])
  queue.push('b', 'b3')
  used.set('b', 6)
  t.same([next(), next(), next(), next()], ['a1', 'a2', 'b3', undefined])
  t.equal(queue.length, 0)
})
