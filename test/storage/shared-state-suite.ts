/** What nodes must find in whatever they share. Each implementation runs the whole of it, with two nodes where it can. */
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'tap'
import { nextState } from '../../src/policy/evaluate/session.js'
import type { Notice, SharedState } from '../../src/storage/contracts/shared-state.js'

const session = { halfLifeMs: 600_000, turns: 4, most: 0.5 }
const turn = (text: string, ownRisk = 1) => ({ role: 'user' as const, text, decision: 'permit' as const, ownRisk })

async function until(done: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    if (await done()) return true
    await setTimeout(20)
  }
  return false
}

/** @param open two nodes, or one twice where a node shares with nobody */
export function sharedStateSuite(t: Test, open: (t: Test) => Promise<[SharedState, SharedState]>): void {
  t.test(
    'counters: of many at once, over all nodes, exactly the limit is taken, and a look takes nothing',
    async (t) => {
      const nodes = await open(t)
      const taken = await Promise.all(
        Array.from({ length: 300 }, (_, i) => nodes[i % 2]!.counters.take('a', 1, 100, 60_000))
      )
      t.equal(taken.filter(({ allowed }) => allowed).length, 100)
      const told = taken.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)
      t.same(
        told.sort((a, b) => a - b),
        Array.from({ length: 100 }, (_, i) => i),
        'each is told what is left after it'
      )
      for (const { counters } of nodes) {
        const look = await counters.take('a', 0, 100, 60_000)
        t.match(look, { allowed: true, remaining: 0, retryMs: 0 })
        t.ok(look.resetMs > 50_000 && look.resetMs <= 60_000)
        t.match(await counters.take('b', 0, 100, 60_000), { remaining: 100, resetMs: 0 }, 'another counter')
      }
    }
  )

  t.test('counters: a cost is taken whole or not at all, and fits again when enough has left the window', async (t) => {
    const [a, b] = await open(t)
    t.match(await a.counters.take('a', 3, 5, 1000), { allowed: true, remaining: 2 })
    const refused = await b.counters.take('a', 3, 5, 1000)
    t.match(refused, { allowed: false, remaining: 2, resetMs: 0 })
    t.ok(refused.retryMs > 0 && refused.retryMs <= 1000)
    t.match(await b.counters.take('a', 6, 5, 1000), { allowed: false, retryMs: 1000 }, 'more than fits ever')
    t.match(await b.counters.take('a', 2, 5, 1000), { allowed: true, remaining: 0 })
    t.ok(await until(async () => (await b.counters.take('a', 3, 5, 1000)).allowed))
  })

  t.test('sessions: what one node stores the other reads, and of turns at once none is lost', async (t) => {
    const [a, b] = await open(t)
    t.equal(await a.sessions.get('acme:1'), undefined)
    const store = (node: SharedState, text: string) =>
      node.sessions.update('acme:1', (state) => nextState(state, turn(text), performance.now(), session))
    await store(a, 'first “✓”')
    await Promise.all([store(a, 'second'), store(b, 'third')])
    for (const { sessions } of [a, b]) {
      const state = (await sessions.get('acme:1'))!
      t.equal(state.tail[0], 'first “✓”')
      t.same([...state.tail].sort(), ['first “✓”', 'second', 'third'])
      t.ok(state.risk > 2.99 && state.risk <= 3)
      t.ok(Math.abs(performance.now() - state.at) < 5000, 'in the time of this process')
    }
    t.equal(await b.sessions.get('other:1'), undefined)
  })

  t.test('notices: the other node hears of every change, in order', async (t) => {
    const [a, b] = await open(t)
    if (a === b) {
      t.pass('there is nobody to tell')
      return
    }
    const heard: Notice[] = []
    b.notices.listen((notice) => heard.push(notice))
    const sent: Notice[] = ['x', 'y', 'z'].map((prefix) => ({ kind: 'key', prefix }))
    for (const notice of sent) await a.notices.publish(notice)
    t.ok(await until(() => heard.filter(({ kind }) => kind === 'key').length === 3))
    t.same(
      heard.filter(({ kind }) => kind === 'key'),
      sent
    )
    await a.notices.publish({ kind: 'constitution' })
    t.ok(await until(() => heard.at(-1)?.kind === 'constitution'))
    t.ok(await until(() => a.status().nodes === 2 && b.status().nodes === 2), 'they know of each other')
  })

  t.test('notices: who waits for the others waits until they are done, and no longer than it says', async (t) => {
    const [a, b] = await open(t)
    await a.notices.publishAndWait({ kind: 'prepare', name: 'x', version: 1 }, 100)
    if (a === b) return
    t.ok(await until(() => a.status().nodes === 2))
    let isDone = false
    let end = () => {}
    b.notices.listen(async ({ kind }) => {
      if (kind !== 'prepare') return
      await new Promise<void>((resolve) => {
        end = resolve
      })
      isDone = true
    })
    a.notices.listen(({ kind }) => {
      if (kind === 'prepare') throw new Error('one that fails is done too')
    })
    const prepare = { kind: 'prepare', name: 'x', version: 2 } as const
    await a.notices.publishAndWait(prepare, 60)
    t.notOk(isDone, 'the time was up')
    end()
    const waiting = a.notices.publishAndWait(prepare, 60_000)
    t.ok(await until(() => isDone))
    isDone = false
    t.ok(
      await until(async () => {
        end()
        return isDone
      })
    )
    await waiting
  })
}
