import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Deliveries } from '../../src/review/deliveries.js'
import { ReviewService } from '../../src/review/review-service.js'
import { webhookHeaders, webhookSender } from '../../src/review/webhook.js'
import { createSeal } from '../../src/sealing/seal.js'
import { unbounded } from '../../src/storage/contracts/reviews.js'
import { openMemory } from '../../src/storage/sqlite/open.js'
import { steppedClock } from '../identity/support.js'
import { commandKey } from '../support/command-key.js'
import { build, call, tempDir } from '../support/gateway.js'
import { texts } from '../support/texts.js'

const evaluatePath = '/api/v1/safety/evaluate'
const secret = 'a-secret-of-many-characters'
const hidden = 'How do I kill it, Zanzibar-4471?'

const chat = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] })
/** Ambiguous with a context that settles nothing: goes to a person. */
const unclear = { 'x-safety-context': '{"topic":"unclear"}' }

/** A receiver that remembers what it got and answers what it is told to. */
async function receiver(t: Test) {
  const got: { headers: Record<string, unknown>; body: string }[] = []
  const answer = { status: 200 }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(answer.status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}/hook`, got, answer }
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 2400; i++) {
    const seen = await look()
    if (seen !== undefined) return seen
    await wait(25)
  }
  throw new Error('it did not happen')
}

/** Three hands. */
async function keysOf(store: string) {
  return {
    client: await commandKey(store, 'safety:evaluate'),
    first: await commandKey(store, 'pdp:adjudicate'),
    second: await commandKey(store, 'pdp:adjudicate')
  }
}

t.test('a held chat waits for two people and then goes on; the webhook is told, signed, without a text', async (t) => {
  const hook = await receiver(t)
  const store = `sqlite:${join(tempDir(t), 'gate.db')}`
  const { url } = await build(t, {
    yaml: `storage: { url: "${store}" }\nreview: { hold: 60s, two_person: true, webhook: { url: "${hook.url}", secret: "${secret}" } }`
  })
  const { client, first, second } = await keysOf(store)
  const asked = call(url, '/v1/chat/completions', { key: client, body: chat(hidden), headers: unclear })
  const review = await until(async () => {
    const { body } = await call(url, '/api/v1/pdp/reviews?status=pending', { key: first })
    return body.reviews?.[0]
  })
  const path = `/api/v1/pdp/reviews/${review.review_id}/claim`
  const decide = (by: string, decision = 'permit') =>
    call(url, '/api/v1/pdp/adjudicate', { key: by, body: { review_id: review.review_id, decision } })

  t.match(await call(url, path, { key: first, method: 'POST' }), { status: 200, body: { claimed_by: /^key_/ } })
  t.match(await call(url, path, { key: second, method: 'POST' }), { status: 409, body: { error: 'review_claimed' } })
  t.match(await decide(second), { status: 409, body: { error: 'review_claimed' } })
  t.match(await decide(first), { status: 200, body: { status: 'pending', approved_by: /^key_/, claimed_by: null } })
  t.match(await decide(first), { status: 409, body: { error: 'second_person_required' } })
  t.match(await decide(second), { status: 200, body: { status: 'permitted' } })
  const answer = await asked
  t.equal(answer.status, 200, 'the request that waited was forwarded')
  t.ok(answer.body.choices[0].message.content)

  const told = await until(() => (hook.got.length >= 3 ? hook.got : undefined))
  t.same(told.map(({ body }) => JSON.parse(body).type).sort(), ['review.approved', 'review.created', 'review.decided'])
  for (const { headers, body } of told) {
    const id = headers['webhook-id'] as string
    const at = Number(headers['webhook-timestamp']) * 1000
    t.equal(headers['webhook-signature'], webhookHeaders(id, body, at, secret)['webhook-signature'])
    t.notMatch(body, /Zanzibar/)
    t.match(JSON.parse(body).data, { review_id: review.review_id })
  }
  t.same((await call(url, '/api/v1/pdp/deliveries', { key: first })).body, { deliveries: [] })
})

t.test('a key that rotates itself is told to the webhook, signed; its owner ends the lineage', async (t) => {
  const hook = await receiver(t)
  const { url, key } = await build(t, { yaml: `review: { webhook: { url: "${hook.url}", secret: "${secret}" } }` })
  const path = '/api/v1/ssaas/keys'
  const body = { name: 'a name', scopes: ['billing:read'], accept_terms: true }
  const { body: narrow } = await call(url, path, { key, body })
  const { key_id } = narrow.record
  const { body: taken } = await call(url, `${path}/${key_id}/rotate`, { key: narrow.key, method: 'POST' })
  const [told] = await until(() => (hook.got.length > 0 ? hook.got : undefined))
  t.match(JSON.parse(told!.body), {
    type: 'key.rotated',
    data: { key_id, lineage: key_id, rotated_to: taken.record.key_id, ends_at: taken.previous.revoked_at }
  })
  const id = told!.headers['webhook-id'] as string
  const at = Number(told!.headers['webhook-timestamp']) * 1000
  t.equal(told!.headers['webhook-signature'], webhookHeaders(id, told!.body, at, secret)['webhook-signature'])
  t.notMatch(told!.body, /slg_live_\w{9}|a name/)

  const own = await call(url, `${path}?lineage=${key_id}`, { key: taken.key, method: 'DELETE' })
  t.match(own, { status: 403, body: { required: '*' } })
  t.equal((await call(url, `${path}?lineage=${key_id}`, { key })).body.keys.length, 2)
  t.match(await call(url, path, { key, method: 'DELETE' }), {
    status: 400,
    body: { details: { field: 'query.lineage', reason: 'missing' } }
  })
  const ended = await call(url, `${path}?lineage=${key_id}`, { key, method: 'DELETE' })
  t.match(ended, { status: 200, body: { keys: [{ status: 'revoked' }, { status: 'revoked' }] } })
  for (const one of [narrow.key, taken.key]) t.equal((await call(url, path, { key: one })).status, 401)

  const bound = (await call(url, path, { key, body: { ...body, self_rotation: false } })).body
  t.equal(bound.record.self_rotation, false)
  t.match(await call(url, `${path}/${bound.record.key_id}/rotate`, { key: bound.key, method: 'POST' }), {
    status: 403,
    body: { error: 'insufficient_scope', required: 'keys:rotate' }
  })
  t.equal((await call(url, `${path}/${bound.record.key_id}/rotate`, { key, method: 'POST' })).status, 201)
})

t.test('a message that nobody takes is tried for hours, is a dead letter then, and can be sent again', async (t) => {
  const hook = await receiver(t)
  hook.answer.status = 500
  const clock = steppedClock()
  const storage = await openMemory()
  const outcomes: string[] = []
  const webhook = { url: hook.url, secret, format: 'slack' } as const
  const settings = {
    expiryMs: 1,
    allowOwn: false,
    twoPerson: false,
    claimMs: 1,
    holdMs: 0,
    retentionMs: 1,
    maxOpen: unbounded,
    webhook
  }
  const seal = createSeal(Buffer.alloc(32))
  const deliveries = new Deliveries({
    deliveries: storage.deliveries,
    clock,
    senders: () => ({ review: webhookSender(settings.webhook) }),
    outcome: ({ result }) => outcomes.push(result),
    rounds: (error) => error !== undefined && t.fail(String(error))
  })
  t.teardown(() => deliveries.close())
  const { reviews } = storage
  const service = new ReviewService({ reviews, clock, seal, settings, noticed: () => deliveries.kick() })
  await service.open({
    surface: 'chat',
    account: 'acme',
    keyId: 'key_c',
    lineage: 'key_c',
    route: '/v1/chat/completions',
    policy: 'default@3',
    canonical: Buffer.from(hidden),
    evaluation: { risk_score: 0.5, matched_rules: ['weapons'], detections: [] }
  })
  const began = clock.now()
  const settled = (count: number) => until(() => (outcomes.length >= count ? true : undefined))
  await settled(1)
  while (outcomes.at(-1) !== 'dead') {
    clock.advance(3_600_000)
    deliveries.kick()
    await wait(20)
  }
  t.equal(outcomes.length, 8)
  t.ok(clock.now() - began >= 7 * 3_600_000, 'a night’s outage is outlived')
  const reviewer = {
    keyId: 'key_r',
    lineage: 'key_r',
    roots: ['key_r'],
    accountId: 'acme',
    scopes: ['pdp:adjudicate']
  } as const
  const { deliveries: dead } = await deliveries.list(reviewer, { state: 'dead' })
  t.match(dead, [{ event: 'review.created', attempts: 8, last_error: 'answered 500', next_attempt_at: null }])
  t.match(JSON.parse(hook.got[0]!.body), { text: /^New review rev_\w+ \(no category, risk 0\.5/ })
  t.notMatch(JSON.stringify(hook.got), /Zanzibar/)
  await t.rejects(deliveries.retry({ ...reviewer, accountId: 'other' }, dead[0]!.delivery_id), { code: 'not_found' })
  hook.answer.status = 204
  await deliveries.retry(reviewer, dead[0]!.delivery_id)
  await settled(9)
  t.equal(outcomes.at(-1), 'delivered')
  t.same(await deliveries.list(reviewer, {}), { deliveries: [] })
})

t.test('usage counts what was judged, exactly, over a restart; test keys cost nothing', async (t) => {
  const dir = tempDir(t)
  const yaml = `storage: { url: "sqlite:${join(dir, 'gate.db')}" }\nlimits: { live_per_minute: 100000, test_per_minute: 100000 }`
  const env = { SLUICEGATE_BOOTSTRAP_KEY: '', SLUICEGATE_DATA_KEY: Buffer.alloc(32, 3).toString('base64') }
  const before = await build(t, { yaml, env })
  const { key } = before
  const { body: made } = await call(before.url, '/api/v1/ssaas/keys', {
    key,
    body: { name: 't', environment: 'test', accept_terms: true }
  })
  const evaluations = 120
  await Promise.all(
    Array.from({ length: evaluations }, (_, i) =>
      call(before.url, evaluatePath, { key: i % 3 ? key : made.key, body: { input_text: 'x'.repeat(10) } })
    )
  )
  await call(before.url, '/v1/moderations', { key, body: { input: ['aaaa', 'bbbb'] } })
  await before.app.close()

  const { url } = await build(t, { yaml, env })
  await call(url, '/v1/chat/completions', { key, body: chat('Hello') })
  const { body } = await until(async () => {
    const answer = await call(url, '/api/v1/billing/usage', { key })
    return answer.body.days?.some((line: { by_surface: object }) => 'answer' in line.by_surface) ? answer : undefined
  })
  const [live] = body.days.filter(({ environment }: { environment: string }) => environment === 'live')
  const [test] = body.days.filter(({ environment }: { environment: string }) => environment === 'test')
  t.match(live.by_surface, { evaluate: 80, moderations: 2, chat: 1, answer: 1 })
  t.match(test, { evaluations: 40, characters: 400, billable_evaluations: 0, billable_characters: 0 })
  t.equal(body.total.evaluations, 124)
  t.equal(body.total.billable_evaluations, 84)
  const csv = await call(url, '/api/v1/billing/usage', { key, headers: { accept: 'text/csv' } })
  t.match(csv.headers.get('content-type'), 'text/csv')
  const lines = csv.body.trim().split('\r\n')
  t.equal(lines.length, 3)
  t.match(lines[0], /^day,key_id,environment,evaluations,characters,billable_evaluations/)
  for (const query of ['from=2026-02-30', 'from=2026-01-02&to=2026-01-01', 'from=2020-01-01', 'format=xml']) {
    t.match(await call(url, `/api/v1/billing/usage?${query}`, { key }), { status: 400 }, query)
  }
})

t.test(
  'a wrong decision: proposed by the client, accepted by another, then that text passes and the match is shown',
  async (t) => {
    const store = `sqlite:${join(tempDir(t), 'gate.db')}`
    const { url, key } = await build(t, { yaml: `storage: { url: "${store}" }\nreview: { allow_own: false }` })
    const { client } = await keysOf(store)
    const text = `${texts.otherForbidden} Café.`
    const judge = async (by: string, input_text: string = text) =>
      (await call(url, evaluatePath, { key: by, body: { input_text } })).body.evaluation
    const stopped = await judge(client)
    t.equal(stopped.decision, 'forbid')
    const feedback = (by: string, evaluation_id: string) =>
      call(url, '/api/v1/safety/feedback', { key: by, body: { evaluation_id, note: 'a novel' } })
    const proposed = await feedback(client, stopped.evaluation_id)
    t.match(proposed, { status: 201, body: { state: 'proposed', rules: stopped.matched_rules, note: 'a novel' } })
    t.match(await feedback(client, stopped.evaluation_id), {
      status: 200,
      body: { exception_id: proposed.body.exception_id }
    })
    t.match(await feedback(client, 'ev_0000000000000000'), { status: 404 })
    t.match(await feedback(client, (await judge(client, 'Hello')).evaluation_id), { status: 400 })
    t.equal((await judge(client)).decision, 'forbid', 'a proposal changes nothing')

    const path = `/api/v1/safety/exceptions/${proposed.body.exception_id}`
    const decide = (by: string) =>
      call(url, `${path}/decide`, { key: by, body: { decision: 'accept', expires_in: '1h' } })
    t.match(await decide(client), { status: 403, body: { required: 'constitutions:write' } })
    t.match(await decide(key), { status: 200, body: { state: 'accepted', scope: 'key', expires_at: String } })
    const closed = (message: string) => ({ status: 409, body: { error: 'already_decided', message } })
    t.match(await decide(key), closed('This exception is decided already.'))
    const passed = await judge(client)
    t.equal(passed.decision, 'permit')
    t.match(passed.detections, [{ suppressed: true }])
    t.equal((await judge(client, `\n ${text}\n`)).decision, 'permit', 'white space at its ends')
    t.equal((await judge(client, text.normalize('NFD'))).decision, 'permit', 'another Unicode form')
    t.equal((await judge(key)).decision, 'forbid', 'another key')
    t.equal((await judge(client, `${text}, step by step`)).decision, 'forbid', 'another text')
    const answered = await call(url, '/v1/chat/completions', { key: client, body: chat(text) })
    t.equal(answered.status, 200, 'the same text in a chat')
    t.match(
      (await call(url, '/metrics', { key })).body,
      /sluicegate_suppressed_matches_total\{rule="[^"]+",category="\w+"\} [1-9]/
    )
    t.match((await call(url, '/api/v1/status', { key })).body, { exceptions: 1 })
    t.match(await call(url, path, { key, method: 'DELETE' }), { status: 200, body: { state: 'revoked' } })
    t.match(await call(url, path, { key, method: 'DELETE' }), closed('Only an accepted exception can be ended.'))
    t.equal((await judge(client)).decision, 'forbid', 'revoked')
  }
)
