import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { audiences, occasions } from '../../src/base/texts.js'
import { source } from '../policy/support.js'
import { forbidding, openHouse } from '../support/constitutions.js'
import { call, tempDir } from '../support/gateway.js'

async function house(t: Test, yaml?: string) {
  const dir = tempDir(t)
  writeFileSync(join(dir, 'default.yaml'), forbidding('alpha'))
  const gateway = await openHouse(t, dir, yaml)
  const check = (text: string, name = 'default', key = gateway.key) =>
    gateway.write(`/${name}/check`, { source: text }, 'POST', key)
  const routes = (key = gateway.key) => call(gateway.url, '/api/v1/constitution-routes', { key })
  const bind = (body: object, key = gateway.key) =>
    call(gateway.url, '/api/v1/constitution-routes', { key, method: 'PUT', body })
  return { ...gateway, dir, check, routes, bind }
}

t.test('a draft is checked: every problem at its place, and what it comes to where it has none', async (t) => {
  const { check, get, foreign, make } = await house(t)
  const bad = await check(
    `name: fresh
version: '1'
extends: default
bands: { middle: 9, high: low }
categories:
  hate: { high: burn }
wrong: 1
`,
    'fresh'
  )
  t.equal(bad.status, 200)
  t.match(bad.body, { valid: false, effective: null })
  t.same(
    bad.body.problems.map(({ line, column, path }: Record<string, unknown>) => [line, column, path]).sort(),
    [
      [4, 18, 'bands.middle'],
      [4, 27, 'bands.high'],
      [6, 17, 'categories.hate.high'],
      [7, 1, 'wrong']
    ],
    'all of them'
  )
  t.match(
    bad.body.problems.find(({ path }: { path: string }) => path === 'categories.hate.high'),
    { accepted: ['forbid', 'divert', 'permit'] }
  )
  const good = await check(
    "name: fresh\nversion: '1'\nextends: default\ncategories: { profanity: { high: forbid } }\nwithout: [reader_guarded, academic_cheating]\n",
    'fresh'
  )
  t.match(good.body, {
    valid: true,
    problems: [],
    warnings: [{ line: 5 }],
    effective: {
      extends: /^default@/,
      bands: { middle: 0.4, high: 0.75 },
      categories: { profanity: { high: 'forbid', middle: 'permit' }, secrets: { high: 'divert' } }
    }
  })
  const rules = good.body.effective.rules as { name: string; detector: string | null; min_confidence: number }[]
  t.notOk(rules.some(({ name }) => name === 'reader_guarded'))
  t.match(
    rules.find(({ name }) => name === 'reader_hate'),
    { detector: 'encoder', min_confidence: 0.25 }
  )
  t.match((await check('a: [', 'fresh')).body.problems, [{ line: 1 }])
  t.equal((await get('/fresh')).status, 404, 'nothing was stored')
  t.equal((await check('a: 1', 'default', await foreign())).status, 404)
  t.equal((await check('a: 1', 'default', await make(['safety:evaluate']))).status, 403)
})

t.test('the language: each word of the schema says what it means, and what ships is valid', async (t) => {
  const { url, key, check, foreign } = await house(t)
  const { status, body } = await call(url, '/api/v1/constitution-language', { key })
  t.equal(status, 200)
  for (const schema of [body.schemas.whole, body.schemas.overlay]) {
    const { properties } = schema.properties.texts
    t.same(Object.keys(properties), ['language', 'region', 'help', 'ask', 'languages'])
    const [ofLanguage] = Object.values<typeof schema>(properties.languages.patternProperties)
    t.same(Object.keys(ofLanguage.properties), audiences)
    t.same(Object.keys(ofLanguage.properties.end_user.properties), ['any', ...occasions])
    t.match(ofLanguage.properties.end_user.properties.divert.description, /\{topic\}, \{help\}, \{review\}/)
    for (const [name, field] of Object.entries<{ description?: string; additionalProperties?: unknown }>({
      ...schema.properties,
      ...schema.properties.rules.items.properties,
      ...schema.properties.categories.properties.hate.properties
    }))
      t.ok(field.description ?? name === 'guarded', `${name} says what it means`)
  }
  t.match(
    body.shipped.map(({ name }: { name: string }) => name),
    ['default', 'developer', 'mcp', 'strict']
  )
  for (const { name, source: text, examples } of body.shipped) {
    t.ok(examples.length > 10, `${name} has examples`)
    t.match((await check(text, name)).body, { valid: true })
  }
  const { points, groups, categories } = body.points
  t.equal(points.length, 19)
  for (const { rows, reached } of groups) {
    t.equal(reached.length, points.length)
    t.ok(
      reached.every((count: number, i: number) => count <= (reached[i - 1] ?? rows)),
      'fewer reach more'
    )
  }
  t.match(Object.keys(categories), body.categories)
  t.equal((await call(url, '/api/v1/constitution-language', { key: await foreign() })).status, 404)
})

t.test('a constitution made here judges the routes that it is bound to, and the file has the first word', async (t) => {
  const { dir, url, key, put, activate, routes, bind, close, foreign, beside } = await house(
    t,
    `constitutions: { default: default.yaml }
routes:
  - { path: /v1/chat/completions, dialect: openai-chat }
  - { path: /fixed/chat/completions, dialect: openai-chat, constitution: default }`
  )
  const decision = async (path: string, content: string) =>
    (await call(url, path, { key, body: { model: 'm', messages: [{ role: 'user', content }] } })).headers.get(
      'x-safety-policy'
    )
  const route = '/v1/chat/completions'
  t.match((await routes()).body.routes, [
    { route, constitution: 'default', decided_by: 'default', in_force: true, file: null, store: null },
    { route: '/fixed/chat/completions', decided_by: 'file', file: 'default' }
  ])
  t.equal(await decision(route, 'beta'), 'default@1')
  t.match(await bind({ route, constitution: 'mine' }), { status: 400, body: { details: { field: 'constitution' } } })
  await put(forbidding('beta', { name: 'mine' }), {}, 'mine')
  t.match(await bind({ route, constitution: 'mine' }), { status: 400 }, 'nothing of it is in force')
  await activate(1, {}, 'mine')
  t.match(await bind({ route, constitution: 'mine', if_constitution: 'other' }), {
    status: 409,
    body: { error: 'binding_changed', constitution: null }
  })
  t.match(await bind({ route, constitution: 'mine', if_constitution: null }), {
    status: 200,
    body: { constitution: 'mine', decided_by: 'store', in_force: true, store: { constitution: 'mine', by: /^key_/ } }
  })
  t.equal(await decision(route, 'beta'), 'mine@1', 'the next request')
  t.equal(await decision('/fixed/chat/completions', 'beta'), 'default@1')
  t.match(await bind({ route: '/fixed/chat/completions', constitution: 'mine' }), {
    status: 400,
    body: { details: { field: 'route' } }
  })
  t.match(await bind({ route: '/nowhere', constitution: 'mine' }), { status: 404 })
  t.match(await bind({ route, constitution: null }, await foreign()), { status: 404 })
  await close()

  const again = await openHouse(
    t,
    dir,
    'constitutions: { default: default.yaml }\nroutes: [{ path: /v1/chat/completions, dialect: openai-chat, constitution: default }]'
  )
  const read = () => call(again.url, '/api/v1/constitution-routes', { key })
  t.match(
    (await read()).body.routes,
    [{ route, constitution: 'default', decided_by: 'file', file: 'default', store: { constitution: 'mine' } }],
    'both words are shown, over a restart too'
  )
  const unbound = await call(again.url, '/api/v1/constitution-routes', {
    key,
    method: 'PUT',
    body: { route, constitution: null }
  })
  t.match(unbound, { status: 200, body: { decided_by: 'file', store: { constitution: null } } })
  await new Promise((resolve) => setTimeout(resolve, 150))
  const audit = await again.beside(({ audit }) => audit.read({ limit: 100 }))
  t.match(
    audit.filter(({ kind }) => kind === 'constitution.bound').map(({ data }) => data),
    [
      { route, from: null, to: 'mine' },
      { route, from: 'mine', to: null }
    ]
  )
  void beside
})

t.test('a binding by another process on the same store is followed', async (t) => {
  const { url, key, put, activate, beside } = await house(t)
  await put(forbidding('beta', { name: 'mine' }), {}, 'mine')
  await activate(1, {}, 'mine')
  await beside(({ constitutions }) =>
    constitutions.bind({
      account: 'default',
      route: '/v1/chat/completions',
      name: 'mine',
      at: 1,
      by: null,
      origin: 'command'
    })
  )
  const policy = async () =>
    (
      await call(url, '/v1/chat/completions', {
        key,
        body: { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
      })
    ).headers.get('x-safety-policy')
  let seen = await policy()
  for (let i = 0; i < 100 && seen !== 'mine@1'; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    seen = await policy()
  }
  t.equal(seen, 'mine@1')
})

t.test('storing answers what of a text does not do what it says', async (t) => {
  const { put } = await house(t)
  const text = forbidding('beta').replace('[beta]', '[C++]')
  const at = { line: text.split('\n').findIndex((line) => line.includes('C++')) + 1, path: 'rules[0].any[0]' }
  t.match(await put(text), { status: 201, body: { version: 2, warnings: [at] } })
  t.same((await put(text)).body.warnings, [], 'stored already')
})

t.test('a dry run of a new name, beside another policy, and of a chat as a route reads it', async (t) => {
  const { write, put } = await house(t)
  const fresh = source({
    name: 'fresh',
    rules: `
  - { name: tool_word, category: violence, weight: 0.9, any: [gamma], roles: [tool] }
  - { name: split, category: violence, weight: 0.9, any: [delta epsilon] }`
  })
  const run = (body: object) => write('/fresh/test', { source: fresh, ...body }, 'POST')
  const alone = await run({ texts: ['alpha'] })
  t.match(alone, { status: 200, body: { active: null, diff: null, results: [{ candidate: { decision: 'permit' } }] } })
  const nothing = { details: { field: 'texts', reason: 'missing' }, message: /nothing to try: give texts, or samples/ }
  t.match(await run({}), { status: 400, body: nothing })
  t.match(await run({ texts: ['alpha'], samples: {} }), { status: 400, body: { message: /not both/ } })
  const chat = (messages: object[]) => ({ chat: { messages } })
  const { body, status } = await run({
    beside: 'default',
    texts: [
      'alpha',
      chat([{ role: 'user', content: 'gamma' }]),
      chat([
        { role: 'user', content: 'hello' },
        { role: 'tool', tool_call_id: 'c', content: 'gamma' }
      ]),
      chat([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'delta' },
            { type: 'text', text: 'epsilon' }
          ]
        }
      ])
    ]
  })
  t.equal(status, 200)
  t.match(body, {
    active: { label: 'default@1' },
    candidate: { label: 'fresh@draft' },
    diff: { milder: 1, stricter: 2 }
  })
  t.same(
    body.results.map(({ candidate }: { candidate: { decision: string } }) => candidate.decision),
    ['permit', 'permit', 'forbid', 'forbid']
  )
  t.match(body.results[2].candidate.detections, [{ rule: 'tool_word', pointer: '/messages/1/content' }])
  await put(forbidding('beta'))
  t.match(await run({ texts: ['beta'], beside: 'default@2' }), { body: { diff: { milder: 1 } } })
  for (const [texts, field] of [
    [[{}], 'texts.0.input_text'],
    [[{ input_text: 'a', chat: { messages: [{}] } }], 'texts.0.input_text'],
    [
      [chat([{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }])],
      'texts.0.chat'
    ]
  ] as const)
    t.match(await run({ texts }), { status: 400, body: { details: { field } } })
  t.match(await run({ texts: ['a'], beside: 'nothing' }), { status: 404 })
  const shipped = await run({ texts: ['you stupid fucking idiot'], beside: 'strict' })
  t.match(
    shipped,
    {
      status: 200,
      body: { active: { version: null, label: 'strict@shipped' }, results: [{ active: { policy: 'strict@shipped' } }] }
    },
    'a shipped policy that no route names'
  )
  t.match(shipped.body.diff, { milder: 1 })
  const strict = await write(
    '/strict/test',
    { texts: ['a'], beside: 'strict', source: forbidding('a', { name: 'strict' }) },
    'POST'
  )
  t.match(strict.body, { active: { label: 'strict@shipped' }, candidate: { label: 'strict@draft' } })
})
