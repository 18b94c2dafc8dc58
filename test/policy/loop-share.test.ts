/** What one caller's long texts leave of the event loop to the others. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createBatch } from '../../src/policy/evaluate/batch.js'
import { createEvaluator } from '../../src/policy/evaluate/evaluator.js'
import { LoopShare, shortUnits } from '../../src/policy/evaluate/loop-share.js'
import { RuleEngine } from '../../src/policy/evaluate/rule-engine.js'
import { call, fakeClock, source } from './support.js'

t.test('a caller beyond its share yields while others are there, and not after a rest', (t) => {
  const clock = fakeClock()
  const loop = new LoopShare(clock)
  const ready = () => true
  const use = (whose: string, units: number) => {
    loop.asks(whose)
    loop.uses(whose, units)
  }
  for (let i = 0; i < 10; i++) use('a', 16_000)
  t.ok(loop.isBeyond('a'))
  t.notOk(loop.yields('a', ready), 'alone it has the loop to itself')
  use('b', 30)
  t.ok(loop.yields('a', ready))
  t.notOk(loop.yields('b', ready))
  use('a', 16_000)
  t.ok(loop.yields('a', ready), 'the other is still there')
  t.ok(
    loop.yields('a', () => false),
    'far beyond it waits even for the start of a thread'
  )
  clock.advance(512)
  t.notOk(loop.yields('a', () => false))
  t.ok(loop.yields('a', ready))
  clock.advance(512)
  t.notOk(loop.isBeyond('a'), 'nothing is held against it for longer than a second')
  const over = [loop.apart('a'), loop.apart('a')]
  over[0]!()
  t.ok(loop.yields('a', ready), 'a text of it is in a thread')
  over[1]!()
  t.notOk(loop.yields('a', ready))
  clock.advance(10_000)
  use('a', 60_000)
  t.notOk(loop.yields('a', ready), 'the other has left')
  for (let i = 0; i < 50; i++) {
    clock.advance(100)
    use('c', 6_000)
  }
  t.notOk(loop.isBeyond('c'), 'what keeps within its share never yields')
  t.end()
})

t.test('who is within its share comes first; the others come too', async (t) => {
  const inTurn = createBatch((whose) => whose === 'a')
  const order: string[] = []
  const work = (name: string) => inTurn(() => void order.push(name), name[0]!)
  await Promise.all(['a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'b3'].map(work))
  t.same(order, ['b1', 'c1', 'b2', 'a1', 'c2', 'b3', 'a2'])
})

t.test('long texts of a caller beyond its share are judged in a thread while others are there', async (t) => {
  const clock = fakeClock()
  const file = join(t.testdir(), 'default.yaml')
  const rules = '  - { name: kill, category: violence, weight: 0.9, any: [kill it] }'
  await writeFile(file, source({ rules }))
  const evaluator = await createEvaluator({ constitutions: { default: file }, clock, deadlineMs: 60_000 })
  t.teardown(() => evaluator.close())
  const { calls } = t.capture(RuleEngine.prototype, 'judge', RuleEngine.prototype.judge)
  // Counts here: another thread has an engine of its own.
  const judgedHere = (least: number) =>
    calls.filter(({ args: [{ parts }] }) => parts.some(({ text }) => text.length >= least)).length
  let count = 0
  const long = () => call(`${'some words. '.repeat(1_200)}${count++} kill it`)
  const ask = (whose: string, input = call('What is it?')) => evaluator.evaluate({ ...input, whose })

  for (let i = 0; i < 4; i++) await ask('a', long())
  t.equal(judgedHere(shortUnits), 4, 'alone it is not sent away')
  await ask('b')
  let here: number
  do {
    here = judgedHere(shortUnits)
    if ((await ask('a', long())).decision !== 'forbid') t.fail('a text that is not judged')
  } while (judgedHere(shortUnits) > here)
  const many = await Promise.all([...Array.from({ length: 20 }, () => ask('a', long())), ask('b'), ask('a')])
  t.equal(judgedHere(shortUnits), here, 'none of them takes the loop')
  t.same(
    many.map(({ decision }) => decision),
    [...Array(20).fill('forbid'), 'permit', 'permit']
  )
  t.equal(calls.length - here, 3, 'short ones are judged here')
  await ask('b', long())
  t.equal(judgedHere(shortUnits), here + 1, 'one now and then is judged here')
  clock.advance(1_024)
  await ask('a', long())
  t.equal(judgedHere(shortUnits), here + 2, 'after a rest too')
})
