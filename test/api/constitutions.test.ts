import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { digestOf } from '../../src/constitutions/digest.js'
import { constitutionsPath, forbidding, openHouse } from '../support/constitutions.js'
import { call, tempDir } from '../support/gateway.js'

async function house(t: Test, first = forbidding('alpha')) {
  const dir = tempDir(t)
  writeFileSync(join(dir, 'default.yaml'), first)
  return openHouse(t, dir)
}

t.test('a version is stored, read, put in force, and taken back', async (t) => {
  const { get, put, activate, judge, opsUrl, beside } = await house(t)
  const first = (await get()).body.constitutions
  t.match(first, [{ name: 'default', label: 'default@1', version: 1, origin: 'file', versions: 1, latest_version: 1 }])
  const beta = forbidding('beta')
  const stored = await put(beta, { note: 'beta is worse' })
  t.match(stored, {
    status: 201,
    body: { version: 2, label: 'default@2', declared_version: '1', digest: digestOf(beta), length: beta.length }
  })
  t.match(stored.body, { origin: 'api', note: 'beta is worse', created_by: /^key_/, active: false })
  t.same((await put(beta, { note: 'again' })).status, 200, 'the same text is the same version')
  t.same((await put(beta)).body, stored.body)
  t.same(await judge('alpha', 'beta'), ['forbid', 'permit', 'default@1'], 'a version that is stored judges nothing yet')

  const activated = await activate(2)
  t.match(activated, { status: 200, body: { changed: true, previous: 1, constitution: { label: 'default@2' } } })
  t.same(await judge('alpha', 'beta'), ['permit', 'forbid', 'default@2'])
  t.match(await call(opsUrl, '/metrics'), { body: /^sluicegate_policy_info\{name="default",version="2"\} 1$/m })
  t.notMatch((await call(opsUrl, '/metrics')).body, /policy_info\{name="default",version="1"\}/)
  t.match(await get('/default'), { body: { version: 2, source: beta, label: 'default@2', note: 'beta is worse' } })
  t.match(await activate(2), { status: 200, body: { changed: false, previous: 2 } })

  t.match(await activate(1), { body: { changed: true, previous: 2 } })
  t.same(await judge('alpha', 'beta'), ['forbid', 'permit', 'default@1'])
  t.match((await get('/default/activations')).body.activations, [
    { from: 2, to: 1, origin: 'api', by: /^key_/ },
    { from: 1, to: 2, origin: 'api', by: /^key_/ },
    { from: null, to: 1, origin: 'file', by: null }
  ])
  t.match(await get('/default/versions/2'), { status: 200, body: { version: 2, source: beta, active: false } })
  await setTimeout(150)
  const audit = await beside(({ audit }) => audit.read({ limit: 100 }))
  t.match(
    audit
      .filter(({ kind }) => kind.startsWith('constitution.'))
      .map(({ kind, data }) => [kind, data['to'] ?? data['version']]),
    [
      ['constitution.activated', 1],
      ['constitution.stored', 2],
      ['constitution.activated', 2],
      ['constitution.activated', 1]
    ]
  )
  t.notMatch(JSON.stringify(audit), 'weight:', 'no text of a constitution in the audit')
})

t.test('versions come page by page', async (t) => {
  const { get, put } = await house(t)
  for (const word of ['b', 'c', 'd', 'e']) await put(forbidding(word))
  const pages: number[][] = []
  let cursor = ''
  do {
    const { body } = await get(`/default/versions?limit=2${cursor}`)
    pages.push(body.versions.map(({ version }: { version: number }) => version))
    t.notOk('source' in body.versions[0])
    cursor = body.next_cursor === undefined ? '' : `&cursor=${body.next_cursor}`
  } while (cursor !== '')
  t.same(pages, [[5, 4], [3, 2], [1]])
  t.match(await get('/default/versions?cursor=x'), { status: 400, body: { details: { field: 'query.cursor' } } })
  t.match(await get('/default/versions?limit=0'), { status: 400 })
  t.match((await get('/default/activations?limit=1')).body, { activations: [{ to: 1 }] })
})

t.test('a text that is not valid is refused with every problem, and nothing is stored', async (t) => {
  const { get, put, judge } = await house(t)
  const bad = forbidding('alpha').replace('weight: 0.9', 'weight: 9').replace('category: violence', 'category: greed')
  const { status, body } = await put(bad)
  t.equal(status, 400)
  t.match(body, { error: 'validation_error', details: { field: 'source', reason: 'invalid_format' } })
  const line = bad.split('\n').findIndex((one) => one.includes('weight')) + 1
  t.match(body.problems, [
    { line, column: /^\d+$/, path: 'rules[0].category', message: /one of/ },
    { line, path: 'rules[0].weight', message: /<= 1/ }
  ])
  t.ok(body.problems[0].accepted.includes('violence'))
  t.match(await put('name: ['), { status: 400, body: { problems: [{ line: 1 }] } })
  t.match(await put(forbidding('x', { name: 'other' })), {
    status: 400,
    body: { problems: [{ line: 1, column: 7, path: 'name' }] }
  })
  t.match(await put('x'.repeat(2 ** 20)), { status: 413 })
  t.match(await put(''), { status: 400, body: { details: { field: 'source', reason: 'empty' } } })
  t.match(await put(forbidding('x'), { notes: 'x' }), {
    status: 400,
    body: { details: { field: 'notes', reason: 'unknown_field' } }
  })
  t.match(await put(forbidding('x'), { note: 'x'.repeat(1001) }), { status: 400, body: { details: { field: 'note' } } })
  t.equal((await get('/default')).body.latest_version, 1)
  t.same(await judge('alpha'), ['forbid', 'default@1'])
})

t.test('compare and set: an activation that expects another version does nothing', async (t) => {
  const { put, activate, judge } = await house(t)
  await put(forbidding('beta'))
  await put(forbidding('gamma'))
  t.match(await activate(3, { if_active: 2 }), { status: 409, body: { error: 'active_changed', active: 1 } })
  t.match(await activate(3, { if_active: null }), { status: 409 })
  t.same(await judge('alpha'), ['forbid', 'default@1'])
  const both = await Promise.all([activate(2, { if_active: 1 }), activate(3, { if_active: 1 })])
  t.same(both.map(({ status }) => status).sort(), [200, 409])
  for (const version of [0, -1, 1.5, '2', null, 2 ** 40]) {
    t.equal((await activate(version as number)).status, 400, `version ${version}`)
  }
  t.match(await activate(9), { status: 404, body: { message: /version 9 of default/ } })
})

t.test('a new name is stored and put in force beside the others', async (t) => {
  const { get, put, activate, opsUrl } = await house(t)
  t.match(await put(forbidding('x', { name: 'strict', version: '20' }), {}, 'strict'), {
    status: 201,
    body: { version: 20 }
  })
  t.match((await get('/strict')).body, { version: null, label: null, latest_version: 20 })
  t.match(await activate(20, { if_active: null }, 'strict'), { status: 200, body: { previous: null } })
  t.match((await get('/strict')).body, { label: 'strict@20', source: /name: strict/ })
  t.match((await call(opsUrl, '/metrics')).body, /policy_info\{name="strict",version="20"\} 1/)
  t.match(await put(forbidding('x', { name: 'Strict' }), {}, 'Strict'), { status: 404 })
})

t.test('who may do what; for other accounts there are no constitutions', async (t) => {
  const { get, write, make, foreign, url, judge } = await house(t)
  const reader = await make(['constitutions:read'])
  const writer = await make(['constitutions:write'])
  const neither = await make(['safety:evaluate'])
  const body = { source: forbidding('beta') }
  for (const at of ['', '/default', '/default/versions', '/default/versions/1', '/default/activations']) {
    t.equal((await get(at, reader)).status, 200, at)
    t.match(await get(at, writer), { status: 403, body: { required: 'constitutions:read' } }, at)
    t.match(await get(at, neither), { status: 403 }, at)
    t.match(await call(url, constitutionsPath + at), { status: 401 }, at)
  }
  for (const [at, method, what] of [
    ['/default', 'PUT', body],
    ['/default/activate', 'POST', { version: 1 }]
  ] as const) {
    t.match(await write(at, what, method, reader), { status: 403, body: { required: 'constitutions:write' } })
    t.match(await call(url, constitutionsPath + at, { method, body: what }), { status: 401 })
    t.ok((await write(at, what, method, writer)).status < 300)
    // A key without the scope learns nothing of what it sends.
    t.match(await write(at, '{', method, neither), { status: 403 })
  }
  const stranger = await foreign()
  t.match(await get('', stranger), { status: 200, body: { constitutions: [] } })
  for (const at of ['/default', '/default/versions', '/default/versions/1', '/default/activations']) {
    t.match(await get(at, stranger), { status: 404 }, at)
  }
  t.match(await write('/default', body, 'PUT', stranger), { status: 404 })
  t.match(await write('/other', { source: forbidding('x', { name: 'other' }) }, 'PUT', stranger), { status: 404 })
  t.match(await write('/default/activate', { version: 2 }, 'POST', stranger), { status: 404 })
  t.same(await judge('alpha'), ['forbid', 'default@1'])
})

t.test('what a key does here takes nothing from its limit', async (t) => {
  const dir = tempDir(t)
  writeFileSync(join(dir, 'default.yaml'), forbidding('alpha'))
  const { get, put, url, key } = await openHouse(t, dir)
  const { body } = await call(url, '/api/v1/ssaas/keys', {
    key,
    body: { name: 'k', scopes: ['*'], rate_limit_per_minute: 1, accept_terms: true }
  })
  for (let i = 0; i < 5; i++) t.equal((await get('/default', body.key)).status, 200)
  t.equal((await put(forbidding('beta'))).status, 201)
  const evaluate = () => call(url, '/api/v1/safety/evaluate', { key: body.key, body: { input_text: 'a' } })
  t.equal((await evaluate()).status, 200)
  t.equal((await evaluate()).status, 429)
  t.equal((await get('/default', body.key)).status, 200)
})

t.test('a stored text that is not fit to judge is not put in force', async (t) => {
  const { activate, beside, judge } = await house(t)
  const row = {
    account: 'default',
    name: 'default',
    declared: '1',
    length: 1,
    origin: 'api' as const,
    note: null,
    createdAt: 0,
    createdBy: null
  }
  await beside(async ({ constitutions }) => {
    // What an older version of the program may have stored, and what was changed in the database.
    const old = forbidding('beta').replace('weight: 0.9', 'wait: 0.9')
    await constitutions.add({ ...row, source: old, digest: digestOf(old) })
    await constitutions.add({ ...row, source: forbidding('gamma'), digest: digestOf(forbidding('delta')) })
  })
  t.match(await activate(2), {
    status: 400,
    body: { details: { field: 'version' }, problems: [{ path: 'rules[0]' }, { path: 'rules[0].wait' }] }
  })
  t.match(await activate(3), { status: 400, body: { problems: [{ message: /digest differs/ }] } })
  t.same(await judge('alpha'), ['forbid', 'default@1'])
})
