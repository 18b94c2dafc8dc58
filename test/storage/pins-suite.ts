/** What every store must do with the pinned definitions of MCP servers. */
import type { Test } from 'tap'
import type { PinRow, Storage } from '../../src/storage/contracts/index.js'

const pin = (name: string, more: Partial<PinRow> = {}): PinRow => ({
  pinId: `pin-${more.server ?? 'one'}-${name}`,
  account: 'default',
  server: 'one',
  kind: 'tool',
  name,
  digest: 'd1',
  sealedDefinition: Buffer.from('sealed'),
  isPermitted: false,
  pendingDigest: null,
  sealedPending: null,
  changedAt: 1_000,
  ...more
})

export function pinsSuite(t: Test, open: (t: Test) => Promise<Storage>): void {
  t.test('of two that pin one definition the first counts', async (t) => {
    const { pins } = await open(t)
    const results = await Promise.all(['d1', 'd2'].map((digest) => pins.add([pin('a', { digest })], 10)))
    const [first, second] = results.map((rows) => rows[0]!)
    t.equal(first!.digest, second!.digest)
    t.match(await pins.find([first!.pinId, 'another']), [{ ...pin('a'), digest: first!.digest }])
    t.same(await pins.find([]), [])
  })

  t.test('a server has no more pins than it may, and others have theirs', async (t) => {
    const { pins } = await open(t)
    const stored = await pins.add(
      ['a', 'b', 'c'].map((name) => pin(name)),
      2
    )
    t.same(stored.map(({ name }) => name).sort(), ['a', 'b'])
    t.same(await pins.add([pin('c')], 2), [], 'there is no room')
    t.equal((await pins.add([pin('a'), pin('b')], 2)).length, 2, 'what is kept needs none')
    t.equal((await pins.add([pin('c', { server: 'two' })], 2)).length, 1)
    await pins.add([pin('p', { kind: 'prompt', server: 'two' })], 2)
    t.same(await pins.toolNames('default', 10), [
      { server: 'one', name: 'a' },
      { server: 'one', name: 'b' },
      { server: 'two', name: 'c' }
    ])
    t.equal((await pins.toolNames('default', 1)).length, 1)
    t.same(await pins.toolNames('other', 10), [])
  })

  t.test('a pin is replaced by whoever knows what stands', async (t) => {
    const { pins } = await open(t)
    const row = pin('a')
    await pins.add([row], 10)
    const pending = { ...row, pendingDigest: 'd2', sealedPending: Buffer.from('next'), changedAt: 2_000 }
    const tries = await Promise.all([pins.replace(pending, row), pins.replace(pending, row)])
    t.same(tries.sort(), [false, true], 'of two at once one does it')
    t.equal(await pins.replace(row, row), false, 'somebody else was faster')
    const permitted = { ...pending, digest: 'd2', isPermitted: true, pendingDigest: null, sealedPending: null }
    t.equal(await pins.replace(permitted, pending), true)
    t.match(await pins.find([row.pinId]), [
      { digest: 'd2', isPermitted: true, pendingDigest: null, sealedPending: null, changedAt: 2_000 }
    ])
  })
}
