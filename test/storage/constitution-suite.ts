/** What every store of constitutions must do. Each implementation runs the whole of it. */
import type { Test } from 'tap'
import type { ConstitutionFile, NewConstitution } from '../../src/storage/contracts/constitutions.js'
import type { Storage } from '../../src/storage/contracts/index.js'
import { t0 } from './storage-suite.js'

function text(digest: string, change: Partial<NewConstitution> = {}): NewConstitution {
  return {
    account: 'acme',
    name: 'default',
    declared: 'draft',
    digest,
    length: 9,
    origin: 'api',
    note: 'why “so”',
    createdAt: t0,
    createdBy: 'key_a',
    source: `# ${digest} ✓\n`,
    ...change
  }
}

const file = (digest: string, change: Partial<ConstitutionFile> = {}): ConstitutionFile => ({
  ...text(digest, { origin: 'file', note: null, createdBy: null }),
  displaces: true,
  ...change
})

const change = (to: number, extra: object = {}) => ({
  account: 'acme',
  name: 'default',
  to,
  at: t0 + 5,
  by: 'key_b',
  origin: 'api' as const,
  ...extra
})

export function constitutionSuite(t: Test, open: (t: Test) => Promise<Storage>): void {
  t.test('constitutions: versions are numbered by the store, read as stored, and only in their account', async (t) => {
    const { constitutions } = await open(t)
    const first = await constitutions.add(text('a'))
    t.match(first, { created: true, version: { version: 1, digest: 'a', note: 'why “so”', createdBy: 'key_a' } })
    t.match(await constitutions.add(text('b')), { created: true, version: { version: 2 } })
    t.match(
      await constitutions.add(text('a')),
      { created: true, version: { version: 3 } },
      'an older text is new again'
    )
    t.same(await constitutions.get('acme', 'default', 1), { ...text('a'), version: 1 })
    t.equal(await constitutions.get('other', 'default', 1), undefined)
    t.equal(await constitutions.get('acme', 'strict', 1), undefined)
    t.equal(await constitutions.get('acme', 'default', 4), undefined)
    t.same(await constitutions.states('other'), [])
    t.match(await constitutions.states('acme'), [{ name: 'default', versions: 3, latest: 3, active: null }])
  })

  t.test('constitutions: the same text twice is one version', async (t) => {
    const { constitutions } = await open(t)
    const first = await constitutions.add(text('a'))
    const again = await constitutions.add(text('a', { note: 'other', createdAt: t0 + 9, createdBy: 'key_z' }))
    t.equal(again.created, false)
    t.same(again.version, first.version, 'who stored it first remains')
    const many = await Promise.all(Array.from({ length: 20 }, () => constitutions.add(text('b'))))
    t.equal(many.filter(({ created }) => created).length, 1)
    t.same([...new Set(many.map(({ version }) => version.version))], [2])
  })

  t.test('constitutions: a number that the text declares is its number where it is above all before', async (t) => {
    const { constitutions } = await open(t)
    const numbers: number[] = []
    for (const [i, declared] of ['7', '7', '3', '12', '012', 'v2', '1.5', '0', '99999999999', '-20', '1e3'].entries()) {
      numbers.push((await constitutions.add(text(`d${i}`, { declared }))).version.version)
    }
    t.same(numbers, [7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19])
    t.equal((await constitutions.get('acme', 'default', 14))?.declared, 'v2')
  })

  t.test('constitutions: versions come newest first, page by page, without their text', async (t) => {
    const { constitutions } = await open(t)
    for (let i = 1; i <= 5; i++) await constitutions.add(text(`d${i}`))
    await constitutions.add(text('x', { name: 'strict' }))
    const page = async (before?: number) =>
      (await constitutions.versions('acme', 'default', { before, limit: 2 })).map(({ version }) => version)
    t.same([await page(), await page(4), await page(2), await page(1)], [[5, 4], [3, 2], [1], []])
    const [newest] = await constitutions.versions('acme', 'default', { limit: 1 })
    t.notOk(Object.hasOwn(newest!, 'source'))
    t.same(await constitutions.versions('other', 'default', { limit: 9 }), [])
  })

  t.test('constitutions: an activation is in force, in the history, and seen by the revision', async (t) => {
    const { constitutions } = await open(t)
    t.same(await constitutions.activate(change(1)), { outcome: 'absent' })
    await constitutions.add(text('a'))
    await constitutions.add(text('b'))
    const before = await constitutions.revision()
    await constitutions.add(text('b'))
    t.equal(await constitutions.revision(), before, 'what is stored already is nothing new')
    await constitutions.add(text('c'))
    const stored = await constitutions.revision()
    t.ok(stored > before)
    t.same(await constitutions.activate(change(1)), { outcome: 'activated', from: null })
    t.same(await constitutions.activate(change(2, { at: t0 + 6, by: null, origin: 'command' })), {
      outcome: 'activated',
      from: 1
    })
    t.same(await constitutions.activate(change(2)), { outcome: 'unchanged', from: 2 })
    t.same(await constitutions.activate(change(9)), { outcome: 'absent' })
    t.same(await constitutions.activate(change(1, { account: 'other' })), { outcome: 'absent' })
    t.ok((await constitutions.revision()) > stored)
    t.match(await constitutions.states('acme', 'default'), [
      { active: 2, activatedAt: t0 + 6, activatedBy: null, activatedOrigin: 'command', fileDigest: null }
    ])
    const history = await constitutions.activations('acme', 'default', { limit: 10 })
    t.match(history, [
      { from: 1, to: 2, at: t0 + 6, by: null, origin: 'command' },
      { from: null, to: 1, at: t0 + 5, by: 'key_b', origin: 'api' }
    ])
    t.same(await constitutions.activations('acme', 'default', { before: history[0]!.seq, limit: 10 }), [history[1]])
    t.same(await constitutions.activations('other', 'default', { limit: 10 }), [])
  })

  t.test('constitutions: of many activations that expect one version, one is done', async (t) => {
    const { constitutions } = await open(t)
    for (let i = 1; i <= 21; i++) await constitutions.add(text(`d${i}`))
    t.match(await constitutions.activate(change(1, { ifActive: null })), { outcome: 'activated' })
    t.same(await constitutions.activate(change(2, { ifActive: null })), { outcome: 'other', from: 1 })
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => constitutions.activate(change(i + 2, { ifActive: 1 })))
    )
    t.equal(outcomes.filter(({ outcome }) => outcome === 'activated').length, 1)
    t.equal(outcomes.filter(({ outcome }) => outcome === 'other').length, 19)
    t.equal((await constitutions.activations('acme', 'default', { limit: 99 })).length, 2)
  })

  t.test('constitutions: a file is taken over once, and again only when it has changed', async (t) => {
    const { constitutions } = await open(t)
    t.match(await constitutions.adopt([file('f1')], t0), [{ from: null, to: 1, by: null, origin: 'file' }])
    t.same(await constitutions.adopt([file('f1')], t0), [], 'nothing new')
    await constitutions.add(text('a'))
    await constitutions.activate(change(2))
    t.same(await constitutions.adopt([file('f1')], t0), [], 'what was activated stays while the file is the same')
    t.match(await constitutions.states('acme'), [{ active: 2, latest: 2, fileDigest: 'f1' }])
    t.match(
      await constitutions.adopt([file('f2')], t0 + 1),
      [{ from: 2, to: 3, at: t0 + 1 }],
      'a changed file takes effect'
    )
    t.match(await constitutions.adopt([file('f1')], t0), [{ from: 3, to: 1 }], 'a text that is known keeps its number')
    t.match(await constitutions.adopt([file('a')], t0), [{ from: 1, to: 2 }])
    t.same(await constitutions.adopt([file('f2', { name: 'strict' }), file('a')], t0).then((done) => done.length), 1)
    t.equal((await constitutions.states('acme')).length, 2)
  })

  t.test(
    'constitutions: a file that does not displace leaves what someone activated, and replaces files',
    async (t) => {
      const { constitutions } = await open(t)
      const shipped = (digest: string) => file(digest, { displaces: false })
      t.match(await constitutions.adopt([shipped('f1')], t0), [{ to: 1 }])
      t.match(await constitutions.adopt([shipped('f2')], t0), [{ from: 1, to: 2 }])
      await constitutions.activate(change(1))
      t.same(await constitutions.adopt([shipped('f3')], t0), [], 'version 1 was chosen, though it came from a file')
      t.match(await constitutions.states('acme'), [{ active: 1, latest: 3, fileDigest: 'f3' }])
      t.same(await constitutions.adopt([file('f3')], t0), [], 'and it is no change any more')
    }
  )

  t.test(
    'constitutions: the last word on a route counts, is compared and set, and is seen by the revision',
    async (t) => {
      const { constitutions } = await open(t)
      const bind = (route: string, name: string | null, extra: object = {}) =>
        constitutions.bind({ account: 'acme', route, name, at: t0, by: 'key_b', origin: 'api', ...extra })
      t.same(await constitutions.bindings('acme'), [])
      const before = await constitutions.revision()
      t.match(await bind('/b', 'mine', { ifName: null }), { route: '/b', name: 'mine', by: 'key_b', at: t0 })
      t.ok((await constitutions.revision()) > before)
      await bind('/a', 'mine')
      t.equal(await bind('/b', 'other', { ifName: null }), undefined, 'it is bound already')
      t.match(await bind('/b', 'other', { ifName: 'mine', by: null, origin: 'command' }), { name: 'other' })
      await bind('/a', null)
      t.match(await constitutions.bindings('acme'), [
        { route: '/a', name: null },
        { route: '/b', name: 'other', by: null, origin: 'command' }
      ])
      t.same(await constitutions.bindings('other'), [])
      const many = await Promise.all(Array.from({ length: 20 }, (_, i) => bind('/c', `n${i}`, { ifName: null })))
      t.equal(many.filter((one) => one !== undefined).length, 1, 'of many that expect none, one is done')
    }
  )
}
