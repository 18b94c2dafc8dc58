/** What every storage must do for people: claims and approvals, the outbox, the audit's chain, usage, who signs in. */

import type { Test } from 'tap'
import { newId } from '../../src/base/ids.js'
import type { AuditFilter } from '../../src/storage/contracts/audit.js'
import type { AlertRow, Channel, MetricsRow, Storage, UserRow } from '../../src/storage/contracts/index.js'
import { ChainCheck } from '../../src/storage/journal/chain.js'
import { deliveryRow, reviewRow, t0 } from './storage-suite.js'

const day = 86_400_000
const all = Array.from({ length: 20 }, (_, i) => i)
const won = (results: boolean[]): number => results.filter(Boolean).length

export function userRow(change: Partial<UserRow> = {}): UserRow {
  const userId = newId('usr', t0 + Math.floor(Math.random() * 1e6))
  return {
    userId,
    account: 'acme',
    login: `${userId}@example.org`,
    role: 'viewer',
    readsSamples: false,
    passwordHash: 'scrypt$…',
    issuer: null,
    subject: null,
    createdAt: t0,
    signedInAt: null,
    disabledAt: null,
    ...change
  }
}

export function peopleSuite(t: Test, open: (t: Test) => Promise<Storage>): void {
  t.test('reviews: a claim keeps others off until it is over; of many at once one is made', async (t) => {
    const { reviews } = await open(t)
    const row = reviewRow({ digest: 'claim', expiresAt: t0 + day })
    await reviews.open(row)
    const claim = (by: string, at = t0) => reviews.claim('acme', row.reviewId, { by, at, until: at + 100 })
    const results = await Promise.all(all.map((i) => claim(`key_${i}`)))
    t.equal(won(results), 1)
    const holder = `key_${results.indexOf(true)}`
    t.match(await reviews.get('acme', row.reviewId), { claimedBy: holder, claimedUntil: t0 + 100 })
    const verdict = { state: 'permitted', at: t0 + 50, by: 'key_other', sealedNote: null } as const
    t.equal(await reviews.decide('acme', row.reviewId, verdict), false, 'nobody else decides')
    t.equal(await claim(holder, t0 + 60), true, 'one’s own claim is made longer')
    t.equal(await reviews.release('acme', row.reviewId, 'key_other'), false)
    t.equal(await claim('key_other', t0 + 160), true, 'over')
    t.equal(await reviews.release('acme', row.reviewId, 'key_other'), true)
    t.equal(await reviews.decide('acme', row.reviewId, { ...verdict, at: t0 + 170 }), true)
    t.equal(await claim('key_other', t0 + 180), false, 'decided')
  })

  t.test('reviews: a second permit decides only over the first that it was compared with', async (t) => {
    const { reviews } = await open(t)
    const row = reviewRow({ digest: 'two', expiresAt: t0 + day })
    await reviews.open(row)
    const permit = (by: string, approvedBy: string) =>
      reviews.decide('acme', row.reviewId, { state: 'permitted', at: t0, by, sealedNote: null, approvedBy })
    const approve = (by: string) =>
      reviews.approve('acme', row.reviewId, { by, at: t0, sealedNote: new Uint8Array([1]) })
    t.equal(await permit('key_a', 'key_b'), false, 'nobody has permitted it')
    t.equal(won(await Promise.all(all.map((i) => approve(`key_${i}`)))), 1)
    const { approvedBy, state } = (await reviews.get('acme', row.reviewId))!
    t.equal(state, 'pending')
    t.equal(await permit('key_x', 'key_none'), false, 'somebody else has')
    t.equal(won(await Promise.all(all.map((i) => permit(`key_${i}`, approvedBy!)))), 1)
    t.match(await reviews.get('acme', row.reviewId), { state: 'permitted', sealedApprovalNote: new Uint8Array([1]) })
  })

  t.test(
    'reviews: filtered by category, key and age, in both orders, and their texts are deleted in time',
    async (t) => {
      const { reviews } = await open(t)
      const rows = [
        reviewRow({
          digest: '1',
          categories: ['weapons', 'hate'],
          sealedNote: new Uint8Array([2]),
          sealedHistory: new Uint8Array([3])
        }),
        reviewRow({ digest: '2', categories: ['hate'], createdAt: t0 + 10, expiresAt: t0 + 20 }),
        reviewRow({ digest: '3', categories: [], keyId: 'key_b', createdAt: t0 + 20, expiresAt: t0 + 9 * day })
      ]
      for (const row of rows) await reviews.open(row)
      const found = async (page: object) =>
        (await reviews.list('acme', { now: t0, limit: 9, ...page })).map(({ digest }) => digest)
      t.same(await found({ category: 'hate' }), ['2', '1'])
      t.same(await found({ category: 'hate', order: 'oldest' }), ['1', '2'])
      t.same(await found({ order: 'oldest', after: rows[0]!.reviewId }), ['2', '3'])
      t.same(await found({ category: 'violence' }), [])
      t.same(await found({ keyId: 'key_b' }), ['3'])
      t.same(await found({ createdAfter: t0, createdBefore: t0 + 20 }), ['2'])
      t.equal(await reviews.purgeTexts({ endedBefore: t0 + day, at: t0 + day, limit: 9 }), 2)
      t.equal(await reviews.purgeTexts({ endedBefore: t0 + day, at: t0 + day, limit: 9 }), 0)
      t.match(await reviews.get('acme', rows[0]!.reviewId), {
        sealedRequest: null,
        sealedNote: null,
        sealedHistory: null,
        purgedAt: t0 + day,
        matchedRules: ['weapons']
      })
      t.same([...(await reviews.get('acme', rows[2]!.reviewId))!.sealedRequest!], [0, 1, 255])
    }
  )

  t.test('deliveries: stored with the change alone, taken by one, retried when due, dead when given up', async (t) => {
    const { reviews, deliveries } = await open(t)
    const row = reviewRow({ digest: 'd' })
    const [first, second] = [deliveryRow(), deliveryRow()]
    await reviews.open(row, [first])
    await reviews.open(reviewRow({ digest: 'd' }), [second])
    t.same(await deliveries.list('acme', { limit: 9 }), [first], 'what was not opened is not told')
    const take = (now: number, channels: readonly Channel[] = ['email', 'review']) =>
      deliveries.take({ channels, now, leasedUntil: now + 100, limit: 9 })
    t.same(await take(t0, ['email', 'webhook']), [], 'of other channels')
    t.same(await take(t0, []), [])
    const taken = await Promise.all(all.map(() => take(t0)))
    t.equal(taken.flat().length, 1)
    t.equal((await take(t0 + 99)).length, 0)
    await deliveries.fail(first.deliveryId, { attempts: 1, nextAt: t0 + 500, error: 'answered 500' })
    t.equal((await take(t0 + 499)).length, 0)
    t.match(await take(t0 + 500), [{ attempts: 1, lastError: 'answered 500' }])
    await deliveries.fail(first.deliveryId, { attempts: 2, nextAt: null, error: 'answered 500' })
    t.equal(await deliveries.dead(), 1)
    t.equal((await take(t0 + day)).length, 0)
    t.equal(await deliveries.revive('other', first.deliveryId, t0), undefined)
    t.match(await deliveries.revive('acme', first.deliveryId, t0), { state: 'waiting', attempts: 0 })
    await deliveries.remove(first.deliveryId)
    t.same(await deliveries.list('acme', { limit: 9 }), [])
  })

  t.test('alerts: one process watches; what it finds and what it tells is stored together', async (t) => {
    const { alerts, deliveries } = await open(t)
    const watch = (by: string, now: number) => alerts.watch({ by, now, forMs: 100 })
    const results = await Promise.all(all.map((i) => watch(`prc_${i}`, t0)))
    t.equal(won(results), 1)
    const by = `prc_${results.indexOf(true)}`
    t.equal(await watch(by, t0 + 60), true, 'made longer')
    t.equal(await watch('prc_other', t0 + 159), false)
    const row: AlertRow = {
      alertId: newId('alt', t0),
      kind: 'judge_failing',
      subject: 'guard',
      facts: { count: 1, nodes: ['a'] },
      since: t0,
      holds: true,
      heldAt: t0,
      endedAt: null,
      told: 1,
      toldAt: t0
    }
    const put = (by: string, change: Partial<Parameters<typeof alerts.put>[0]>) =>
      alerts.put({ by, rows: [], removed: [], notices: [], ...change })
    const other = { ...row, alertId: newId('alt', t0 + 1), subject: '', since: t0 + 1, toldAt: null, holds: false }
    const notice = deliveryRow({ channel: 'email' })
    t.equal(await put('prc_other', { rows: [row], notices: [deliveryRow()] }), false, 'another watches')
    t.equal(await put(by, { rows: [other, row], notices: [notice] }), true)
    t.same(await alerts.list(), [row, other])
    t.same(await deliveries.list('acme', { limit: 9 }), [notice])
    const ended = { ...row, holds: false, endedAt: t0 + 5, told: 2 }
    await put(by, { rows: [ended], removed: [other.alertId] })
    t.same(await alerts.list(), [ended])
    t.equal(await watch('prc_other', t0 + 160), true, 'its time is over')
    t.equal(await put(by, { removed: [row.alertId] }), false)
    t.equal(await watch('prc_third', t0 - day), true, 'a clock that was wrong keeps nobody off')
  })

  t.test('audit: every row is chained; a chain pruned at its beginning still holds', async (t) => {
    const { audit } = await open(t)
    for (const i of all) {
      audit.append({
        at: t0 + i,
        kind: 'test',
        account: 'acme',
        keyId: null,
        subject: `s${i}`,
        data: { i, none: undefined }
      })
    }
    await audit.commit({ at: t0 + 20, kind: 'last', account: null, keyId: 'key_x', subject: null, data: {} })
    const [head] = await audit.heads()
    t.match(head, { position: 21, removed: 0 })
    const check = async () => {
      const [head] = await audit.heads()
      const check = new ChainCheck(head!)
      for (const row of await audit.chain(head!.node, { after: 0, limit: 99 })) check.next(row)
      return check.end()
    }
    t.same(await check(), [])
    t.equal(await audit.prune(t0 + 5, 3), 3)
    t.equal(await audit.prune(t0 + 5, 99), 2)
    t.equal(await audit.prune(t0 + 5, 99), 0)
    t.match(await audit.heads(), [{ position: 21, removed: 5 }])
    t.same(await check(), [])
    const subjects = async (page: Parameters<typeof audit.read>[0]) =>
      (await audit.read(page)).map((row) => row.subject)
    t.same(await subjects({ filter: { subject: 's7' }, limit: 9 }), ['s7'])
    t.same(await subjects({ filter: { account: 'acme', kind: 'test' }, order: 'newest', limit: 2 }), ['s19', 's18'])
    t.same(await subjects({ filter: { from: t0 + 18, to: t0 + 19 }, limit: 9 }), ['s18', 's19'])
    t.same(await subjects({ filter: { keyId: 'key_x' }, limit: 9 }), [null])
    t.same(await subjects({ filter: { account: 'other' }, limit: 9 }), [])
  })

  t.test('audit: verdicts are found by what they say, in pages, and no more once they are removed', async (t) => {
    const { audit } = await open(t)
    const verdicts = Array.from({ length: 60 }, (_, i) => {
      const isStopped = i % 3 === 0
      const isEven = i % 2 === 0
      const data = {
        decision: isStopped ? (isEven ? 'forbid' : 'divert') : 'permit',
        risk_score: i / 60,
        rules: isStopped ? ['r1', isEven ? 'r2' : 'r3'] : [],
        categories: i % 4 === 0 ? ['hate', 'violence'] : ['hate'],
        readers: i % 5 === 0 ? ['encoder', 'rule'] : ['rule'],
        route: i < 30 ? '/a' : '/b',
        upstream: 'up',
        ...(i % 7 === 0 && { model: 'm-7' })
      }
      const account = i % 10 === 9 ? 'other' : 'acme'
      return { i, account, keyId: isEven ? 'key_a' : 'key_b', kind: 'evaluation', data }
    })
    type Verdict = (typeof verdicts)[number]
    const append = ({ i, ...row }: Verdict) => audit.append({ ...row, at: t0 + i, subject: `ev_${i}` })
    for (const verdict of verdicts) append(verdict)
    append({ ...verdicts[0]!, kind: 'key.created' })
    await audit.flush()
    const check = async (filter: AuditFilter, fits: (verdict: Verdict) => boolean) => {
      const expected = verdicts.filter((verdict) => verdict.account === 'acme' && fits(verdict)).map(({ i }) => t0 + i)
      for (const order of ['oldest', 'newest'] as const) {
        const found: number[] = []
        for (let after: number | undefined; ; ) {
          const page = await audit.read({ filter: { ...filter, account: 'acme' }, order, after, limit: 4 })
          found.push(...page.map(({ at }) => at))
          after = page.at(-1)?.seq
          if (page.length < 4) break
        }
        t.same(found, order === 'oldest' ? expected : [...expected].reverse(), `${JSON.stringify(filter)} ${order}`)
      }
      return expected.length
    }
    const { decision, rule } = { decision: 'stopped', rule: 'r1' }
    t.ok(await check({ marks: { decision: 'forbid' } }, ({ data }) => data.decision === 'forbid'))
    t.ok(await check({ marks: { decision } }, ({ data }) => data.decision !== 'permit'))
    t.ok(
      await check(
        { marks: { decision: 'permit' }, maxScore: 0.3 },
        ({ i, data }) => data.decision === 'permit' && i <= 18
      )
    )
    t.ok(await check({ marks: { rule: 'r3', route: '/b' } }, ({ i }) => i >= 30 && i % 6 === 3))
    t.ok(await check({ marks: { category: 'violence', reader: 'encoder' } }, ({ i }) => i % 20 === 0))
    t.ok(
      await check({ marks: { model: 'm-7' }, from: t0 + 10, to: t0 + 50 }, ({ i }) => i % 7 === 0 && i > 9 && i < 51)
    )
    t.ok(await check({ minScore: 0.75 }, ({ i }) => i >= 45))
    t.ok(await check({ minScore: 0.1, maxScore: 0.2 }, ({ i }) => i >= 6 && i <= 12))
    t.ok(await check({ keyId: 'key_b', marks: { upstream: 'up' } }, ({ keyId }) => keyId === 'key_b'))
    t.ok(await check({ keyId: 'key_b', marks: { rule } }, ({ i }) => i % 6 === 3))
    t.equal(await check({ kind: 'key.created', marks: { decision: 'permit' } }, () => false), 0)
    t.equal(await check({ marks: { rule: "r1' or 1=1" } }, () => false), 0)
    t.equal(await audit.prune(t0 + 30, 999), 30)
    verdicts.splice(0, 30)
    t.ok(await check({ marks: { rule } }, ({ i }) => i % 3 === 0))
  })

  t.test('audit: what the program did is read beside the rows of one account, in order and in pages', async (t) => {
    const { audit } = await open(t)
    const accounts = ['acme', null, 'other'] as const
    for (const i of all) {
      const row = { kind: i % 2 === 0 ? 'even' : 'odd', keyId: null, data: {} }
      audit.append({ ...row, at: t0 + i, account: accounts[i % 3]!, subject: i % 4 === 0 ? 'fourth' : null })
    }
    await audit.flush()
    const check = async (filter: AuditFilter, fits: (i: number) => boolean) => {
      const expected = all.filter((i) => i % 3 !== 2 && fits(i)).map((i) => t0 + i)
      for (const order of ['oldest', 'newest'] as const) {
        const found: number[] = []
        for (let after: number | undefined; ; ) {
          const whole = { ...filter, account: 'acme', withProgram: true }
          const page = await audit.read({ filter: whole, order, after, limit: 3 })
          found.push(...page.map(({ at }) => at))
          after = page.at(-1)?.seq
          if (page.length < 3) break
        }
        t.same(found, order === 'oldest' ? expected : [...expected].reverse(), `${JSON.stringify(filter)} ${order}`)
      }
      t.ok(expected.length > 0)
    }
    await check({}, () => true)
    await check({ kind: 'odd' }, (i) => i % 2 === 1)
    await check({ subject: 'fourth' }, (i) => i % 4 === 0)
    await check({ subject: 'fourth', kind: 'even', from: t0 + 3 }, (i) => i % 4 === 0 && i > 2)
    await check({ from: t0 + 3, to: t0 + 12 }, (i) => i > 2 && i < 13)
    const keys = { account: 'acme', withProgram: true, keyId: 'key_a' }
    t.same(await audit.read({ filter: keys, limit: 9 }), [], 'no key did it')
    const verdicts = { account: 'acme', withProgram: true, marks: { decision: 'permit' } }
    t.same(await audit.read({ filter: verdicts, limit: 9 }), [], 'and it is no verdict')
  })

  t.test('usage: sums by key, day and surface add up, whoever adds', async (t) => {
    const { usage, audit } = await open(t)
    const use = { account: 'acme', keyId: 'key_a', environment: 'live', surface: 'chat', evaluations: 1 } as const
    for (const i of all) usage.add({ ...use, at: t0 + i, characters: i })
    await audit.flush()
    for (const i of all) usage.add({ ...use, at: t0 + day - 1, characters: i })
    usage.add({ ...use, at: t0 + day, characters: 5 })
    usage.add({ ...use, account: 'other', keyId: 'key_o', at: t0, characters: 5 })
    await audit.flush()
    const { at: _, ...row } = { ...use, at: 0 }
    t.same(await usage.read('acme', { from: '2026-01-01', to: '2026-01-02' }), [
      { ...row, day: '2026-01-01', evaluations: 40, characters: 380 },
      { ...row, day: '2026-01-02', evaluations: 1, characters: 5 }
    ])
    t.same(await usage.read('acme', { from: '2026-01-02', to: '2026-01-02', keyId: 'key_b' }), [])
  })

  t.test('users: logins are unique, an invitation works once, and the last administrator stays', async (t) => {
    const { users } = await open(t)
    t.equal(await users.isEmpty(), true)
    const admin = userRow({ role: 'admin', login: 'a@example.org' })
    const invitation = {
      invitationId: 'i',
      account: 'acme',
      role: 'admin',
      readsSamples: true,
      createdAt: t0,
      expiresAt: t0 + 10,
      createdBy: null
    } as const
    await users.invite(invitation)
    t.same(await users.invitation('i', t0), invitation)
    t.equal(await users.invitation('i', t0 + 10), undefined)
    await users.invite({ ...invitation, invitationId: 'withdrawn', expiresAt: t0 + 9 })
    const pending = async (account: string, now: number) =>
      (await users.invitations(account, now)).map(({ invitationId }) => invitationId)
    t.same(await pending('acme', t0), ['withdrawn', 'i'])
    t.same(await pending('acme', t0 + 9), ['i'], 'none that is expired')
    t.same(await pending('other', t0), [])
    t.equal(await users.withdraw('other', 'withdrawn'), false)
    t.equal(await users.withdraw('acme', 'withdrawn'), true)
    t.equal(await users.withdraw('acme', 'withdrawn'), false)
    t.same(await pending('acme', t0), ['i'])
    const accepted = await Promise.all(all.map((i) => users.accept('i', t0, i ? userRow() : admin)))
    t.equal(won(accepted), 1)
    const [first] = await users.list('acme')
    await t.rejects(users.insert(userRow({ login: first!.login })), { name: 'Conflict' })
    t.equal(await users.update('other', first!.userId, { role: 'viewer' }), undefined)
    await users.update('acme', first!.userId, { role: 'admin' })
    t.equal(await users.update('acme', first!.userId, { disabledAt: t0 }), 'last_admin')
    t.equal(await users.update('acme', first!.userId, { role: 'viewer' }), 'last_admin')
    const second = userRow({ role: 'admin', issuer: 'https://i', subject: 's', passwordHash: null })
    await users.insert(second)
    t.same(await users.bySubject('https://i', 's'), second)
    await t.rejects(users.insert(userRow({ issuer: 'https://i', subject: 's' })), { name: 'Conflict' })
    const both = await Promise.all(
      [first!, second].map(({ userId }) => users.update('acme', userId, { role: 'viewer' }))
    )
    t.equal(both.filter((row) => row === 'last_admin').length, 1, 'two administrators cannot remove each other')
  })

  t.test('sessions: found by their id with their user, moved forward only, ended one and all', async (t) => {
    const { users } = await open(t)
    const user = userRow()
    await users.insert(user)
    const row = (sessionId: string) => ({ sessionId, userId: user.userId, createdAt: t0, seenAt: t0, confirmedAt: t0 })
    for (const id of ['a', 'b', 'c']) await users.addSession(row(id))
    t.same(await users.session('a'), { session: row('a'), user })
    await users.touchSession('a', { seenAt: t0 + 5 })
    await users.touchSession('a', { seenAt: t0 + 3, confirmedAt: t0 + 2 })
    t.match(await users.session('a'), { session: { seenAt: t0 + 5, confirmedAt: t0 + 2 } })
    await users.endSession('b')
    t.equal(await users.session('b'), undefined)
    t.equal(await users.endSessions(user.userId, 'a'), 1)
    await users.purge({ createdBefore: t0, seenBefore: t0 + 6, now: t0 })
    t.equal(await users.session('a'), undefined)
  })

  t.test(
    'metrics: a row stands in the place of the one before; read in pages by step, and what changed is found',
    async (t) => {
      const { metrics } = await open(t)
      const row = (process: string, at: number, change: Partial<MetricsRow> = {}): MetricsRow => ({
        process,
        stepMs: 60_000,
        at,
        counts: { 'decision chat permit': 1 },
        writtenAt: at,
        ...change
      })
      const rows = all.flatMap((i) => [row('prc_a', t0 + i * 60_000), row('prc_b', t0 + i * 60_000)])
      await metrics.put([...rows].reverse())
      await metrics.put([row('prc_a', t0, { stepMs: 10_000, counts: {} })])
      const read: MetricsRow[] = []
      for (let page: MetricsRow[] = rows; page.length > 0; read.push(...page)) {
        page = await metrics.read(60_000, { from: t0 + 60_000, after: read.at(-1), limit: 3 })
      }
      t.same(read, rows.slice(2))
      t.same(await metrics.read(10_000, { from: t0, limit: 9 }), [row('prc_a', t0, { stepMs: 10_000, counts: {} })])
      const late = row('prc_b', t0 + 60_000, {
        counts: { 'status 2xx': 7, 'requests “odd name”': 2 },
        writtenAt: t0 + day
      })
      await metrics.put([late])
      t.same((await metrics.read(60_000, { from: t0 + 60_000, limit: 2 }))[1], late)
      t.equal(await metrics.changed(60_000, t0 + day), t0 + 60_000)
      t.equal(await metrics.changed(60_000, t0 + day + 1), undefined)
      t.equal(await metrics.prune(60_000, t0 + 120_000), 4)
      t.equal((await metrics.read(60_000, { from: 0, limit: 99 })).length, rows.length - 4)
      t.equal((await metrics.read(10_000, { from: 0, limit: 99 })).length, 1)
      await metrics.put([])
    }
  )

  t.test('processes: each says of itself what is so, is listed while it does, and takes its leave', async (t) => {
    const { processes } = await open(t)
    const said = (process: string, node: string, seenAt: number) => ({
      process,
      node,
      startedAt: t0,
      seenAt,
      facts: { version: '1.0.0', weakenings: ['a'] }
    })
    await processes.tell(said('prc_2', 'b', t0))
    await processes.tell(said('prc_1', 'b', t0))
    await processes.tell(said('prc_3', 'a', t0))
    await processes.tell({ ...said('prc_1', 'b', t0 + 5), facts: {} })
    t.same(await processes.list(t0), [
      said('prc_3', 'a', t0),
      { ...said('prc_1', 'b', t0 + 5), facts: {} },
      said('prc_2', 'b', t0)
    ])
    t.equal((await processes.list(t0 + 1)).length, 1)
    await processes.remove('prc_3')
    await processes.remove('prc_none')
    t.equal(await processes.prune(t0 + 5), 1)
    t.same(await processes.list(0), [{ ...said('prc_1', 'b', t0 + 5), facts: {} }])
  })
}
