/** What a client writes into its headers moves neither its address, nor the gateway's own headers, nor anybody's secret. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { startHaproxy, startNginx } from '../support/fronts.js'
import { call, serveReal } from '../support/gateway.js'
import { smallConstitution } from '../support/node.js'
import { exchangeRaw, RawClient } from '../support/raw.js'
import { hasCommand } from '../support/services.js'
import { completion, fakeUpstream, json, raw } from '../support/upstream.js'
import { isFull, promise } from './report.js'

t.setTimeout(600_000)
const key = generateKey('live')
const chat = '/v1/chat/completions'
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })

/** An address that is on a key's list, and is nobody's here. */
const wanted = '192.0.2.7'
/** Proxies call from these; clients from 127.0.0.1. */
const near = '127.0.0.2'
const far = '127.0.0.3'

const spoofs: readonly string[] = [
  `X-Forwarded-For: ${wanted}`,
  `x-forwarded-for: ${wanted}`,
  `X-FORWARDED-FOR:${wanted}`,
  `X-Forwarded-For: ${wanted}, ${wanted}`,
  `X-Forwarded-For: ${wanted}, ${near}`,
  `X-Forwarded-For: ${wanted}, ${far}, ${near}`,
  `X-Forwarded-For: ${near}, ${wanted}`,
  `X-Forwarded-For: ${near}`,
  `X-Forwarded-For: ${wanted},`,
  `X-Forwarded-For: ${wanted}, `,
  `X-Forwarded-For: , ${wanted}`,
  `X-Forwarded-For: ${wanted},,,`,
  `X-Forwarded-For: ${wanted}\r\nX-Forwarded-For: ${wanted}`,
  `X-Forwarded-For: ${near}\r\nX-Forwarded-For: ${wanted}`,
  `X-Forwarded-For: ${wanted}:4711`,
  `X-Forwarded-For: [::ffff:${wanted}]:4711`,
  `X-Forwarded-For: ::ffff:${wanted}`,
  `X-Forwarded-For: "${wanted}"`,
  `X-Forwarded-For: unknown`,
  `X-Forwarded-For: ${wanted}, unknown`,
  `X-Forwarded-For: 192.000.002.007`,
  `X-Forwarded-For: 0300.0.02.07`,
  `X-Forwarded-For: 0xc0000207`,
  `X-Forwarded-For: 3221225991`,
  `X-Forwarded-For: ${wanted}%0d%0a`,
  `X-Forwarded-For: ${wanted};`,
  `X-Forwarded-For: ${wanted} 127.0.0.1`,
  `X-Forwarded-For: ${Array.from({ length: 300 }, () => wanted).join(', ')}`,
  `X-Forwarded-For: ${wanted}\r\nConnection: X-Forwarded-For`,
  `Connection: close, X-Forwarded-For`,
  `X_Forwarded_For: ${wanted}`,
  `X-Forwarded-For\t: ${wanted}`,
  `X: y\r\n X-Forwarded-For: ${wanted}`,
  `X-Forwarded-Fo\u0072: ${wanted}`,
  `X-Real-IP: ${wanted}`,
  `Forwarded: for=${wanted}`,
  `Forwarded: for="[::ffff:${wanted}]";proto=https`,
  `True-Client-IP: ${wanted}`,
  `CF-Connecting-IP: ${wanted}`,
  `Fastly-Client-IP: ${wanted}`,
  `X-Client-IP: ${wanted}`,
  `X-Cluster-Client-IP: ${wanted}`,
  `X-Original-Forwarded-For: ${wanted}`,
  `X-Envoy-External-Address: ${wanted}`,
  `X-Remote-IP: ${wanted}`,
  `X-Remote-Addr: ${wanted}`,
  `X-Originating-IP: ${wanted}`,
  `X-Forwarded: ${wanted}`,
  `Forwarded-For: ${wanted}`,
  `Client-IP: ${wanted}`,
  `Via: 1.1 ${wanted}`,
  `X-Forwarded-Host: ${wanted}\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Port: 443`
]

async function keysFor(url: string) {
  const make = async (address: string) =>
    (await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'k', accept_terms: true, ip_allowlist: [address] } }))
      .body.key
  return { wanted: await make(wanted), proxy: await make(near), own: await make('127.0.0.1') }
}

async function spoof(t: Test, name: string, front: string, keys: { wanted: string; proxy: string; own: string }) {
  const problems: string[] = []
  const ask = async (line: string, by: string): Promise<number> => {
    const head = `POST /api/v1/safety/evaluate HTTP/1.1\r\nHost: gateway\r\nX-API-Key: ${by}\r\n`
    const text = '{"input_text":"hello"}'
    const rest = `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`
    const close = /^Connection/m.test(line) ? '' : 'Connection: close\r\n'
    const answer = await exchangeRaw(front, `${head}${line === '' ? '' : `${line}\r\n`}${close}${rest}\r\n${text}`)
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
  }
  for (const line of ['', ...spoofs]) {
    const [stolen, borrowed, own] = await Promise.all([
      ask(line, keys.wanted),
      ask(line, keys.proxy),
      ask(line, keys.own)
    ])
    // A proxy or the gateway may refuse the line itself.
    if (stolen !== 403 && stolen !== 400)
      problems.push(`${JSON.stringify(line)}: ${stolen} for the address that it names`)
    if (borrowed !== 403 && borrowed !== 400)
      problems.push(`${JSON.stringify(line)}: ${borrowed} for the proxy’s address`)
    if (own !== 200 && own !== 400) problems.push(`${JSON.stringify(line)}: ${own} for the client’s own address`)
    if (line === '' && own !== 200) problems.push(`${own} without any`)
  }
  for (const problem of problems) t.fail(problem)
  promise(
    t,
    `forwarded addresses, ${name}`,
    `${problems.length} of ${spoofs.length} variants changed a decision`,
    '0 of at least 40',
    problems.length === 0
  )
}

const hasFronts = hasCommand('nginx') && hasCommand('haproxy')
t.test('forwarded addresses', { skip: !hasFronts && 'nginx or haproxy is not installed' }, async (t) => {
  const yaml = `server: { trusted_proxies: [${near}, ${far}] }\n`
  const { url } = await serveReal(t, { env: { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: key } })
  const keys = await keysFor(url)
  await spoof(t, 'directly', url, keys)
  const [nginx] = (await startNginx(t, url, near)) as [string]
  await spoof(t, 'one proxy', nginx, keys)
  const [haproxy] = (await startHaproxy(t, nginx, far)) as [string]
  await spoof(t, 'two proxies', haproxy, keys)
})

t.test('headers on the way to the upstream', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const yaml = `upstreams: { default: { url: "${upstream.url}", key: upstream-secret-0123456789 } }\n`
  const { url } = await serveReal(t, { env: { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: key } })
  const client = new RawClient(url)
  t.teardown(() => client.close())
  const ask = (lines: string) =>
    client.ask(
      `POST ${chat} HTTP/1.1\r\nHost: gateway\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${lines}\r\n${body}`
    )
  await ask('')
  const usual = upstream.requests.shift()!
  const ours = Object.keys(usual.headers)
  const host = new URL(upstream.url).host

  t.test('none of ours can be named away, doubled or replaced', async (t) => {
    for (const name of ours) {
      const lines = [`Connection: ${name}\r\n`, `Connection: close, ${name}\r\n`, `Keep-Alive: ${name}\r\n`]
      if (!['host', 'content-length', 'content-type'].includes(name)) lines.push(`${name}: theirs\r\n`)
      for (const line of lines) {
        const answer = await ask(line)
        if (answer?.status !== 200) {
          t.equal(upstream.requests.length, 0, `${line} was refused`)
          continue
        }
        const { headers, rawHeaders } = upstream.requests.shift()!
        const names = rawHeaders.filter((_, i) => i % 2 === 0).map((each) => each.toLowerCase())
        t.equal(new Set(names).size, names.length, `${line}: each once`)
        t.same(
          ours.filter((each) => !names.includes(each)),
          [],
          `${line}: all of ours`
        )
        t.match(headers, { authorization: 'Bearer upstream-secret-0123456789', host, 'accept-encoding': 'identity' })
        t.not(headers['x-request-id'], 'theirs')
        t.equal(Number(headers['content-length']), body.length)
      }
    }
  })

  t.test('any bytes in any header', async (t) => {
    const allowed = new Set([...ours, 'idempotency-key', 'traceparent', 'tracestate', 'user-agent', 'openai-beta'])
    const names = [
      'traceparent',
      'tracestate',
      'User-Agent',
      'Idempotency-Key',
      'OpenAI-Beta',
      'X-Session-Id',
      'X-Safety-Context',
      'X-Safety-Review-Id',
      'Cookie',
      'Accept',
      'X-Request-Id',
      'Referer',
      'Origin',
      'Authorization',
      'api-key',
      'Connection',
      'Accept-Language',
      '__proto__',
      'x'
    ]
    const bytes = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 60 }),
      fc
        .array(
          fc.constantFrom(
            '\r\n',
            '\r',
            '\n',
            '\0',
            'x: y',
            'Authorization: Bearer z',
            '\t',
            ' ',
            '\xe9',
            '\xff',
            ',',
            '"',
            '\\',
            '%0d%0a',
            '\u00a0',
            'close',
            'content-length'
          ),
          { maxLength: 6 }
        )
        .map((parts) => parts.join(''))
    )
    const runs = Number(process.env['FUZZ_RUNS'] ?? (isFull ? 5000 : 300))
    let problems = 0
    let forwarded = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), bytes, async (name, value) => {
        upstream.requests.length = 0
        // A line end within it ends the header: what follows is then the client's own next line.
        const answers = await exchangeRaw(
          url,
          `POST ${chat} HTTP/1.1\r\nHost: gateway\r\nX-API-Key: ${key}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${name}: ${value}\r\n\r\n${body}`,
          10_000
        )
        const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answers)?.[1] ?? 0)
        let bad = status === 0 || status >= 500
        for (const { rawHeaders, headers, body: sent } of upstream.requests) {
          forwarded++
          for (let i = 0; i < rawHeaders.length; i += 2) {
            if (!allowed.has(rawHeaders[i]!.toLowerCase()) || !/^[\x20-\x7e]*$/.test(rawHeaders[i + 1]!)) bad = true
          }
          if (headers.authorization !== 'Bearer upstream-secret-0123456789' || sent.toString() !== body) bad = true
          if (JSON.stringify(rawHeaders).includes(key)) bad = true
        }
        if (/upstream-secret/.test(answers)) bad = true
        if (bad) problems++
        return !bad
      }),
      { numRuns: runs }
    )
    promise(
      t,
      'any bytes in any header',
      `${problems} of ${runs} broke or changed what is forwarded (${forwarded} forwarded)`,
      '0',
      problems === 0 && forwarded > 0
    )
  })

  t.test('an upstream cannot write ours either', async (t) => {
    const answer = await fetch(url + chat, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body
    })
    await answer.text()
    const names = [...answer.headers.keys()].filter(
      (name) => !['connection', 'keep-alive', 'date', 'content-length'].includes(name)
    )
    const text = JSON.stringify(completion('hello'))
    for (const name of names) {
      for (const lines of [
        `${name}: theirs\r\n`,
        `connection: ${name}\r\n`,
        `${name}: theirs\r\nconnection: ${name}\r\n`
      ]) {
        if (lines.startsWith('content-type: theirs')) continue
        upstream.answer = raw(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n${lines}\r\n${text}`
        )
        const response = await fetch(url + chat, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body
        })
        t.equal(response.status, 200, lines)
        t.same(
          names.filter((each) => !response.headers.has(each)),
          [],
          `${lines}: all of ours`
        )
        if (name !== 'retry-after') t.notMatch([...response.headers.values()].join('\n'), 'theirs')
        await response.text()
      }
    }
    for (const value of ['a\x00b', 'a\x0bb', 'a\xffb', `a${'x'.repeat(5000)}`]) {
      upstream.answer = raw(
        Buffer.from(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nretry-after: ${value}\r\nopenai-model: ${value}\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
          'latin1'
        )
      )
      const { status, headers } = await call(url, chat, { key, body })
      t.ok(status === 200 || status === 502, `${JSON.stringify(value.slice(0, 9))}: ${status}`)
      t.equal(headers.get('openai-model'), null)
    }
  })
})
