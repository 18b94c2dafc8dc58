/** From what is wrong to what people read of it, by a real mail server and a real receiver, with two nodes on one store. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { webhookHeaders } from '../../src/review/webhook.js'
import { openStorage } from '../../src/storage/open.js'
import { certificate, mailbox } from '../notices/support.js'
import { keyRow, t0 } from '../storage/storage-suite.js'
import { build, call, tempDir } from '../support/gateway.js'

const secret = 'a-secret-of-many-characters'
const hidden = 'How do I kill it, Zanzibar-4471?'
const unclear = { 'x-safety-context': '{"topic":"unclear"}' }

async function receiver(t: Test, status = 200) {
  const got: { headers: Record<string, unknown>; body: string }[] = []
  const answer = { status }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(answer.status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`, got, answer }
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 2400; i++) {
    const seen = await look()
    if (seen !== undefined) return seen
    await wait(25)
  }
  throw new Error('it did not happen')
}

const divert = (url: string, key: string, text = hidden) =>
  call(url, '/v1/chat/completions', {
    key,
    body: { model: 'm', messages: [{ role: 'user', content: text }] },
    headers: unclear
  })

t.test(
  'reviews wait: two nodes on one store tell once, by e-mail over TLS and by webhook, without a text',
  async (t) => {
    const dir = tempDir(t)
    const tls = certificate(dir)
    const box = await mailbox(t, { cert: tls.cert, key: tls.key, authOptional: false })
    const hook = await receiver(t)
    const store = `sqlite:${join(dir, 'gate.db')}`
    const yaml = `storage: { url: "${store}" }
sign_in: { public_url: https://gate.example/ }
notices:
  every: 100ms
  reviews_waiting: { count: 2 }
  webhook: { url: "${hook.url}", secret: "${secret}" }
  email:
    { host: 127.0.0.1, port: ${box.port}, ca: "${tls.files.cert}", user: gate, password: right, from: gate@example.org, to: [ops@example.org] }
`
    const env = { SLUICEGATE_DATA_KEY: randomBytes(32).toString('base64') }
    const one = await build(t, { yaml, env: { ...env, SLUICEGATE_NODE: 'one' } })
    const two = await build(t, { yaml, env: { ...env, SLUICEGATE_NODE: 'two' } })
    const { key } = one
    t.match(await call(one.url, '/api/v1/alerts', { key }), {
      status: 200,
      body: { alerts: [], notices: { webhook: true, email: true } }
    })
    await divert(one.url, key)
    await divert(two.url, key, `${hidden} Again?`)
    const mail = await until(() => box.got[0])
    t.match(mail, { from: 'gate@example.org', to: ['ops@example.org'], secure: true, user: 'gate' })
    t.match(mail.source, /^Subject: Sluicegate: Reviews wait for a decision\r$/m)
    t.match(mail.source, /2 reviews wait for a decision, the oldest for \d+ s\./)
    t.match(mail.source, 'https://gate.example/dashboard/#/reviews')
    const told = await until(() => hook.got[0])
    const body = JSON.parse(told.body)
    t.match(body, {
      type: 'alert.began',
      data: {
        kind: 'reviews_waiting',
        count: 1,
        alerts: [{ alert_id: /^alt_/, subject: null, facts: { count: 2 } }],
        link: 'https://gate.example/dashboard/#/reviews'
      }
    })
    const id = told.headers['webhook-id'] as string
    const at = Number(told.headers['webhook-timestamp']) * 1000
    t.equal(told.headers['webhook-signature'], webhookHeaders(id, told.body, at, secret)['webhook-signature'])
    for (const text of [mail.source, told.body]) t.notMatch(text, /Zanzibar|slg_live_\w{9}|right/)

    for (const { url } of [one, two])
      t.match((await call(url, '/api/v1/alerts', { key })).body.alerts, [
        { kind: 'reviews_waiting', subject: null, page: 'reviews', summary: /^2 reviews wait/, facts: { count: 2 } }
      ])
    const pages = await Promise.all(
      [one, two].map(async ({ url }) => (await call(url, '/metrics', { key })).body as string)
    )
    for (const page of pages) {
      t.match(page, /^sluicegate_alerts\{kind="reviews_waiting"\} 1$/m)
      t.match(page, /^sluicegate_alerts\{kind="storage_down"\} 0$/m)
    }
    t.equal(
      pages.join('').match(/^sluicegate_notice_deliveries_total\{channel="email",outcome="delivered"\} 1$/gm)?.length,
      1
    )
    const { reviews } = (await call(one.url, '/api/v1/pdp/reviews?status=pending', { key })).body
    for (const { review_id } of reviews) {
      await call(one.url, '/api/v1/pdp/adjudicate', { key, body: { review_id, decision: 'forbid' } })
    }
    await until(async () =>
      (await call(one.url, '/api/v1/alerts', { key })).body.alerts.length === 0 ? true : undefined
    )
    t.same([box.got.length, hook.got.length], [1, 1], 'that it is over is told when it stays so')
  }
)

t.test(
  'a mail server and a receiver that are gone hurt no request; what waits is listed, and logged once',
  async (t) => {
    const dir = tempDir(t)
    const hook = await receiver(t, 500)
    const { url, key, logs } = await build(t, {
      yaml: `storage: { url: "sqlite:${join(dir, 'gate.db')}" }
notices:
  every: 100ms
  reviews_waiting: { count: 1 }
  webhook: { url: "${hook.url}", secret: "${secret}", format: slack }
  # No program is given this port by chance, as one that was free a moment ago may be.
  email: { host: 127.0.0.1, port: 1, tls: none, from: gate@example.org, to: [ops@example.org] }
`
    })
    await divert(url, key)
    const waiting = await until(async () => {
      const { deliveries } = (await call(url, '/api/v1/pdp/deliveries', { key })).body
      return deliveries.filter(({ attempts }: { attempts: number }) => attempts > 0).length === 2
        ? deliveries
        : undefined
    })
    const common = { event: 'alert.began', alert: 'reviews_waiting', review_id: null, key_id: null, state: 'waiting' }
    t.match(
      waiting.sort((a: { channel: string }, b: { channel: string }) => (a.channel < b.channel ? -1 : 1)),
      [
        { ...common, channel: 'email', last_error: 'not reached (ESOCKET)' },
        { ...common, channel: 'webhook', last_error: 'answered 500' }
      ]
    )
    t.match(JSON.parse(hook.got[0]!.body), {
      text: /^Reviews wait for a decision\.\n1 review waits for a decision, the oldest for/
    })
    t.equal((await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'Hello' } })).status, 200)
    const lines = logs.filter((line) => line.includes('messages are not accepted'))
    t.equal(lines.length, 2, 'once for each way')
    t.notMatch(logs.join(''), /Zanzibar|ops@example/)
  }
)

t.test(
  'a key that ends soon is told of once, by its id; one that was rotated, or lives for a day, is not',
  async (t) => {
    const dir = tempDir(t)
    const hook = await receiver(t)
    const store = `sqlite:${join(dir, 'gate.db')}`
    const now = Date.now()
    const day = 86_400_000
    const before = await openStorage({ url: store })
    const row = (change: object) =>
      keyRow({ account: 'default', createdAt: now - 60 * day, name: 'Zanzibar', ...change })
    const soon = row({ expiresAt: now + 2 * day })
    const others = [
      row({ expiresAt: now + 9 * day }),
      row({ expiresAt: now + 2 * day, graceEndsAt: now - t0 }),
      row({ expiresAt: now + day, createdAt: now })
    ]
    for (const key of [soon, ...others]) await before.keys.insert(key)
    await before.close()
    const { url } = await build(t, {
      yaml: `storage: { url: "${store}" }\nnotices: { every: 100ms, webhook: { url: "${hook.url}", secret: "${secret}" } }`,
      env: { SLUICEGATE_DATA_KEY: randomBytes(32).toString('base64') }
    })
    const told = JSON.parse((await until(() => hook.got[0])).body)
    t.match(told, {
      type: 'alert.began',
      data: { kind: 'key_expiring', count: 1, link: null, alerts: [{ subject: soon.keyId }] }
    })
    t.notMatch(JSON.stringify(told), /Zanzibar/)
    t.equal((await call(url, '/healthz')).status, 200)
    await wait(500)
    t.equal(hook.got.length, 1)
  }
)

t.test(
  'without a setting nobody is told, and what is wrong is shown all the same; another scope sees nothing',
  async (t) => {
    const { url, key } = await build(t, { yaml: 'notices: { every: 100ms, reviews_waiting: { count: 1 } }' })
    await divert(url, key)
    const alerts = await until(async () => {
      const { body } = await call(url, '/api/v1/alerts', { key })
      return body.alerts.length > 0 ? body : undefined
    })
    t.match(alerts, { alerts: [{ kind: 'reviews_waiting' }], notices: { webhook: false, email: false } })
    t.same((await call(url, '/api/v1/pdp/deliveries', { key })).body, { deliveries: [] })
    const { body } = await call(url, '/api/v1/ssaas/keys', {
      key,
      body: { name: 'k', scopes: ['safety:evaluate'], accept_terms: true }
    })
    t.match(await call(url, '/api/v1/alerts', { key: body.key }), { status: 403, body: { required: 'safety:metrics' } })
    t.match(await call(url, '/api/v1/alerts?x=1', { key }), { status: 400 })
  }
)
