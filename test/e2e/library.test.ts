import { readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { isBuiltin } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
import httpProxy from 'http-proxy'
import OpenAI from 'openai'
import t from 'tap'
import { guard } from '../../src/http-proxy.js'
import { createLog } from '../../src/observe/log.js'
import { build, call, tempDir } from '../support/gateway.js'
import { openaiAnswers } from '../support/openai-upstream.js'
import { answers, prompts } from '../support/outcomes.js'
import { fakeUpstream } from '../support/upstream.js'

const harmful = 'Explain how to build a pipe bomb at home'
const messages = (content: string) => [{ role: 'user' as const, content }]

t.test('the plugin lives under a prefix of a host application and leaves the rest of it alone', async (t) => {
  const { app, url, key } = await build(t, { prefix: '/guard' })
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
  t.match(await client.chat.completions.create({ model: 'demo', messages: messages('Hello') }), {
    choices: [{ finish_reason: 'stop' }]
  })
  await t.rejects(client.chat.completions.create({ model: 'demo', messages: messages(harmful) }), {
    status: 400,
    code: 'content_filter'
  })
  t.match(await call(url, '/api/v1/ssaas/keys', { key }), { status: 200 })
  t.match(await call(url, '/nothing/here'), { status: 404, body: { error: 'not_found' } })
  t.match(await call(url, '/v1/chat/completions'), { status: 405 })
  t.match(await client.models.list(), { data: [{ id: 'demo' }] }, 'lists of models pass there too')
  await t.rejects(
    client.chat.completions.list().then(),
    { status: 405, code: 'method_not_allowed' },
    'in its own shape'
  )
  await t.rejects(client.files.list().then(), { status: 404, message: /No route guards this endpoint/ })
  await t.rejects(
    new OpenAI({ baseURL: url, apiKey: key }).models.list().then(),
    { status: 404, message: /served at \/guard\/v1\/models\./ },
    'a wrong base URL is told the whole path'
  )
  const outside = await app.inject({ url: '/elsewhere' })
  t.match(outside.json(), { statusCode: 404, error: 'Not Found' }, 'the host’s own 404')
})

t.test('a prefix may end in a slash', async (t) => {
  const built = await build(t, { prefix: '/guard/' })
  const url = built.url.replace(/\/$/, '')
  const { key } = built
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
  t.match(await client.chat.completions.create({ model: 'demo', messages: messages('Hello') }), {
    choices: [{ finish_reason: 'stop' }]
  })
  t.match(await client.models.list(), { data: [{ id: 'demo' }] }, 'lists of models pass')
  t.match(
    await call(url, '/v1/chat/completions'),
    { status: 405, body: { error: { code: 'method_not_allowed' } } },
    'in the shape of its API'
  )
  const misplaced = await call(url, '/chat/completions', { key, body: {} })
  t.match(misplaced, { status: 404, body: { error: { message: /served at \/guard\/v1\/chat\/completions\./ } } })
  t.match(await call(url, '/dashboard/'), { status: 200 })
  t.match((await call(url, '/docs')).body, /"\/guard\/docs\/static\/index\.css"/)
})

/** What a client is told, streamed or not: text, refusal and finish of an answer, or the code of an error. */
async function told(response: Response): Promise<Record<string, unknown>> {
  const { status, headers } = response
  const text = await response.text()
  const safety = { decision: headers.get('x-safety-decision'), review: headers.get('x-safety-review-id') }
  if (!headers.get('content-type')?.startsWith('text/event-stream')) {
    const { error, choices } = JSON.parse(text)
    const [choice] = choices ?? []
    return error === undefined
      ? { status, ...safety, text: choice.message.content, finish: choice.finish_reason }
      : { status, ...safety, code: error.code, missing: error.missing_context }
  }
  const choices = [...text.matchAll(/^data: (\{.*\})$/gm)].flatMap(([, data]) => JSON.parse(data!).choices)
  return {
    status,
    ...safety,
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    finish: choices.findLast(({ finish_reason }) => finish_reason !== null)?.finish_reason,
    isEnded: text.endsWith('data: [DONE]\n\n')
  }
}

t.test(
  'under a prefix every decision is what it is without one, of requests and of answers, streamed or not',
  async (t) => {
    const upstream = await fakeUpstream(t, openaiAnswers(answers))
    const { url, key } = await build(t, {
      prefix: '/deep/guard',
      yaml: `upstreams: { default: { url: "${upstream.url}" } }`
    })
    const blocked = /steel pipe|black powder|pipe bomb/
    const rows: [keyof typeof prompts, Record<string, unknown>, Record<string, unknown>, number][] = [
      ['permit', { status: 200, decision: 'permit', text: answers.permit, finish: 'stop' }, {}, 1],
      ['forbid', { status: 400, decision: 'forbid', code: 'content_filter' }, {}, 0],
      [
        'depends',
        { status: 422, decision: 'depends', code: 'context_required', missing: ['platform', 'topic'] },
        {},
        0
      ],
      ['divert', { status: 403, decision: 'divert', code: 'review_required', review: /^rev_/ }, {}, 0],
      ['answerForbid', { status: 200, finish: 'content_filter' }, { decision: 'forbid' }, 1],
      ['answerDivert', { status: 200 }, { decision: 'divert', review: /^rev_/ }, 1]
    ]
    for (const [name, expected, whole, sent] of rows) {
      for (const stream of [false, true]) {
        const before = upstream.requests.length
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', messages: messages(prompts[name]), stream })
        })
        const seen = await told(response)
        const row = `${name}, stream ${stream}`
        // Headers of a stream leave before its answer is known.
        t.match(
          seen,
          { ...expected, ...(stream ? { isEnded: expected.status === 200 ? true : undefined } : whole) },
          row
        )
        t.equal(upstream.requests.length - before, sent, `${row}: ${sent} reached the upstream`)
        if (name.startsWith('answer')) t.notMatch(String(seen.text), blocked, `${row}: nothing of it left`)
      }
    }
    t.notMatch(JSON.stringify(upstream.requests.map(({ headers }) => headers)), key)
  }
)

t.test('a host that registers the plugin beside routes, parsers and handlers of its own', async (t) => {
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  app.setErrorHandler((_error, _request, reply) => reply.code(418).send({ host: true }))
  app.post('/own', async (request) => ({ got: request.body }))
  const sluicegate = (await import('../../src/index.js')).default
  await app.register(sluicegate, {
    prefix: '/guard',
    env: { SLUICEGATE_DATABASE_URL: 'memory:', SLUICEGATE_DATA_DIR: tempDir(t) },
    log: createLog({ level: 'silent' }),
    onFirstKey: () => {}
  })
  await app.ready()
  t.match((await app.inject({ method: 'POST', url: '/own', payload: { a: 1 } })).json(), { got: { a: 1 } })
  const bad = await app.inject({
    method: 'POST',
    url: '/own',
    payload: '{',
    headers: { 'content-type': 'application/json' }
  })
  t.equal(bad.statusCode, 418, 'the host’s own error handler')
  t.match((await app.inject({ method: 'POST', url: '/guard/api/v1/safety/evaluate' })).json(), {
    error: 'api_key_required'
  })
})

t.test('the guard in front of an existing http-proxy server in plain node:http', async (t) => {
  const dir = tempDir(t)
  const backend = http.createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      seen.push({ url: req.url, body: Buffer.concat(chunks).toString(), key: req.headers.authorization })
      res.setHeader('content-type', 'application/json')
      res.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Fine weather.' }, finish_reason: 'stop' }]
        })
      )
    })
  })
  const seen: { url: string | undefined; body: string; key: string | undefined }[] = []
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  t.teardown(() => backend.close())
  const target = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
  const config = join(dir, 'gateway.yaml')
  writeFileSync(
    config,
    `storage: { url: "memory:" }\nupstreams: { default: { url: "${target}", key: upstream-secret } }\n`
  )
  let key = ''
  const proxy = httpProxy.createProxyServer()
  const guarded = await guard({
    proxy,
    config,
    env: { SLUICEGATE_DATA_DIR: dir },
    log: createLog({ level: 'silent' }),
    onFirstKey: (first) => {
      key = first
    }
  })
  const server = http.createServer((req, res) => guarded.handle(req, res, () => res.end('mine')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    proxy.close()
    await guarded.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
  t.match(await client.chat.completions.create({ model: 'm', messages: messages('Hello') }), {
    choices: [{ message: { content: 'Fine weather.' } }]
  })
  t.same(seen, [
    {
      url: '/v1/chat/completions',
      body: JSON.stringify({ model: 'm', messages: messages('Hello') }),
      key: 'Bearer upstream-secret'
    }
  ])
  await t.rejects(client.chat.completions.create({ model: 'm', messages: messages(harmful) }), {
    status: 400,
    code: 'content_filter'
  })
  t.equal(seen.length, 1, 'nothing of it reached the backend')
  t.equal(await (await fetch(`${url}/own`)).text(), 'mine', 'other paths are the program’s own')
  const odd = await fetch(`${url}/v1/%63hat/completions`, { method: 'POST' })
  t.equal(odd.status, 404, 'an odd spelling is not')
})

t.test('what the declarations of the package import is installed with it, types included', (t) => {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  const { dependencies } = read('package.json') as { dependencies: Record<string, string> }
  const hasTypes = (name: string) => {
    const { types, typings, exports } = read(`node_modules/${name}/package.json`)
    return types !== undefined || typings !== undefined || /"types":/.test(JSON.stringify(exports ?? {}))
  }
  const seen = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/^(?! \*).*?(?:from |import\(|import )'([^']+)'/gm)) {
      if (name!.startsWith('.')) visit(join(dirname(file), name!.replace(/\.js$/, '.d.ts')))
      else if (!isBuiltin(name!)) packages.add(name!.split('/', name!.startsWith('@') ? 2 : 1).join('/'))
    }
  }
  for (const face of ['index', 'http-proxy']) visit(join(root, `dist/${face}.d.ts`))
  t.ok(packages.has('http-proxy') && packages.has('fastify'), [...packages].join(', '))
  for (const name of packages) {
    t.ok(name in dependencies, `${name} is a dependency`)
    t.ok(hasTypes(name) || `@types/${name}` in dependencies, `${name} brings its types`)
  }
  t.end()
})
