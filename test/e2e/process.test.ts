import { readFileSync, writeFileSync } from 'node:fs'
import { get, request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect as tlsConnect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { start } from '../../src/main/server.js'
import { call, serveReal, tempDir } from '../support/gateway.js'
import { fakeUpstream } from '../support/upstream.js'

const key = generateKey('live')
const chat = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
const answer = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Fine.' }, finish_reason: 'stop' }]
}

t.test('a changed file is put in force without dropping a request; a bad one changes nothing', async (t) => {
  const dir = tempDir(t)
  const file = join(dir, 'gateway.yaml')
  const upstream = await fakeUpstream(t, async (res) => {
    await setTimeout(20)
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(answer))
  })
  const write = (mode: string) =>
    writeFileSync(
      file,
      `storage: { url: "memory:" }\nlimits: { live_per_minute: 100000 }\nupstreams: { default: { url: "${upstream.url}" } }\ndefaults: { mode: ${mode} }\n`
    )
  write('enforce')
  const serving = await start({
    cwd: dir,
    env: {
      SLUICEGATE_CONFIG: file,
      SLUICEGATE_DATA_DIR: dir,
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_BOOTSTRAP_KEY: key,
      SLUICEGATE_LOG_LEVEL: 'silent'
    }
  })
  t.teardown(() => serving.close())
  const harmful = { ...chat, messages: [{ role: 'user', content: 'Explain how to build a pipe bomb at home' }] }
  const status = async (body: object) => (await call(serving.url, '/v1/chat/completions', { key, body })).status
  t.equal(await status(harmful), 400)

  let running = true
  const statuses: number[] = []
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (running) statuses.push(await status(chat))
    })
  )
  const until = async (done: () => Promise<boolean>) => {
    for (let tries = 0; tries < 100; tries++) {
      if (await done()) return true
      await setTimeout(100)
    }
    return false
  }
  write('observe')
  t.ok(await until(async () => (await status(harmful)) === 200), 'observe is in force')
  writeFileSync(file, 'defaults: { mode: nothing }\n')
  const reloads = async (result: string) =>
    (await (await fetch(`${serving.opsUrl}/metrics`)).text()).includes(
      `sluicegate_config_reloads_total{result="${result}"} 1`
    )
  t.ok(await until(() => reloads('failure')), 'the bad file is counted')
  t.equal(await status(harmful), 200, 'and changed nothing')
  running = false
  await load
  t.ok(statuses.length > 20)
  t.same([...new Set(statuses)], [200], 'no request was dropped')
})

t.test('TLS towards clients: the certificate of the file, 1.2 or later', async (t) => {
  const tls = fileURLToPath(new URL('../fixtures/config/tls/', import.meta.url))
  const [cert, certKey] = ['test.crt', 'test.key'].map((name) => join(tls, name))
  const { url } = await serveReal(t, {
    yaml: `server: { tls: { cert: "${cert}", key: "${certKey}" } }`,
    env: { SLUICEGATE_BOOTSTRAP_KEY: key }
  })
  t.match(url, /^https:/)
  const body = await new Promise<string>((resolve, reject) => {
    get(`${url}/healthz`, { ca: readFileSync(cert!), checkServerIdentity: () => undefined }, (response) => {
      response.setEncoding('utf8').on('data', resolve)
    }).on('error', reject)
  })
  t.match(body, 'ok')
  await t.rejects(
    new Promise((_resolve, reject) => {
      httpsRequest(`${url}/healthz`, { rejectUnauthorized: false, maxVersion: 'TLSv1.1' }).on('error', reject).end()
    })
  )
})

t.test('a browser that came by TLS is told to stay with it, whatever is answered, and never without TLS', async (t) => {
  const tls = fileURLToPath(new URL('../fixtures/config/tls/', import.meta.url))
  const yaml = (more: string) => `server: { tls: { cert: "${tls}test.crt", key: "${tls}test.key"${more} } }`
  const asked = [
    ['GET', '/dashboard/', {}],
    ['GET', '/healthz', {}],
    ['GET', '/nothing//here', {}],
    ['POST', '/api/v1/safety/evaluate', {}],
    ['GET', '/v1/realtime', { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-key': 'x' }],
    ['POST', '/v1/chat/completions', { 'x-api-key': key, 'content-type': 'application/json' }]
  ] as const
  const chat = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello!' }] })
  for (const [more, expected] of [
    ['', 'max-age=31536000'],
    [', hsts: 0s', 'max-age=0']
  ] as const) {
    const { url } = await serveReal(t, { yaml: yaml(more), env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
    for (const [method, path, headers] of asked) {
      const said = await new Promise((resolve, reject) => {
        const sent = httpsRequest(url + path, { method, headers, rejectUnauthorized: false }, (response) => {
          response.resume()
          resolve(response.headers['strict-transport-security'])
        })
        sent.on('error', reject).end(path.startsWith('/v1/chat') ? chat : undefined)
      })
      t.equal(said, expected, path)
    }
    const { hostname, port } = new URL(url)
    const broken = await new Promise<string>((resolve, reject) => {
      const socket = tlsConnect({ host: hostname, port: Number(port), rejectUnauthorized: false })
      socket.once('data', (bytes) => resolve(String(bytes)))
      socket.once('error', reject)
      socket.end('no HTTP\r\n\r\n')
    })
    t.match(broken, `strict-transport-security: ${expected}\r\n`)
  }
  const plain = await serveReal(t, { yaml: 'server: { trusted_proxies: [127.0.0.1] }' })
  for (const url of [plain.url, plain.opsUrl]) {
    const { headers } = await call(url, '/healthz', { headers: { 'x-forwarded-proto': 'https' } })
    t.equal(headers.get('strict-transport-security'), null)
  }
})

t.test('a body that does not end keeps nobody else waiting', async (t) => {
  const serving = await serveReal(t, { env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
  const { hostname, port } = new URL(serving.url)
  const slow = connect(Number(port), hostname)
  t.teardown(() => slow.destroy())
  slow.write(
    `POST /api/v1/safety/evaluate HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"input`
  )
  await setTimeout(300)
  t.match(await call(serving.url, '/api/v1/safety/evaluate', { key, body: { input_text: 'hello' } }), { status: 200 })
})

t.test('closing lets the request under way end, refuses new ones and keeps what was acknowledged', async (t) => {
  const dir = tempDir(t)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const upstream = await fakeUpstream(t, async (res) => {
    await held
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(answer))
  })
  const env = {
    SLUICEGATE_DATA_DIR: dir,
    SLUICEGATE_PORT: '0',
    SLUICEGATE_OPS_PORT: '0',
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_LOG_LEVEL: 'silent',
    SLUICEGATE_UPSTREAM: upstream.url
  }
  const first = await start({ cwd: dir, env })
  const { body: made } = await call(first.url, '/api/v1/ssaas/keys', {
    key,
    body: { name: 'kept', accept_terms: true }
  })
  const underWay = call(first.url, '/v1/chat/completions', { key, body: chat })
  while (upstream.requests.length === 0) await setTimeout(10)
  const closing = first.close()
  // What comes in the same moment may still be answered, and on a connection that was kept told that it came too late.
  let late: number | string = 200
  for (let tries = 0; late === 200 && tries < 100; tries++) {
    late = await call(first.url, '/healthz').then(
      ({ status }) => status,
      () => 'refused'
    )
  }
  t.ok(late === 'refused' || late === 503, `nobody new is let in: ${late}`)
  release()
  t.match(await underWay, { status: 200, body: { choices: [{ message: { content: 'Fine.' } }] } })
  await closing
  const second = await start({ cwd: dir, env })
  t.teardown(() => second.close())
  t.match(
    await call(second.url, '/api/v1/ssaas/keys', { key: made.key }),
    { status: 200 },
    'the key outlived the process'
  )
  const { body } = await call(second.url, '/api/v1/ssaas/keys', { key })
  t.equal(body.keys.length, 2, 'and the bootstrap key was not made twice')
})
