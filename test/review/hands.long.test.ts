import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { openStorage } from '../../src/storage/open.js'
import { checkHands, meet, openWorld, populate } from './hands-suite.js'

t.test('whoever could hold the secrets of one hand completes no decision of two: in memory', async (t) => {
  const world = await openWorld(t)
  await checkHands(t, world, await populate(world), 5)
})

t.test('the same over SQLite', async (t) => {
  const world = await openWorld(t, await openStorage({ url: `sqlite:${join(t.testdir(), 'gate.db')}` }))
  await checkHands(t, world, await populate(world), 53)
})

t.test('whatever is minted and rotated by whom, in whatever order', async (t) => {
  const act = fc.record({ rotates: fc.boolean(), by: fc.nat(40), of: fc.nat(40) })
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 10 }), async (acts) => {
      const world = await openWorld(t)
      const actors = [await world.person('anna'), await world.onCommandLine('c'), await world.onCommandLine('d')]
      const rotated = new Set<string>()
      for (const { rotates, by, of } of acts) {
        const actor = actors[by % actors.length]!
        const open = actors.filter(({ caller }) => caller.keyId.startsWith('key_') && !rotated.has(caller.keyId))
        const old = open[of % open.length]!
        if (rotates) rotated.add(old.caller.keyId)
        actors.push(rotates ? await world.rotate(old, actor) : await world.mint(actor))
      }
      for (const cause of actors) {
        for (const one of actors) {
          const [said] = await world.review(cause, false, one)
          if ((said === 'permitted') === meet(cause, one)) throw new Error(`${cause.name} → ${one.name}: ${said}`)
        }
      }
    }),
    { numRuns: 10 }
  )
  t.pass('10 worlds')
})
