import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ReviewSettings } from '../../src/base/settings.js'
import { loadSettings } from '../../src/config/load.js'
import { createHands } from '../../src/identity/hands.js'
import { openPlatform } from '../../src/main/platform.js'
import { createLog } from '../../src/observe/log.js'
import type { Detection } from '../../src/policy/evaluation.js'
import { Adjudication } from '../../src/review/adjudication.js'
import type { ReviewDetail, ReviewRequest } from '../../src/review/review.js'
import { type Reviewer, ReviewService } from '../../src/review/review-service.js'
import { loadDataKey } from '../../src/sealing/key-file.js'
import { createSeal } from '../../src/sealing/seal.js'
import { unbounded } from '../../src/storage/contracts/reviews.js'
import { openStorage } from '../../src/storage/open.js'
import { steppedClock } from '../identity/support.js'

const day = 24 * 60 * 60_000
const key = Buffer.alloc(32, 7)
const canary = 'canary-Zürich-7781'

const client: Reviewer = {
  keyId: 'key_c2',
  lineage: 'key_c',
  roots: ['key_c'],
  accountId: 'acme',
  scopes: ['safety:evaluate']
}
const reviewer: Reviewer = {
  keyId: 'key_r',
  lineage: 'key_r',
  roots: ['key_r'],
  accountId: 'acme',
  scopes: ['pdp:adjudicate']
}
const owner: Reviewer = { keyId: 'key_c3', lineage: 'key_c', roots: ['key_c'], accountId: 'acme', scopes: ['*'] }

const detection: Detection = {
  type: 'policy_violation',
  category: 'weapons',
  confidence: 0.5,
  rule: 'weapons',
  span: { start: 1, end: 4 },
  layer: 'plain'
}

function request(change: Partial<ReviewRequest> = {}): ReviewRequest {
  return {
    surface: 'chat',
    account: 'acme',
    keyId: 'key_c',
    lineage: 'key_c',
    route: '/v1/chat/completions',
    policy: 'default@3',
    canonical: Buffer.from(`{"messages":["${canary}"]}`),
    evaluation: { risk_score: 0.5, matched_rules: ['weapons'], detections: [detection] },
    context: { topic: canary },
    ...change
  }
}

/** For those that the bounds let in. */
async function opened(service: ReviewService, request: ReviewRequest): Promise<{ reviewId: string; created: boolean }> {
  const outcome = await service.open(request)
  if (outcome.full !== undefined) throw new Error(`the queue is full: ${outcome.full}`)
  return outcome
}

async function build(t: Test, { url = 'memory:', ...given }: { url?: string } & Partial<ReviewSettings> = {}) {
  const clock = steppedClock()
  const storage = await openStorage({ url })
  t.teardown(() => storage.close())
  const settings: ReviewSettings = {
    expiryMs: day,
    allowOwn: false,
    twoPerson: false,
    claimMs: 600_000,
    holdMs: 0,
    retentionMs: 30 * day,
    maxOpen: unbounded,
    webhook: undefined,
    ...given
  }
  const seal = createSeal(key)
  const { reviews, audit } = storage
  const service = new ReviewService({ reviews, clock, seal, settings })
  const hands = createHands(storage.keys)
  const desk = new Adjudication({ reviews, queue: service, audit, clock, seal, hands, settings })
  const decide = (review_id: string, decision: 'permit' | 'forbid' = 'permit') =>
    desk.adjudicate(reviewer, { review_id, decision })
  return { clock, storage, service, desk, decide, settings }
}

t.test('of thousands of detections a review keeps the first of each rule', async (t) => {
  const { service } = await build(t)
  const many = Array.from(
    { length: 5_000 },
    (_, i): Detection => ({ ...detection, rule: 'mail', span: { start: i, end: i + 1 } })
  )
  const evaluation = { risk_score: 0.5, matched_rules: ['weapons'], detections: [...many, detection] }
  const { reviewId } = await opened(service, request({ evaluation }))
  const { detections } = (await service.get(reviewer, reviewId)) as ReviewDetail
  t.same(detections, [...many.slice(0, 100), detection])
})

t.test('what is sealed is read back only where it belongs, with the same key, unchanged', (t) => {
  const seal = createSeal(key)
  for (const text of ['', 'a', canary, 'x'.repeat(100_000)]) {
    const sealed = seal.seal(Buffer.from(text), 'rev_1:request')
    t.equal(seal.open(sealed, 'rev_1:request').toString(), text)
    t.equal(sealed.includes(canary), false)
    t.throws(() => seal.open(sealed, 'rev_2:request'), 'moved to another review')
    t.throws(() => seal.open(sealed, 'rev_1:note'), 'moved to another field')
    t.throws(() => createSeal(Buffer.alloc(32, 8)).open(sealed, 'rev_1:request'), { message: /another data key/ })
    for (const i of [0, 1, 5, sealed.length - 17, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[i]! ^= 1
      t.throws(() => seal.open(changed, 'rev_1:request'), `byte ${i} changed`)
    }
    t.throws(() => seal.open(sealed.subarray(0, -1), 'rev_1:request'))
  }
  t.throws(() => seal.open(Buffer.alloc(0), ''), { message: 'not a sealed text' })
  const twice = [1, 2].map(() => seal.seal(Buffer.from('a'), 'x').toString('hex'))
  t.not(twice[0], twice[1], 'a nonce is never used again')
  t.throws(() => createSeal(Buffer.alloc(16)), { message: /32 bytes/ })
  t.end()
})

t.test('the data key is made once, for its owner alone, and a file that holds none is named', (t) => {
  const dataDir = join(t.testdir({ bad: { 'master.key': 'short' }, padded: { 'master.key': 'A'.repeat(44) } }), 'new')
  t.same(loadDataKey({ dataKey: key, dataDir }), { key, path: undefined, generated: false })
  t.equal(existsSync(dataDir), false, 'a given key touches no file')
  const first = loadDataKey({ dataDir })
  t.match(first, { generated: true })
  t.equal(first.key.length, 32)
  t.same(loadDataKey({ dataDir }), { key: first.key, path: `${dataDir}/master.key`, generated: false })
  t.equal(statSync(join(dataDir, 'master.key')).mode & 0o777, 0o600)
  t.same(readdirSync(dataDir), ['master.key'], 'nothing is left beside it')
  t.not(loadDataKey({ dataDir: `${dataDir}2` }).key.toString('hex'), first.key.toString('hex'))
  for (const name of ['bad', 'padded']) {
    const path = join(dataDir, '..', name)
    t.throws(() => loadDataKey({ dataDir: path }), { message: `${path}/master.key must hold 32 bytes in base64` })
  }
  writeFileSync(join(dataDir, 'master.key'), key.toString('base64'))
  t.same(loadDataKey({ dataDir }).key, key, 'the form of SLUICEGATE_DATA_KEY')
  t.end()
})

t.test('a start without the key that sealed the store says that it is missing, and leaves none behind', async (t) => {
  const dataDir = t.testdir()
  const at = (folder: string) =>
    loadSettings({
      env: { SLUICEGATE_DATA_DIR: folder, SLUICEGATE_DATABASE_URL: `sqlite:${dataDir}/restored.db` },
      cwd: dataDir
    })
  const log = createLog({ destination: { write: () => {} } })
  const first = await openPlatform(at(join(dataDir, 'first')), { log })
  await first.close()
  const other = join(dataDir, 'other')
  await t.rejects(openPlatform(at(other), { log }), {
    message: `There is no data key: SLUICEGATE_DATA_KEY is not set, and there is no ${other}/master.key. Set SLUICEGATE_DATA_KEY to the key that sealed this store (32 bytes in base64), or put its master.key back there.`
  })
  t.equal(existsSync(join(other, 'master.key')), false)
})

t.test('a review holds the exact request, readable by a reviewer of the account and by nobody else', async (t) => {
  const { service, desk, storage } = await build(t)
  const { reviewId } = await opened(service, request())
  t.match(reviewId, /^rev_[0-9a-z]{26}$/)
  const detail = (await service.get(reviewer, reviewId)) as ReviewDetail
  t.same(detail, {
    review_id: reviewId,
    status: 'pending',
    surface: 'chat',
    route: '/v1/chat/completions',
    policy: 'default@3',
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-02T00:00:00.000Z',
    decided_at: null,
    used_at: null,
    key_id: 'key_c',
    decided_by: null,
    claimed_by: null,
    claimed_until: null,
    approved_by: null,
    approved_at: null,
    risk_score: 0.5,
    matched_rules: ['weapons'],
    categories: ['weapons'],
    detections: [detection],
    digest: detail.digest,
    purged_at: null,
    text: `{"messages":["${canary}"]}`,
    history: null,
    context: { topic: canary },
    note: null,
    approval_note: null
  })
  t.match(detail.digest, /^[0-9a-f]{64}$/)
  t.match(await service.get(owner, reviewId), { text: detail.text })

  const status = await service.get(client, reviewId)
  t.same(Object.keys(status), [
    'review_id',
    'status',
    'surface',
    'route',
    'policy',
    'created_at',
    'expires_at',
    'decided_at',
    'used_at'
  ])
  const absent = { code: 'not_found', status: 404 }
  await t.rejects(service.get({ ...client, lineage: 'key_x' }, reviewId), absent, 'another client')
  await t.rejects(service.get({ ...reviewer, accountId: 'other' }, reviewId), absent, 'another account')
  await t.rejects(service.get({ ...client, accountId: 'other' }, reviewId), absent)
  for (const id of ['rev_x', '', 'key_a', `${reviewId}'`]) await t.rejects(service.get(reviewer, id), absent)
  const lacks = { code: 'insufficient_scope', fields: { required: 'pdp:adjudicate', available: ['billing:read'] } }
  const other: Reviewer = { ...client, scopes: ['billing:read'] }
  await t.rejects(service.get(other, reviewId), lacks)
  await t.rejects(service.list(other), lacks)
  await t.rejects(desk.adjudicate(other, { review_id: reviewId, decision: 'permit' }), lacks)
  await t.rejects(desk.adjudicate(client, { review_id: reviewId, decision: 'permit' }), {
    code: 'insufficient_scope'
  })
  const listed = await service.list(reviewer)
  const { text: _, context: __, history: ___, note: ____, approval_note: _____, ...record } = detail
  t.same(listed, { reviews: [record] })
  t.same(await service.list({ ...reviewer, accountId: 'other' }), { reviews: [] })
  t.notMatch(JSON.stringify(await storage.reviews.get('acme', reviewId)), canary)
})

t.test('no text, context or note is on the disk in the clear', async (t) => {
  const dir = t.testdir()
  const { service, desk } = await build(t, { url: `sqlite:${join(dir, 'gate.db')}` })
  const { reviewId } = await opened(service, request())
  await desk.adjudicate(reviewer, { review_id: reviewId, decision: 'permit', note: `note ${canary}` })
  t.match(await service.get(reviewer, reviewId), { note: `note ${canary}`, text: new RegExp(canary) })
  for (const file of readdirSync(dir)) {
    const bytes = readFileSync(join(dir, file))
    for (const form of [
      Buffer.from(canary),
      Buffer.from(canary, 'utf16le'),
      Buffer.from(btoa('canary-Z').slice(0, 8))
    ]) {
      t.equal(bytes.includes(form), false, file)
    }
  }
})

t.test('a permit lets the same request of the same client pass once, within the expiry', async (t) => {
  const { service, clock, decide } = await build(t)
  const same = request()
  t.equal(await service.consume(same), 'none')
  const { reviewId } = await opened(service, same)
  t.equal(await service.consume(same), 'pending')
  await decide(reviewId)
  for (const [name, change] of Object.entries({
    account: { account: 'other' },
    client: { lineage: 'key_x' },
    route: { route: '/other' },
    surface: { surface: 'answer' },
    bytes: { canonical: Buffer.from(`{"messages":["${canary}!"]}`) }
  } as const)) {
    t.equal(await service.consume(request(change)), 'none', `another ${name}`)
    t.equal(await service.consume(request(change), reviewId), 'none', `another ${name}, naming the review`)
  }
  t.equal(await service.consume(same, 'rev_x'), 'none')
  clock.advance(day - 1)
  const all = await Promise.all(Array.from({ length: 100 }, () => service.consume(same)))
  t.equal(all.filter((standing) => standing === 'permitted').length, 1)
  t.equal(await service.consume(same, reviewId), 'none')
  t.match(await service.get(client, reviewId), { status: 'permitted', used_at: '2026-01-01T23:59:59.999Z' })
})

t.test('a refusal, an expiry, or no decision lets nothing pass', async (t) => {
  const { service, clock, decide } = await build(t)
  const [refused, undecided, late] = [
    request(),
    request({ canonical: Buffer.from('2') }),
    request({ canonical: Buffer.from('3') })
  ]
  const ids = []
  for (const each of [refused, undecided, late]) ids.push((await opened(service, each)).reviewId)
  await decide(ids[0]!, 'forbid')
  await decide(ids[2]!)
  t.equal(await service.consume(refused), 'forbidden')
  t.equal(await service.consume(refused, ids[0]), 'forbidden')
  t.equal(await service.consume(undecided), 'pending')
  clock.advance(day)
  for (const each of [refused, undecided, late]) t.equal(await service.consume(each), 'none')
  t.match(await service.get(client, ids[1]!), { status: 'expired' })
  await t.rejects(decide(ids[1]!), { code: 'review_expired', status: 409 })
  await t.rejects(decide(ids[0]!), { code: 'already_decided', status: 409 })
  t.equal((await opened(service, undecided)).created, true, 'after that it is a new review')
})

t.test('where a refusal and a permit stand for one request, the refusal counts', async (t) => {
  const { service, storage, decide } = await build(t)
  const same = request()
  const { reviewId } = await opened(service, same)
  await decide(reviewId)
  // Opened between the permit and its use, as two requests at once may do.
  const second = await opened(service, same)
  t.equal(second.created, true)
  await decide(second.reviewId, 'forbid')
  t.equal(await service.consume(same), 'forbidden')
  t.equal((await storage.reviews.get('acme', reviewId))!.usedAt, null)
})

t.test('a request that waits is opened once, whichever key of the lineage asks', async (t) => {
  const { service, clock } = await build(t)
  const first = await opened(service, request())
  clock.advance(1000)
  t.same(await opened(service, request({ keyId: 'key_c2' })), { reviewId: first.reviewId, created: false })
  t.equal((await opened(service, request({ lineage: 'key_d', keyId: 'key_d' }))).created, true)
  t.same(await service.backlog(), { depth: 2, oldestAgeSeconds: 1 })
  clock.advance(day)
  t.same(await service.backlog(), { depth: 0, oldestAgeSeconds: 0 })
})

t.test('one person decides, once: of 100 decisions at once one stands', async (t) => {
  for (const url of ['memory:', `sqlite:${join(t.testdir(), 'gate.db')}`]) {
    const { service, desk, clock } = await build(t, { url })
    const { reviewId } = await opened(service, request())
    clock.advance(5000)
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) =>
        desk.adjudicate(
          { ...reviewer, keyId: `key_${i}` },
          { review_id: reviewId, decision: i % 2 ? 'permit' : 'forbid', note: `by ${i}` }
        )
      )
    )
    const won = results.findIndex(({ status }) => status === 'fulfilled')
    const lost = results.filter((result) => result.status === 'rejected')
    t.equal(lost.length, 99, url)
    t.ok(lost.every(({ reason }) => reason.code === 'already_decided'))
    t.match(await service.get(reviewer, reviewId), {
      status: won % 2 ? 'permitted' : 'forbidden',
      decided_by: `key_${won}`,
      decided_at: '2026-01-01T00:00:05.000Z',
      note: `by ${won}`
    })
  }
})

t.test('nobody decides what their own key caused, before or after a rotation, unless that is allowed', async (t) => {
  const { service, desk } = await build(t)
  const { reviewId } = await opened(service, request())
  await t.rejects(desk.adjudicate(owner, { review_id: reviewId, decision: 'permit' }), {
    code: 'own_review',
    status: 403
  })
  await t.rejects(desk.adjudicate({ ...reviewer, accountId: 'other' }, { review_id: reviewId, decision: 'permit' }), {
    code: 'not_found'
  })
  await t.rejects(desk.adjudicate(reviewer, { review_id: reviewId, decision: 'permit', note: 'x'.repeat(2001) }), {
    code: 'validation_error'
  })
  t.match(await service.get(client, reviewId), { status: 'pending' })
  const demo = await build(t, { allowOwn: true })
  const own = await opened(demo.service, request())
  const record = await demo.desk.adjudicate(owner, { review_id: own.reviewId, decision: 'permit' })
  t.match(record, { status: 'permitted', decided_by: 'key_c3' })
})

t.test('the queue is listed newest first, by status, in pages', async (t) => {
  const { service, clock, decide } = await build(t)
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    ids.unshift((await opened(service, request({ canonical: Buffer.from(String(i)) }))).reviewId)
    clock.advance(1)
  }
  await decide(ids[0]!, 'forbid')
  const listed = async (page: Parameters<typeof service.list>[1]) => {
    const { reviews, next_cursor } = await service.list(reviewer, page)
    return [reviews.map(({ review_id }) => review_id), next_cursor]
  }
  t.same(await listed({}), [ids, undefined])
  t.same(await listed({ limit: 2 }), [ids.slice(0, 2), ids[1]])
  t.same(await listed({ limit: 3, cursor: ids[1] }), [ids.slice(2), undefined])
  t.same(await listed({ status: 'forbidden' }), [[ids[0]], undefined])
  t.same(await listed({ status: 'pending', limit: 1 }), [[ids[1]], ids[1]])
  clock.advance(day - 4)
  t.same(await listed({ status: 'expired' }), [[ids[3], ids[4]], undefined])
  await t.rejects(listed({ cursor: 'x' }), { code: 'validation_error' })
})
