/** What every storage must do. Each implementation runs the whole of it. */
import type { Test } from 'tap'
import { newId } from '../../src/base/ids.js'
import type { ReviewBounds } from '../../src/base/settings.js'
import type { DeliveryRow, KeyRow, ReviewRow, Storage } from '../../src/storage/contracts/index.js'
import { unbounded } from '../../src/storage/contracts/reviews.js'

export const t0 = Date.UTC(2026, 0, 1)
let count = 0

export function keyRow(change: Partial<KeyRow> = {}): KeyRow {
  const keyId = newId('key', t0 + ++count)
  return {
    keyId,
    account: 'acme',
    lineage: keyId,
    prefix: String(count).padStart(8, '0'),
    environment: 'live',
    name: 'a “name”',
    scopes: ['safety:evaluate', 'billing:read'],
    ipAllowlist: ['10.0.0.0/8'],
    rateLimitPerMinute: null,
    maxConcurrent: null,
    hash: new Uint8Array(32).fill(count),
    createdAt: t0,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    graceEndsAt: null,
    rotatedTo: null,
    createdBy: null,
    roots: change.roots ?? [change.lineage ?? keyId],
    selfRotation: true,
    termsUrl: null,
    termsAcceptedAt: null,
    termsAcceptedBy: null,
    ...change
  }
}

export function reviewRow(change: Partial<ReviewRow> = {}): ReviewRow {
  return {
    reviewId: newId('rev', t0 + ++count),
    account: 'acme',
    keyId: 'key_a',
    lineage: 'key_a',
    surface: 'chat',
    route: '/v1/chat/completions',
    policy: 'default@1',
    digest: 'd'.repeat(64),
    sealedRequest: new Uint8Array([0, 1, 255]),
    sealedContext: null,
    sealedHistory: null,
    sealedNote: null,
    sealedApprovalNote: null,
    state: 'pending',
    riskScore: 0.5,
    matchedRules: ['weapons'],
    categories: ['weapons'],
    detections: '[]',
    createdAt: t0,
    expiresAt: t0 + 1000,
    claimedBy: null,
    claimedUntil: null,
    approvedBy: null,
    approvedAt: null,
    decidedAt: null,
    decidedBy: null,
    usedAt: null,
    purgedAt: null,
    ...change
  }
}

export function deliveryRow(change: Partial<DeliveryRow> = {}): DeliveryRow {
  return {
    deliveryId: newId('whd', t0),
    account: 'acme',
    channel: 'review',
    event: 'review.created',
    subject: 'rev_x',
    body: '{}',
    state: 'waiting',
    attempts: 0,
    nextAt: t0,
    lastError: null,
    createdAt: t0,
    ...change
  }
}

const all = Array.from({ length: 100 }, (_, i) => i)
const won = (results: boolean[]): number => results.filter(Boolean).length

export function storageSuite(t: Test, open: (t: Test) => Promise<Storage>): void {
  t.test('keys: what is stored is what is read, and only in its account', async (t) => {
    const { keys } = await open(t)
    const row = keyRow({
      lastUsedAt: t0 + 1,
      expiresAt: t0 + 2,
      rateLimitPerMinute: 5,
      maxConcurrent: 6,
      hash: new Uint8Array([0, 255])
    })
    Object.assign(row, { createdBy: 'usr_a', roots: ['usr_a', 'key_b'], selfRotation: false })
    await keys.insert(row)
    t.same(await keys.get('acme', row.keyId), row)
    t.same(await keys.byPrefix(row.prefix), row)
    t.equal(await keys.get('other', row.keyId), undefined)
    t.equal(await keys.byPrefix('ZZZZZZZZ'), undefined)
    t.same([...(await keys.byPrefix(row.prefix))!.hash], [0, 255])
  })

  t.test('keys: those that end soon, the first to end first', async (t) => {
    const { keys } = await open(t)
    const ends = (expiresAt: number | null, change: Partial<KeyRow> = {}) => keyRow({ expiresAt, ...change })
    const [first, second] = [ends(t0 + 20), ends(t0 + 30, { account: 'other' })]
    const others = [
      ends(null),
      ends(t0 + 10),
      ends(t0 + 101),
      ends(t0 + 25, { revokedAt: t0 }),
      ends(t0 + 25, { graceEndsAt: t0 + 20 })
    ]
    for (const row of [second, ...others, first]) await keys.insert(row)
    const found = (limit: number) => keys.expiring({ now: t0 + 10, until: t0 + 100, limit })
    t.same(await found(9), [first, second])
    t.same(await found(1), [first])
  })

  t.test('keys: a taken prefix or id is a conflict, and nothing of the refused key remains', async (t) => {
    const { keys } = await open(t)
    const row = keyRow()
    await keys.insert(row)
    await t.rejects(keys.insert(keyRow({ prefix: row.prefix, account: 'new' })), { name: 'Conflict' })
    await t.rejects(keys.insert(keyRow({ keyId: row.keyId })), { name: 'Conflict' })
    t.same(await keys.list('new', {}), [])
    t.same(await keys.list('acme', {}), [row])
  })

  t.test('keys: of many first keys at once exactly one is stored', async (t) => {
    const { keys } = await open(t)
    t.equal(await keys.isEmpty(), true)
    t.equal(won(await Promise.all(all.map(() => keys.insertFirst(keyRow())))), 1)
    t.equal((await keys.list('acme', {})).length, 1)
    t.equal(await keys.isEmpty(), false)
  })

  t.test('keys: pages join to the whole list, in order of creation, of one account', async (t) => {
    const { keys } = await open(t)
    const rows = all.slice(0, 7).map(() => keyRow())
    for (const row of [...rows].reverse()) await keys.insert(row)
    await keys.insert(keyRow({ account: 'other' }))
    t.same(await keys.list('acme', {}), rows)
    const first = await keys.list('acme', { limit: 3 })
    const rest = await keys.list('acme', { after: first.at(-1)!.keyId })
    t.same([...first, ...rest], rows)
  })

  t.test('keys: a revocation is written once, ends a grace, and leaves a past grace as it was', async (t) => {
    const { keys } = await open(t)
    const [live, retiring, ended] = [keyRow(), keyRow({ graceEndsAt: t0 + 10 }), keyRow({ graceEndsAt: t0 + 5 })]
    for (const row of [live, retiring, ended]) await keys.insert(row)
    for (const row of [live, retiring]) {
      t.equal((await keys.revoke('acme', row.keyId, t0 + 5))!.revokedAt, t0 + 5)
      t.equal((await keys.revoke('acme', row.keyId, t0 + 9))!.revokedAt, t0 + 5)
    }
    t.equal((await keys.revoke('acme', ended.keyId, t0 + 5))!.revokedAt, null)
    t.equal(await keys.revoke('other', live.keyId, t0), undefined)
    t.equal(await keys.revoke('acme', 'key_none', t0), undefined)
  })

  t.test('keys: of 100 rotations at once one wins, with one successor', async (t) => {
    const { keys } = await open(t)
    const old = keyRow()
    await keys.insert(old)
    const successors = all.map(() => keyRow({ lineage: old.keyId }))
    const results = await Promise.all(successors.map((row) => keys.rotate('acme', old.keyId, t0, t0 + 300_000, row)))
    t.equal(won(results), 1)
    const winner = successors[results.indexOf(true)]!
    t.same(await keys.list('acme', {}), [{ ...old, graceEndsAt: t0 + 300_000, rotatedTo: winner.keyId }, winner])
  })

  t.test('keys: what is revoked, rotated, expired or foreign is not rotated', async (t) => {
    const { keys } = await open(t)
    const closed = [
      keyRow({ revokedAt: t0 }),
      keyRow({ rotatedTo: 'key_x', graceEndsAt: t0 + 9 }),
      keyRow({ expiresAt: t0 }),
      keyRow({ account: 'other' })
    ]
    for (const row of closed) {
      await keys.insert(row)
      t.equal(await keys.rotate('acme', row.keyId, t0, t0 + 1, keyRow()), false)
    }
    t.equal((await keys.list('acme', {})).length, 3)
    t.equal(await keys.rotate('acme', 'key_none', t0, t0 + 1, keyRow()), false)
  })

  t.test('keys: a rotation whose successor conflicts changes nothing', async (t) => {
    const { keys } = await open(t)
    const old = keyRow()
    await keys.insert(old)
    await t.rejects(keys.rotate('acme', old.keyId, t0, t0 + 1, keyRow({ prefix: old.prefix })), { name: 'Conflict' })
    t.same(await keys.list('acme', {}), [old])
  })

  t.test('keys: last use moves forward only, and unknown keys are skipped', async (t) => {
    const { keys } = await open(t)
    const row = keyRow()
    await keys.insert(row)
    for (const [at, expected] of [
      [t0 + 5, t0 + 5],
      [t0 + 3, t0 + 5],
      [t0 + 8, t0 + 8]
    ] as const) {
      await keys.touch(
        new Map([
          [row.keyId, at],
          ['key_none', at]
        ])
      )
      t.equal((await keys.get('acme', row.keyId))!.lastUsedAt, expected)
    }
  })

  t.test(
    'keys: a lineage is listed by itself, and none of it outlives its revocation, rotated meanwhile or not',
    async (t) => {
      const { keys, deliveries } = await open(t)
      const first = keyRow()
      const other = keyRow()
      const foreign = keyRow({ account: 'other', lineage: first.keyId })
      for (const row of [first, other, foreign]) await keys.insert(row)
      const second = keyRow({ lineage: first.keyId, roots: first.roots })
      const told = deliveryRow({ event: 'key.rotated', subject: first.keyId })
      t.equal(await keys.rotate('acme', first.keyId, t0, t0 + 300_000, second, [told]), true)
      t.same(await deliveries.list('acme', { limit: 9 }), [told])
      t.equal(await keys.rotate('acme', first.keyId, t0, t0 + 300_000, keyRow(), [deliveryRow()]), false)
      t.equal((await deliveries.list('acme', { limit: 9 })).length, 1, 'what was not done is not told')
      const ids = async () => (await keys.list('acme', { lineage: first.keyId })).map(({ keyId }) => keyId)
      t.same(await ids(), [first.keyId, second.keyId])
      const third = keyRow({ lineage: first.keyId, roots: first.roots })
      const [rotated, revoked] = await Promise.all([
        keys.rotate('acme', second.keyId, t0, t0 + 300_000, third),
        keys.revokeLineage('acme', first.keyId, t0 + 1)
      ])
      t.equal(revoked.length, rotated ? 3 : 2, 'the successor is among them, or was never stored')
      const after = await keys.list('acme', { lineage: first.keyId })
      t.same(after, revoked)
      t.ok(after.every(({ revokedAt }) => revokedAt === t0 + 1))
      t.same(await keys.revokeLineage('acme', first.keyId, t0 + 9), revoked, 'once')
      t.same(await keys.revokeLineage('acme', 'key_none', t0), [])
      for (const row of [other, foreign]) t.equal((await keys.get(row.account, row.keyId))!.revokedAt, null)
    }
  )

  t.test('reviews: of many at once no more are stored than the bounds allow, and what ends makes room', async (t) => {
    const { reviews } = await open(t)
    const fill = async (bounds: Partial<ReviewBounds>, row: (i: number) => Partial<ReviewRow>, count = 40) => {
      const rows = all.slice(0, count).map((i) => reviewRow({ digest: `${JSON.stringify(bounds)} ${i}`, ...row(i) }))
      const outcomes = await Promise.all(rows.map((row) => reviews.open(row, [], { ...unbounded, ...bounds })))
      return { stored: rows.filter((_, i) => outcomes[i]!.created), said: new Set(outcomes.map(({ full }) => full)) }
    }
    const ofKey = await fill({ key: 7 }, () => ({}))
    t.equal(ofKey.stored.length, 7)
    t.same(ofKey.said, new Set([undefined, 'key']))
    const [known] = ofKey.stored
    const again = { ...known!, reviewId: newId('rev', t0) }
    t.same(
      await reviews.open(again, [], { ...unbounded, key: 7 }),
      { reviewId: known!.reviewId, created: false },
      'what waits already is found, full or not'
    )
    await reviews.decide('acme', known!.reviewId, { state: 'forbidden', at: t0, by: 'key_b', sealedNote: null })
    t.equal((await fill({ key: 7 }, (i) => ({ digest: `more ${i}` }), 3)).stored.length, 1, 'one was decided')
    const ofAccount = await fill({ account: 20 }, (i) => ({ lineage: `key_${i}` }))
    t.equal(ofAccount.stored.length, 13, 'seven of the account were there')
    t.same(ofAccount.said, new Set([undefined, 'account']))
    const total = await fill({ total: 25 }, (i) => ({ account: `acme${i}`, lineage: `key_${i}` }))
    t.equal(total.stored.length, 5)
    t.same(total.said, new Set([undefined, 'total']))
    // Each of three bytes: 75 lie there.
    const bytes = await fill({ bytes: 90 }, (i) => ({ account: `big${i}`, sealedContext: new Uint8Array(2) }))
    t.equal(bytes.stored.length, 3, 'of five bytes each')
    t.same(bytes.said, new Set([undefined, 'bytes']))
    const later = await fill(
      { key: 2, account: 2, total: 2, bytes: 6 },
      () => ({ createdAt: t0 + 1000, expiresAt: t0 + 2000 }),
      5
    )
    t.equal(later.stored.length, 2, 'what has expired counts no more')
  })

  t.test('reviews: what is stored is what is read, and only in its account', async (t) => {
    const { reviews } = await open(t)
    const row = reviewRow({
      sealedContext: new Uint8Array([7]),
      sealedHistory: new Uint8Array([8]),
      detections: '[{"rule":"x"}]'
    })
    t.same(await reviews.open(row), { reviewId: row.reviewId, created: true })
    t.same(await reviews.get('acme', row.reviewId), row)
    t.equal(await reviews.get('other', row.reviewId), undefined)
  })

  t.test('reviews: the same subject is opened once while it is pending, every other subject on its own', async (t) => {
    const { reviews } = await open(t)
    const rows = all.map(() => reviewRow())
    const opened = await Promise.all(rows.map((row) => reviews.open(row)))
    t.equal(won(opened.map(({ created }) => created)), 1)
    t.equal(new Set(opened.map(({ reviewId }) => reviewId)).size, 1)
    for (const change of [
      { account: 'other' },
      { lineage: 'key_b' },
      { surface: 'evaluate' },
      { route: '/other' },
      { digest: 'e'.repeat(64) },
      { createdAt: t0 + 1000 }
    ] as const) {
      t.equal((await reviews.open(reviewRow(change))).created, true, JSON.stringify(change))
    }
  })

  t.test('reviews: of 100 decisions at once one wins, and none after the expiry', async (t) => {
    const { reviews } = await open(t)
    const row = reviewRow()
    await reviews.open(row)
    const decision = (i: number) =>
      ({
        state: i % 2 ? 'permitted' : 'forbidden',
        at: t0 + i,
        by: `key_${i}`,
        sealedNote: new Uint8Array([i])
      }) as const
    t.equal(await reviews.decide('other', row.reviewId, decision(1)), false)
    t.equal(await reviews.decide('acme', row.reviewId, { ...decision(1), at: t0 + 1000 }), false)
    t.same(await reviews.get('acme', row.reviewId), row)
    const results = await Promise.all(all.map((i) => reviews.decide('acme', row.reviewId, decision(i))))
    t.equal(won(results), 1)
    const { state, at, by, sealedNote } = decision(results.indexOf(true))
    t.same(await reviews.get('acme', row.reviewId), { ...row, state, decidedAt: at, decidedBy: by, sealedNote })
  })

  t.test('reviews: a permit is used once, within its expiry', async (t) => {
    const { reviews } = await open(t)
    const row = reviewRow()
    await reviews.open(row)
    t.equal(await reviews.use('acme', row.reviewId, t0), false, 'not while pending')
    await reviews.decide('acme', row.reviewId, { state: 'permitted', at: t0, by: 'key_b', sealedNote: null })
    t.equal(await reviews.use('acme', row.reviewId, t0 + 1000), false, 'not at the expiry')
    t.equal(await reviews.use('other', row.reviewId, t0), false, 'not by another account')
    t.equal((await reviews.current(row, t0)).length, 1)
    t.equal(won(await Promise.all(all.map(() => reviews.use('acme', row.reviewId, t0 + 999)))), 1)
    t.same(await reviews.current(row, t0), [])
    const refused = reviewRow()
    await reviews.open(refused)
    await reviews.decide('acme', refused.reviewId, { state: 'forbidden', at: t0, by: 'key_b', sealedNote: null })
    t.equal(await reviews.use('acme', refused.reviewId, t0), false, 'a refusal is no permit')
  })

  t.test('reviews: filtered by state as the clock sees it, newest first, in pages', async (t) => {
    const { reviews } = await open(t)
    const [gone, decided, open1, open2] = [
      reviewRow({ digest: '1', expiresAt: t0 + 10 }),
      reviewRow({ digest: '2' }),
      reviewRow({ digest: '3', createdAt: t0 + 4 }),
      reviewRow({ digest: '4', createdAt: t0 + 5 })
    ]
    for (const row of [gone, decided, open1, open2, reviewRow({ account: 'other', digest: '5' })]) {
      await reviews.open(row)
    }
    await reviews.decide('acme', decided.reviewId, { state: 'forbidden', at: t0, by: 'key_b', sealedNote: null })
    const ids = async (page: Parameters<typeof reviews.list>[1]) =>
      (await reviews.list('acme', page)).map(({ reviewId }) => reviewId)
    const now = t0 + 10
    t.same(
      await ids({ now, limit: 9 }),
      [open2, open1, decided, gone].map((row) => row.reviewId)
    )
    t.same(await ids({ now, limit: 9, state: 'pending' }), [open2.reviewId, open1.reviewId])
    t.same(await ids({ now, limit: 9, state: 'expired' }), [gone.reviewId])
    t.same(await ids({ now, limit: 9, state: 'forbidden' }), [decided.reviewId])
    t.same(await ids({ now, limit: 9, state: 'permitted' }), [])
    t.same(await ids({ now, limit: 2, after: open2.reviewId }), [open1.reviewId, decided.reviewId])
    t.same(await reviews.pending(t0 + 10), { depth: 3, oldestCreatedAt: t0 })
    t.same(await reviews.pending(t0 + 1000), { depth: 0, oldestCreatedAt: undefined })
  })

  t.test('audit: rows commit in order, with what was said, and are read in pages', async (t) => {
    const { audit } = await open(t)
    const row = (i: number) => ({
      at: t0 + i,
      kind: 'test',
      account: i ? 'acme' : null,
      keyId: null,
      subject: null,
      data: { i }
    })
    for (const i of all) audit.append(row(i))
    await Promise.all([audit.flush(), audit.flush()])
    for (const i of all) audit.append(row(100 + i))
    await audit.flush()
    const first = await audit.read({ limit: 150 })
    const rest = await audit.read({ after: first.at(-1)!.seq, limit: 150 })
    const read = [...first, ...rest]
    t.same(
      read.map(({ seq: _, node: __, position: ___, hash: ____, ...row }) => row),
      Array.from({ length: 200 }, (_, i) => row(i))
    )
    t.ok(read.every(({ seq }, i) => i === 0 || seq > read[i - 1]!.seq))
    t.equal(audit.dropped, 0)
  })

  t.test('a storage that is gone says so by one fault, and stays gone', async (t) => {
    const storage = await open(t)
    await storage.ping()
    await Promise.all([storage.close(), storage.close()])
    const gone = { name: 'Fault', code: 'storage_unavailable', status: 503 }
    await t.rejects(storage.ping(), gone)
    await t.rejects(storage.keys.byPrefix('00000000'), gone)
    await t.rejects(storage.keys.insert(keyRow()), gone)
    await t.rejects(storage.reviews.open(reviewRow()), gone)
    storage.audit.append({ at: t0, kind: 'test', account: null, keyId: null, subject: null, data: {} })
    await t.rejects(storage.audit.flush(), gone)
  })
}
