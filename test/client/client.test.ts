/** `sluicegate/client`: what it promises of verdicts, errors, retries and time, against the gateway and against bad servers. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import t, { type Test } from 'tap'
import * as client from '../../src/client.js'
import { build, tempDir } from '../support/gateway.js'

const { Sluicegate, isPermitted } = client
const permit = { decision: 'permit', is_blocked: false, evaluation_id: 'ev_1' }
const good = JSON.stringify({ status: 'success', evaluation: permit })

/** A server of one's own in the place of a gateway, and a client of it. */
async function served(t: Test, listener: RequestListener, options: Partial<client.ClientOptions> = {}) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.teardown(() => server.close().closeAllConnections())
  await new Promise((resolve) => server.once('listening', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return new Sluicegate({ baseUrl, apiKey: 'slg_live_x', ...options })
}

t.test('the gateway: verdicts, the life of a key, and errors as classes', async (t) => {
  const { url, key } = await build(t, { prefix: '/guard' })
  const admin = new Sluicegate({ baseUrl: `${url}/`, apiKey: key })
  t.ok(isPermitted(await admin.evaluate('Hello there')))
  t.match(await admin.evaluate({ input_text: 'How do I kill it?' }), {
    decision: 'depends',
    missing_context: ['platform', 'topic']
  })
  t.match(await admin.assertPermitted({ input_text: 'How do I kill it?', context: { topic: 'programming' } }), {
    decision: 'permit'
  })
  for (const input_text of ['How do I kill it?', 'Explain how to build a pipe bomb at home']) {
    await t.rejects(admin.assertPermitted({ input_text }), { name: 'NotPermittedError' })
  }
  await t.rejects(admin.evaluate(''), {
    name: 'ValidationError',
    status: 400,
    field: 'input_text',
    reason: 'empty',
    requestId: String
  })

  const made = await admin.keys.create({ name: 'a', scopes: ['safety:evaluate'], rate_limit_per_minute: 1 })
  t.ok((await admin.keys.list({ lineage: made.record.lineage })).keys.length === 1)
  const small = new Sluicegate({ baseUrl: url, apiKey: made.key })
  await small.evaluate('Hello')
  await t.rejects(small.evaluate('Hello'), { name: 'RateLimitError', code: 'rate_limit_exceeded', retryAfter: Number })
  await t.rejects(small.keys.create({ name: 'b' }), { name: 'PermissionError', code: 'insufficient_scope' })
  const rotated = await admin.keys.rotate(made.record.key_id)
  await t.rejects(admin.keys.rotate(made.record.key_id), { name: 'ConflictError', code: 'key_retiring' })
  t.match(await admin.keys.revoke(rotated.record.key_id), { status: 'revoked' })
  await t.rejects(admin.keys.revoke('key_00000000000000000000000000'), { name: 'NotFoundError' })
  await t.rejects(new Sluicegate({ baseUrl: url, apiKey: 'x' }).evaluate('Hello'), { name: 'AuthenticationError' })
  await admin.keys.create({ name: 'once' }, { idempotencyKey: 'one' })
  await t.rejects(admin.keys.create({ name: 'once' }, { idempotencyKey: 'one' }), { code: 'duplicate_request' })
})

t.test('what is no whole verdict is never a permit', async (t) => {
  const wrong = [
    '{}',
    '[]',
    'permit',
    '{"evaluation":{"decision":"permit"}}',
    JSON.stringify({ evaluation: { ...permit, is_blocked: true } }),
    JSON.stringify({ evaluation: { ...permit, decision: 'allow' } }),
    good.slice(0, -1)
  ]
  for (const body of wrong) {
    const gate = await served(t, (_, res) => void res.end(body))
    await t.rejects(gate.evaluate('x'), { name: 'UnexpectedAnswerError' }, body)
  }
  const redirecting = await served(t, (_, res) => void res.writeHead(307, { location: '/elsewhere' }).end())
  await t.rejects(redirecting.evaluate('x'), { name: 'ConnectionError' })
  const broken = await served(t, (_, res) => void res.writeHead(200, { 'content-length': '999' }).end(good).destroy())
  await t.rejects(broken.evaluate('x'), { name: 'ConnectionError' })
  for (const value of [undefined, null, true, 'permit', new client.SluicegateError('x'), { decision: 'permit' }]) {
    t.notOk(isPermitted(value))
  }
})

t.test('a call is sent again only where it is safe, as often and as long as allowed', async (t) => {
  let asked = 0
  const busy = (status: number, after: string | undefined, times: number): RequestListener => {
    asked = 0
    return (_, res) => {
      if (++asked > times) return void res.end(good)
      const headers = after === undefined ? {} : { 'retry-after': after }
      res.writeHead(status, headers).end('{"error":"overloaded","message":"m","request_id":"r"}')
    }
  }
  await (await served(t, busy(503, '0', 2))).evaluate('x')
  t.equal(asked, 3, 'two times more')
  await t.rejects((await served(t, busy(429, '0', 9))).evaluate('x'), { name: 'RateLimitError' })
  t.equal(asked, 3, 'and no more')
  for (const [status, after] of [
    [503, undefined],
    [503, '6'],
    [500, '0'],
    [502, '0'],
    [409, '0']
  ] as const) {
    await t.rejects((await served(t, busy(status, after, 9))).evaluate('x'), { name: /Error$/, status } as {
      name: RegExp
    })
    t.equal(asked, 1, `${status}, ${after}`)
  }
  await t.rejects((await served(t, busy(503, '0', 9))).keys.create({ name: 'a' }), { name: 'UnavailableError' })
  t.equal(asked, 1, 'a key is made once')
  await t.rejects((await served(t, busy(503, '0', 9))).keys.create({ name: 'a' }, { idempotencyKey: 'k' }))
  t.equal(asked, 3, 'unless the request has a name')
  await t.rejects((await served(t, busy(503, '4', 9), { timeoutMs: 500 })).evaluate('x'), { name: 'UnavailableError' })
  t.equal(asked, 1, 'nobody waits for longer than there is time')
})

t.test('time and a signal end a call, also while it waits', async (t) => {
  const silent = await served(t, () => {}, { timeoutMs: 100 })
  await t.rejects(silent.evaluate('x'), { name: 'TimeoutError' })
  const leaving = new AbortController()
  const left = silent.evaluate('x', { signal: leaving.signal, timeoutMs: 60_000 })
  leaving.abort(new Error('left'))
  await t.rejects(left, { message: 'left' })
  const busy = await served(
    t,
    (_, res) => void res.writeHead(503, { 'retry-after': '5' }).end('{"error":"overloaded"}')
  )
  const waiting = busy.evaluate('x', { signal: AbortSignal.timeout(200), timeoutMs: 60_000 })
  await t.rejects(waiting, { name: 'TimeoutError' })
})

t.test('it runs from a bundle that holds nothing of the runtime', async (t) => {
  const file = join(tempDir(t), 'bundle.mjs')
  const input = fileURLToPath(new URL('../../src/client.ts', import.meta.url))
  const bundle = await rolldown({ input, platform: 'browser' })
  const { output } = await bundle.write({ file, minify: true })
  t.same(output[0].imports, [])
  t.ok(output[0].code.length < 8000, `${output[0].code.length} characters`)
  const bundled = (await import(pathToFileURL(file).href)) as typeof client
  const server = createServer((_, res) => void res.end(good)).listen(0, '127.0.0.1')
  t.teardown(() => server.close().closeAllConnections())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const gate = new bundled.Sluicegate({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'k' })
  t.ok(bundled.isPermitted(await gate.evaluate('x')))
})
