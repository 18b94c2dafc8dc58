import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import Fastify, { type RouteOptions } from 'fastify'
import t from 'tap'
import { errorTable } from '../../src/base/errors.js'
import { dialects } from '../../src/dialects/index.js'
import { compilePath, routerPath } from '../../src/dialects/path.js'
import { methodsByPath } from '../../src/edge/methods.js'
import { generateKey } from '../../src/identity/key-format.js'
import sluicegate from '../../src/index.js'
import { createLog } from '../../src/observe/log.js'
import { build, call, serveReal, tempDir } from '../support/gateway.js'

/** Sends bytes as they are and reads until the connection closes or is quiet. */
function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
    let text = ''
    socket.setTimeout(1500, () => socket.destroy())
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

t.test('every route declares its posture, and only guarded ones reach an upstream', async (t) => {
  const { app } = await build(t)
  const routes: RouteOptions[] = []
  const host = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => host.close())
  host.addHook('onRoute', (route) => {
    routes.push(route)
  })
  await host.register(sluicegate, {
    env: { SLUICEGATE_DATABASE_URL: 'memory:', SLUICEGATE_DATA_DIR: tempDir(t) },
    onFirstKey: () => {},
    log: createLog({ level: 'silent' })
  })
  await host.ready()
  // Read when all is registered: a scope may add its posture in a hook of its own.
  const seen = routes.map(({ config, method, url }) => {
    const posture = config?.access?.posture
    if (posture === undefined) t.fail(`${method} ${url} declares no posture`)
    return `${posture} ${method} ${url}`
  })
  const published = Object.values(dialects)
    .flat()
    .flatMap((dialect) => [
      // The trailing slash is the registration's own spelling: a target that has one is refused before routing.
      ...dialect.paths.map((path) =>
        dialect.isSocket ? `guarded GET ${path}` : `guarded POST ${routerPath(path, dialect)}/`
      ),
      ...dialect.passPaths.map(({ path }) => `pass GET ${path}`)
    ])
  t.same(
    seen.filter((route) => /^(?:guarded|pass) /.test(route)).sort(),
    [...new Set(published)].sort(),
    'what is forwarded, by the live router'
  )
  t.notOk(
    seen.some((route) => route.includes('*') && !/^public \S+ \/docs\/static\/\*$/.test(route)),
    'no wildcard but the page of the documents'
  )
  t.ok(app.hasRoute({ url: '/v1/chat/completions', method: 'POST' }))
})

t.test('a path has one spelling; every other names nothing, whatever the method', async (t) => {
  const { url } = await build(t)
  const spellings = [
    '/v1//chat/completions',
    '//v1/chat/completions',
    '/v1/chat/completions/',
    '/v1/./chat/completions',
    '/v1/x/../chat/completions',
    '/v1/%63hat/completions',
    '/v1/chat%2fcompletions',
    '/v1/chat/completions%00',
    '/v1/chat/completions;x=1',
    '/v1/chat/completions%20',
    '/V1/chat/completions',
    '/v1/Chat/completions',
    '/v1\\chat\\completions',
    '/v1/chat/completions.',
    '/v1/chat/completions\xe9',
    '/v1/chat/completions#x',
    '/%2e%2e/v1/chat/completions',
    '/v1/chat/completions//',
    '/.v1/chat/completions',
    '/%',
    '/%zz',
    '*',
    'http://127.0.0.1/v1/chat/completions',
    '/v1/chat/completions\x09'
  ]
  for (const target of spellings) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await raw(url, `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      t.match(answer, /^HTTP\/1\.1 (?:404|400) /, `${method} ${JSON.stringify(target)}`)
      t.notMatch(answer, /^HTTP\/1\.1 5/)
    }
  }
})

t.test('the root leads a browser to a page, and tells a program where to look', async (t) => {
  const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const { url, opsUrl } = await serveReal(t)
  const away = await fetch(url, { headers: page, redirect: 'manual' })
  t.match([away.status, away.headers.get('location')], [302, /^(?:dashboard\/#\/first-steps|docs)$/])
  t.equal((await fetch(url, { headers: page })).status, 200, 'and there is one')
  const { status, body } = await call(url, '/')
  t.match([status, body], [404, { error: 'not_found', message: /Sluicegate.*\/docs.*\/openapi\.json/ }])
  for (const [path] of body.message.matchAll(/\/[a-z]+(?:\.json|\/)?/g))
    t.equal((await call(url, path)).status, 200, path)
  t.notMatch(body.message, /\d/, 'no version')
  t.match(await call(url, '/', { method: 'POST', body: {} }), { status: 404, body: { message: body.message } })
  t.match((await call(url, '/x')).body, { message: 'There is nothing at this address.' })

  const ops = await call(opsUrl, '/', { headers: page })
  t.match([ops.status, ops.body], [404, { error: 'not_found', message: /Sluicegate.*\/metrics.*\/healthz.*\/readyz/ }])
  for (const [path] of ops.body.message.matchAll(/\/[a-z]+/g)) t.equal((await call(opsUrl, path)).status, 200, path)

  const mounted = await build(t, { prefix: '/gate', yaml: 'docs_url: https://docs.example.org/gate' })
  const { body: below } = await call(mounted.url, '')
  t.match(below.message, /https:\/\/docs\.example\.org\/gate, .* \/gate\/openapi\.json/)
  const led = await fetch(mounted.url, { headers: page, redirect: 'manual' })
  t.match(led.headers.get('location'), /^gate\//)
})

t.test('a known path with another method is 405 with Allow, before any key is asked for', async (t) => {
  const { url } = await serveReal(t)
  const cases: [string, string, string][] = [
    ['GET', '/api/v1/safety/evaluate', 'POST'],
    ['OPTIONS', '/api/v1/safety/evaluate', 'POST'],
    ['PUT', '/api/v1/ssaas/keys', 'GET, POST'],
    ['GET', '/api/v1/ssaas/keys/key_x', 'DELETE'],
    ['GET', '/api/v1/ssaas/keys/key_x/rotate', 'POST'],
    ['DELETE', '/v1/chat/completions', 'POST'],
    ['POST', '/v1/models', 'GET'],
    ['POST', '/v1/realtime', 'GET'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['QUERY', '/healthz', 'GET, HEAD'],
    ['QUERY', '/api/v1/safety/evaluate', 'POST'],
    ['GET', '/openai/deployments/gpt-4o/chat/completions', 'POST'],
    ['PUT', '/v1beta/tunedModels/mine:generateContent', 'POST'],
    ['DELETE', '/v1beta/models/gemini-2.5:countTokens', 'GET, POST']
  ]
  for (const [method, path, allow] of cases) {
    const { status, headers, body } = await call(url, path, { method })
    t.match(
      { status, allow: headers.get('allow'), error: JSON.stringify(body) },
      { status: 405, allow, error: /method_not_allowed/ },
      `${method} ${path}`
    )
  }
})

t.test('framing that two servers could read differently is refused and the connection closed', async (t) => {
  const key = generateKey('live')
  const { url } = await serveReal(t, { env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
  const body = '{"input_text":"hello"}'
  const head = `POST /api/v1/safety/evaluate HTTP/1.1\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`
  const cases: [string, string][] = [
    ['two Host headers', `${head}Host: a\r\nHost: b\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
    ['no Host header', `${head}Content-Length: ${body.length}\r\n\r\n${body}`],
    [
      'Content-Length and Transfer-Encoding',
      `${head}Host: a\r\nContent-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    ],
    ['two lengths', `${head}Host: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n${body}`],
    ['an unknown transfer coding', `${head}Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['a length under a name that CGI reads as its own', `${head}Host: a\r\nContent_Length: 5\r\n\r\n${body}`],
    ['an empty transfer coding', `${head}Host: a\r\nTransfer-Encoding:\r\n\r\n5\r\nhello\r\n0\r\n\r\n`],
    ['a transfer coding without a length', `${head}Host: a\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n`],
    ['a body on GET', `GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`],
    ['chunked with HTTP/1.0', `${head.replace('1.1', '1.0')}Host: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    [
      'two Authorization headers',
      `${head}Host: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    ],
    ['a version that nobody asked for', `${head.replace('1.1', '2.0')}Host: a\r\nContent-Length: 5\r\n\r\nhello`],
    ['a header name with a space', `${head}Host: a\r\nContent-Length : 5\r\n\r\nhello`],
    ['a folded header', `${head}Host: a\r\nX-A: b\r\n c\r\nContent-Length: ${body.length}\r\n\r\n${body}`]
  ]
  for (const [name, bytes] of cases) {
    const answer = await raw(url, bytes)
    t.match(answer, /^HTTP\/1\.1 400 /, name)
    t.match(answer, /connection: close/i, `${name}: closed`)
    t.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, `${name}: one answer`)
  }
})

t.test('bodies: each mistake has its code, field and reason, and none is a 5xx', async (t) => {
  const { url, key } = await build(t, { yaml: 'server: { body_limit: 64KiB }\nlimits: { live_per_minute: 1000 }' })
  const path = '/api/v1/safety/evaluate'
  const json = { 'content-type': 'application/json' }
  const deep = `{"input_text":"x","context":{"a":${'['.repeat(80)}${']'.repeat(80)}}}`
  const cases: [string, string | Buffer, Record<string, string>, number, object][] = [
    [
      'malformed',
      '{"input_text":',
      json,
      400,
      { error: 'validation_error', details: { field: '', reason: 'malformed_json' } }
    ],
    ['not an object', '[1]', json, 400, { details: { field: '', reason: 'wrong_type' } }],
    [
      'duplicate key',
      '{"input_text":"a","input_text":"b"}',
      json,
      400,
      { details: { field: 'input_text', reason: 'duplicate_key' } }
    ],
    [
      'duplicate key by escape',
      '{"input_text":"a","input\\u005ftext":"b"}',
      json,
      400,
      { details: { reason: 'duplicate_key' } }
    ],
    ['too deep', deep, json, 400, { details: { reason: 'too_deep' } }],
    [
      'unrepresentable number',
      '{"input_text":"a","context":{"n":12345678901234567890}}',
      json,
      400,
      { details: { reason: 'unrepresentable_number' } }
    ],
    [
      'invalid UTF-8',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      json,
      400,
      { details: { field: '', reason: 'invalid_utf8' } }
    ],
    ['no body', '', json, 400, { details: { field: '', reason: 'missing' } }],
    [
      'no body of a form',
      '',
      { 'content-type': 'application/x-www-form-urlencoded' },
      400,
      { details: { field: '', reason: 'missing' } }
    ],
    ['null', 'null', json, 400, { details: { field: '', reason: 'wrong_type' } }],
    ['missing', '{}', json, 400, { details: { field: 'input_text', reason: 'missing' } }],
    ['empty text', '{"input_text":""}', json, 400, { details: { field: 'input_text', reason: 'empty' } }],
    ['wrong type', '{"input_text":1}', json, 400, { details: { field: 'input_text', reason: 'wrong_type' } }],
    ['null', '{"input_text":null}', json, 400, { details: { field: 'input_text', reason: 'wrong_type' } }],
    [
      'context not an object',
      '{"input_text":"a","context":[]}',
      json,
      400,
      { details: { field: 'context', reason: 'wrong_type' } }
    ],
    [
      'context too large',
      `{"input_text":"a","context":{"k":"${'x'.repeat(16_400)}"}}`,
      json,
      400,
      { details: { field: 'context', reason: 'too_long' } }
    ],
    [
      'session id',
      '{"input_text":"a","session_id":"a b"}',
      json,
      400,
      { details: { field: 'session_id', reason: 'invalid_format' } }
    ],
    [
      'unknown field',
      '{"input_text":"a","extra":1}',
      json,
      400,
      { details: { field: 'extra', reason: 'unknown_field' } }
    ],
    ['too large', `{"input_text":"${'x'.repeat(70_000)}"}`, json, 413, { error: 'payload_too_large', limit: 65_536 }],
    ['no type', '{"input_text":"a"}', { 'content-type': '' }, 415, { error: 'unsupported_media_type' }],
    [
      'form',
      'input_text=a',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      { error: 'unsupported_media_type' }
    ],
    [
      'another charset',
      '{"input_text":"a"}',
      { 'content-type': 'application/json; charset=utf-16' },
      415,
      { error: 'unsupported_media_type' }
    ],
    [
      'garbage after the type',
      '{"input_text":"a"}',
      { 'content-type': 'application/json x' },
      415,
      { error: 'unsupported_media_type' }
    ],
    [
      'unknown coding',
      '{"input_text":"a"}',
      { ...json, 'content-encoding': 'lzma' },
      415,
      { error: 'unsupported_encoding' }
    ],
    [
      'two codings',
      '{"input_text":"a"}',
      { ...json, 'content-encoding': 'gzip, gzip' },
      415,
      { error: 'unsupported_encoding' }
    ],
    [
      'not in the coding',
      '{"input_text":"a"}',
      { ...json, 'content-encoding': 'gzip' },
      415,
      { error: 'unsupported_encoding' }
    ]
  ]
  for (const [name, body, headers, status, expected] of cases) {
    const response = await fetch(url + path, { method: 'POST', headers: { 'x-api-key': key, ...headers }, body })
    const answer = (await response.json()) as Record<string, unknown>
    t.equal(response.status, status, name)
    t.match(answer, expected, name)
    t.equal(typeof answer['request_id'], 'string')
    t.equal(answer['request_id'], response.headers.get('x-request-id'))
    t.ok(Object.hasOwn(errorTable, String(answer['error'])), 'a code of the table')
  }
  t.equal((await call(url, path, { key, body: { input_text: ' ' } })).status, 200, 'white space alone is valid')
  const loud = { 'x-api-key': key, ...json, 'content-encoding': 'GZIP' }
  const packed = new Uint8Array(gzipSync('{"input_text":"a"}'))
  t.equal(
    (await fetch(url + path, { method: 'POST', headers: loud, body: packed })).status,
    200,
    'codings know no case'
  )
})

t.test('methods of a path whose parameters have patterns of their own are told by its reader', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const allowed = methodsByPath(app)
  const dialect = { parameters: { model: /m(?:|-(?:x(?:y|z)|w))/ } }
  const template = '/v1/{model}:run'
  const url = routerPath(template, dialect)
  const handler = async () => 'ran'
  app.route({ method: 'POST', url, config: { reads: compilePath(template, dialect) }, handler })
  t.throws(() => app.route({ method: 'GET', url, handler }), /has a pattern: its route must have reads/)
  for (const path of ['/v1/m:run', '/v1/m-xz:run', '/v1/m-w:run']) {
    t.equal((await app.inject({ method: 'POST', url: path })).payload, 'ran', path)
    t.equal(allowed(path), 'POST', path)
  }
  for (const path of ['/v1/m-x:run', '/v1/n:run', '/v1/m:walk']) t.equal(allowed(path), undefined, path)
})

t.test('what nothing is at is 404 or 405 whatever its body announces', async (t) => {
  const { url } = await serveReal(t)
  const bodies = [
    'Content-Type: application/json\r\nContent-Length: 9999999\r\n\r\n',
    'Content-Type: application/json\r\nContent-Encoding: rot13\r\nContent-Length: 3\r\n\r\nabc',
    'Content-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc'
  ]
  for (const [target, expected] of [
    ['POST /nowhere', 404],
    ['PUT /api/v1/safety/evaluate', 405],
    ['PUT /v1/chat/completions', 405]
  ] as const) {
    for (const body of bodies) {
      const answer = await raw(url, `${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${body}`)
      t.match(answer, new RegExp(`^HTTP/1\\.1 ${expected} `), `${target}, ${JSON.stringify(body)}`)
    }
  }
})

t.test('a broken request gets its answer behind the one before it', async (t) => {
  const key = generateKey('live')
  const { url } = await serveReal(t, { env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
  const body = '{"input_text":"hello"}'
  const first = `POST /api/v1/safety/evaluate HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const answers = await raw(url, `${first}POST / HTTP/1.1\r\nHost : a\r\n\r\n`)
  t.same(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 400'])
})

t.test(
  'a client that waits with its body is asked for it when the body is read, and not for one that is refused',
  async (t) => {
    const key = generateKey('live')
    const { url } = await serveReal(t, { env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
    const path = '/api/v1/safety/evaluate'
    const cases: [string, string, string, number, string[]][] = [
      ['no key', path, '', 9, ['401']],
      ['an unknown path', '/nowhere', key, 9, ['404']],
      ['too large', path, key, 99_999_999, ['413']],
      ['a body that is taken', path, key, 22, ['100', '200']]
    ]
    for (const [name, target, given, length, expected] of cases) {
      const head = `POST ${target} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${given}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n`
      const { hostname, port } = new URL(url)
      const socket = connect(Number(port), hostname)
      socket.write(`${head}Expect: 100-continue\r\n\r\n`)
      let answers = ''
      for await (const chunk of socket) {
        answers += chunk
        if (answers.endsWith('100 Continue\r\n\r\n')) socket.write('{"input_text":"hello"}')
        else if (answers.endsWith('}')) break
      }
      t.same(answers.match(/(?<=HTTP\/1\.1 )\d+/g), expected, name)
    }
  }
)

t.test('a client that sends all of a body that is too large reads why it was refused', async (t) => {
  const key = generateKey('live')
  const { url } = await serveReal(t, { env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
  const { hostname, port } = new URL(url)
  const length = 8 * 1024 * 1024
  for (const framing of [`Content-Length: ${length}`, 'Transfer-Encoding: chunked']) {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    const rest = Buffer.alloc(length, ' ')
    const body = framing.startsWith('C')
      ? rest
      : Buffer.concat([Buffer.from('800000\r\n'), rest, Buffer.from('\r\n0\r\n\r\n')])
    socket.write(
      `POST /api/v1/safety/evaluate HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`
    )
    // As most clients do: reads when it has written.
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.write(body, () => resolve())
    })
    let answer = ''
    for await (const chunk of socket) answer += chunk
    t.match(answer, /^HTTP\/1\.1 413 [\s\S]*"payload_too_large"/, framing)
    socket.destroy()
  }
})

t.test('order of checks: key, address, scope, limit, type, size, body', async (t) => {
  const { url, key } = await build(t)
  const create = async (body: object) =>
    (await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'k', accept_terms: true, ...body } })).body.key
  const elsewhere = await create({ ip_allowlist: ['192.0.2.0/24'], rate_limit_per_minute: 1 })
  const metricsOnly = await create({ scopes: ['safety:metrics'] })
  const once = await create({ scopes: ['safety:evaluate'], rate_limit_per_minute: 1 })
  const path = '/api/v1/safety/evaluate'
  const bad = { body: '{', headers: { 'content-type': 'text/plain' } }
  t.match(await call(url, path, bad), { status: 401, body: { error: 'api_key_required', docs: '/docs' } })
  t.match(await call(url, path, { ...bad, key: 'slg_live_nonsense' }), {
    status: 401,
    body: { error: 'invalid_api_key', docs: '/docs' }
  })
  for (let i = 0; i < 3; i++) {
    t.match(
      await call(url, path, { ...bad, key: elsewhere }),
      { status: 403, body: { error: 'ip_not_allowed', message: /127\.0\.0\.1/ } },
      'a leaked key burns nothing'
    )
  }
  t.match(await call(url, path, { ...bad, key: metricsOnly }), {
    status: 403,
    body: { error: 'insufficient_scope', required: 'safety:evaluate', available: ['safety:metrics'] }
  })
  t.match(await call(url, path, { ...bad, key: once }), { status: 415 }, 'counts although it is refused')
  const limited = await call(url, path, { ...bad, key: once })
  t.match(limited, { status: 429, body: { error: 'rate_limit_exceeded', message: /1 request/ } })
  t.equal(String(limited.body.retry_after), limited.headers.get('retry-after'))
  t.equal(limited.headers.get('x-ratelimit-limit'), '1')
  t.equal(limited.headers.get('x-ratelimit-remaining'), '0')
  t.match(
    await call(url, '/v1/moderations', { key: once, body: { input: 'x' } }),
    { status: 429 },
    'one limit over all surfaces'
  )
  t.match(await call(url, '/api/v1/ssaas/keys', { key: once }), { status: 200 }, 'management does not count')
})
