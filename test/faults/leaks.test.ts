/** What is secret, and what is anybody's text, stands nowhere but where it belongs: not in logs, metrics, errors or traces. */

import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { mailbox } from '../notices/support.js'
import { source } from '../policy/support.js'
import { rules } from '../support/cli.js'
import { call, tempDir } from '../support/gateway.js'
import { startNode } from '../support/node.js'
import { exchangeRaw } from '../support/raw.js'
import { chunks, completion, fakeUpstream, json, raw, sse, sseText } from '../support/upstream.js'
import { promise } from './report.js'

t.setTimeout(600_000)
const key = generateKey('live')
const unknown = generateKey('test')
const path = '/v1/chat/completions'

const places = new Map<string, string>()
/** Those that are looked for as they were written, by what they are. */
const secrets = new Map([
  [key, 'the first key'],
  [unknown, 'an unknown key']
])
/** A word for one place, found again wherever it comes up. */
function canary(place: string): string {
  const word = `canary${String(places.size + 1).padStart(3, '0')}x`
  places.set(word, place)
  return word
}

/** A secret of a webhook, as it is configured, and what of it would be found. */
function webhookSecret(place: string): string {
  const secret = `whsec_${Buffer.from(canary(place).repeat(2)).toString('base64')}`
  secrets.set(secret, place)
  return secret
}

/** Refuses every login, and quotes it. */
async function mailServer(t: Test): Promise<{ port: number; logins: string[] }> {
  const logins: string[] = []
  const { port } = await mailbox(t, {
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      logins.push(`${username} ${password}`)
      done(new Error(`${canary('what a mail server says')}: wrong password ${password} of ${username}`))
    }
  })
  return { port, logins }
}

/** Takes whatever traces are sent to it. */
async function collector(t: Test): Promise<{ url: string; bytes(): string }> {
  const received: Buffer[] = []
  const server = createServer((req, res) => {
    req.on('data', (chunk: Buffer) => received.push(chunk))
    req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => Buffer.concat(received).toString('latin1')
  }
}

t.test('canaries', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('fine')))
  const traces = await collector(t)
  const dir = tempDir(t)
  const held = '  - { name: held_words, category: secrets, weight: 0.9, any: [zonk] }'
  writeFileSync(join(dir, 'default.yaml'), source({ rules: `${rules}${held}` }))
  const credential = `${canary('the upstream’s credential')}-0123456789`
  const mail = await mailServer(t)
  const login = { user: canary('the user of the mail server'), password: canary('the password of the mail server') }
  const channel = await fakeUpstream(t, json({ error: canary('what a channel of notices says') }, 500))
  writeFileSync(
    join(dir, 'gateway.yaml'),
    [
      'constitutions: { default: default.yaml }',
      'limits: { live_per_minute: 1000000, failed_auth_per_address_per_minute: 100000 }',
      `upstreams: { default: { url: "${upstream.url}", key: "${credential}" } }`,
      `review: { webhook: { url: "${upstream.url}/hook/${canary('the webhook’s address')}", secret: "${webhookSecret('the secret of the reviews’ webhook')}" } }`,
      'notices:',
      '  every: 500ms',
      '  reviews_waiting: { count: 1 }',
      `  webhook: { url: "${channel.url}/${canary('the address of the notices’ webhook')}", secret: "${webhookSecret('the secret of the notices’ webhook')}" }`,
      `  email: { host: 127.0.0.1, port: ${mail.port}, tls: none, user: ${login.user}, password: ${login.password}, from: gate@example.org, to: [${canary('a recipient')}@example.org] }`,
      `tracing: { endpoint: "${traces.url}", headers: { authorization: "${canary('the collector’s credential')}" } }`
    ].join('\n')
  )
  const node = await startNode(t, {
    NODE_OPTIONS: `--import ${new URL('../support/broken-judge.mjs', import.meta.url)}`,
    SLUICEGATE_CONFIG: join(dir, 'gateway.yaml'),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_LOG_LEVEL: 'trace'
  })
  let output = ''
  for (const stream of [node.child.stdout, node.child.stderr]) {
    stream?.on('data', (bytes) => {
      output += bytes
    })
  }
  /** Whatever a client is told when it gets no answer. */
  const errors: string[] = []
  const ask = async (to: string, options: Parameters<typeof call>[2] = {}) => {
    const { status, headers, body } = await call(node.url, to, { key, ...options })
    if (status >= 400) errors.push(`${status} ${JSON.stringify([...headers])} ${JSON.stringify(body)}`)
    return { status, headers, body }
  }
  const chat = (content: string, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more })

  /** One of each that is told, by what the text adds. */
  for (const [outcome, word] of [
    ['permitted', ''],
    ['forbidden', 'kaboom'],
    ['asked', 'slay'],
    ['diverted', 'zonk'],
    ['unjudged', '«broken:throw»'],
    ['partial', '«broken:part»']
  ] as const) {
    const c = (place: string) => canary(`${place}, ${outcome}`)
    const headers = {
      'x-session-id': c('x-session-id'),
      'x-safety-context': JSON.stringify({
        topic: c('context'),
        [c('a key of the context')]: c('another value of the context')
      }),
      'user-agent': c('user-agent'),
      traceparent: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`,
      tracestate: `a=${c('tracestate')}`,
      'idempotency-key': c('idempotency-key'),
      cookie: `a=${c('cookie')}`,
      referer: `http://x/${c('referer')}`,
      origin: `http://${c('origin')}`,
      'x-forwarded-for': c('x-forwarded-for'),
      'x-request-id': c('x-request-id'),
      'openai-organization': c('openai-organization'),
      authorization: `Bearer ${c('authorization')}`,
      'api-key': c('api-key')
    }
    const body = {
      model: c('model'),
      user: c('user'),
      metadata: { [c('a key of metadata')]: c('metadata') },
      [c('an unknown field')]: c('an unknown value'),
      tools: [{ type: 'function', function: { name: c('a tool’s name'), description: c('a tool’s description') } }],
      messages: [
        { role: 'system', content: c('the system prompt') },
        { role: 'user', name: c('a name'), content: `${word} ${c('a message')}` },
        {
          role: 'assistant',
          tool_calls: [
            {
              id: c('the id of a call'),
              type: 'function',
              function: { name: 'f', arguments: `{"a":"${c('arguments')}"}` }
            }
          ]
        },
        { role: 'tool', tool_call_id: 'x', content: c('the result of a tool') }
      ]
    }
    await ask(path, { headers, body })
    await ask('/api/v1/safety/evaluate', {
      headers,
      body: {
        input_text: `${word} ${c('input_text')}`,
        context: { topic: c('context of evaluate') },
        session_id: c('session_id')
      }
    })
    await ask('/v1/moderations', { body: { input: [`${word} ${c('an input of moderations')}`] } })
    await ask('/guards/flat', { body: { text: `${word} ${c('the text of a guard')}` } })
    upstream.answer = json(completion(`${word} ${c('an answer')}`))
    await ask(path, { body: chat('hello') })
    upstream.answer = sse(sseText(chunks(`${word} ${c('a streamed answer')}`)))
    await ask(path, { body: chat('hello', { stream: true }) }).catch(() => undefined)
    upstream.answer = json(completion('fine'))
  }
  t.same(node.logs.length > 0, true)

  // What is refused before it is judged.
  const refused: [to: string, options: Parameters<typeof call>[2]][] = [
    [`/v1/${canary('an unknown path')}`, {}],
    [`${path}?${canary('an unknown parameter')}=1`, { body: chat('hello') }],
    [`${path}?api-version=${canary('a parameter’s value')}`, { body: chat('hello') }],
    [`/api/v1/audit?kind=${canary('a query')}1`, {}],
    [`${path}?key=${canary('a key in the query')}`, { body: chat('hello') }],
    [path, { key: canary('a key that is none'), body: chat('hello') }],
    [path, { headers: { 'content-type': canary('a content type') }, body: '{}' }],
    [path, { headers: { 'content-encoding': canary('a coding') }, body: '{}' }],
    [path, { headers: { 'x-safety-review-id': `${canary('a review’s id')} ?` }, body: chat('kaboom') }],
    [path, { headers: { 'x-session-id': `${canary('a bad session id')} ?` }, body: chat('hello') }],
    [path, { headers: { 'x-safety-context': `{"a":${canary('a bad context')}` }, body: chat('hello') }],
    [path, { body: `{"messages":[{"role":"user","content":"${canary('a cut body')}` }],
    [path, { body: `{"messages":${canary('no JSON')}}` }],
    [path, { body: `{"a":"${canary('a value twice')}","a":1}` }],
    [path, { body: { messages: canary('messages that are none') } }],
    [path, { body: { messages: [{ role: 5, content: canary('a message without a role') }] } }],
    [path, { body: chat('x'.repeat(1_100_000) + canary('a body too large')) }],
    [
      path,
      {
        body: {
          model: 'm',
          messages: [
            {
              role: 'user',
              content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${canary('an image')}` } }]
            }
          ]
        }
      }
    ],
    ['/api/v1/safety/evaluate', { body: { input_text: 'x', [canary('an unknown field of evaluate')]: 1 } }],
    ['/api/v1/safety/evaluate', { body: { input_text: 'x', session_id: `${canary('a bad session_id')} ?` } }],
    ['/api/v1/ssaas/keys', { body: { name: 'x', scopes: [canary('a scope')], accept_terms: true } }],
    ['/api/v1/ssaas/keys', { body: { name: 'x', ip_allowlist: [canary('an address')], accept_terms: true } }],
    [`/api/v1/ssaas/keys/${canary('a key’s id')}/rotate`, { method: 'POST' }],
    [`/api/v1/constitutions/${canary('a constitution’s name')}`, {}],
    [
      '/api/v1/constitutions/default',
      { method: 'PUT', body: { source: `name: default\n${canary('a bad constitution')}: 1\n` } }
    ],
    ['/api/v1/constitutions/default/test', { body: { texts: [`kaboom ${canary('a text of a trial')}`] } }],
    ['/api/v1/pdp/adjudicate', { body: { review_id: 'rev_x', decision: 'permit', note: canary('a note') } }],
    ['/api/v1/auth/login', { body: { login: canary('a login'), password: canary('a password') } }],
    [
      '/guards/portkey',
      { body: { requestType: canary('a request’s type'), eventType: 'beforeRequestHook', request: { json: {} } } }
    ]
  ]
  for (const [to, options] of refused) await ask(to, options)
  // What is wrong is named to who wrote it: a field, an entry of a list, a place of a constitution.
  const shown = new Set(['a bad constitution', 'an unknown field of evaluate', 'an unknown parameter', 'an address'])
  for (const bytes of [
    `GET /${canary('a broken request')} HTTP/1.1\r\n${canary('a broken header')}\r\n\r\n`,
    `POST ${path} HTTP/1.1\r\nHost: ${canary('host')}\r\nX-API-Key: ${unknown}\r\nTransfer-Encoding: ${canary('a transfer coding')}\r\n\r\n`,
    `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${unknown}\r\nExpect: ${canary('an expectation')}\r\nContent-Length: 2\r\n\r\n{}`
  ]) {
    errors.push(await exchangeRaw(node.url, bytes, 500))
  }
  // What an upstream says in the wrong way.
  const broken: [place: string, answer: (word: string) => ReturnType<typeof raw>][] = [
    ['garbage of an upstream', (word) => raw(`${word}\r\n\r\n`)],
    ['a redirect', (word) => raw(`HTTP/1.1 302 Found\r\nlocation: http://${word}/\r\ncontent-length: 0\r\n\r\n`)],
    [
      'an upstream’s header',
      (word) => raw(`HTTP/1.1 200 OK\r\nx-a: ${word}\r\ncontent-type: text/${word}\r\ncontent-length: 0\r\n\r\n`)
    ],
    [
      'no JSON of an upstream',
      (word) => raw(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"a":${word}`)
    ],
    [
      'an upstream’s reason',
      (word) => raw(`HTTP/1.1 500 ${word}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${word}`)
    ],
    [
      'an upstream’s coding',
      (word) =>
        raw(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: ${word}\r\nconnection: close\r\n\r\n{}`
        )
    ],
    ['a forbidden error', (word) => json({ error: { message: `kaboom ${word}` } }, 400)],
    ['a stream’s garbage', (word) => sse(`data: ${word}\n\n`)]
  ]
  for (const [place, answer] of broken) {
    upstream.answer = answer(canary(place))
    await ask(path, { body: chat('hello', { stream: place.startsWith('a stream') }) })
  }
  upstream.answer = json({ error: { message: `wrong key ${credential}` } }, 401)
  await ask(path, { body: chat('hello') })
  upstream.answer = json(completion('fine'))

  // Somebody waits, which people are told of by both channels; neither takes it.
  for (let tries = 0; tries < 600 && (mail.logins.length === 0 || channel.requests.length === 0); tries++)
    await setTimeout(50)
  t.equal(mail.logins[0], `${login.user} ${login.password}`, 'the mail server was asked')
  t.ok(channel.requests.length > 0, 'and the channel of notices')
  /** What those are told who look after it. */
  const told: string[] = []
  for (const to of ['alerts', 'status', 'pdp/deliveries?limit=100', 'audit?limit=1000', 'texts', 'upstreams']) {
    const { status, body } = await ask(`/api/v1/${to}`)
    t.equal(status, 200, to)
    told.push(JSON.stringify(body))
  }

  node.child.kill('SIGHUP')
  await setTimeout(1500)
  const metrics = await (await fetch(`${node.opsUrl}/metrics`)).text()
  node.child.kill('SIGTERM')
  for (let tries = 0; tries < 300 && node.child.exitCode === null; tries++) await setTimeout(100)

  const found: string[] = []
  const look = (where: string, text: string, allowed: ReadonlySet<string> = new Set()) => {
    for (const [word, place] of places) {
      if (text.includes(word) && !allowed.has(place)) found.push(`${place} in ${where}`)
    }
    for (const [secret, place] of secrets) {
      if (text.includes(secret.slice(20))) found.push(`${place} in ${where}`)
    }
  }
  for (const [what, length, least] of [
    ['log', output.length, 5_000],
    ['metrics', metrics.length, 5_000],
    ['errors', errors.length, 40]
  ] as const) {
    t.ok(length > least, `${what}: ${length}`)
  }
  look('the log', output)
  look('the metrics', metrics)
  look('an error', errors.join('\n'), shown)
  // A row of the audit names the model, where it looks like a name.
  const models = [...places.values()].filter((place) => place.startsWith('model, '))
  look('what the API tells', told.join('\n'), new Set(models))
  // OpenTelemetry's own attribute for the model; on the span of a call, which only what was permitted has.
  look('the traces', traces.bytes(), new Set(['model, permitted']))
  t.ok(traces.bytes().length > 1000, 'traces were sent')
  promise(
    t,
    'canaries',
    `${found.length} of ${places.size} places came up in logs, metrics, errors or traces`,
    '0 of at least 40',
    found.length === 0 && places.size >= 40
  )
  t.same(found, [])
})
