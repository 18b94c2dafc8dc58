import { readFileSync } from 'node:fs'
import t from 'tap'
import { errorTable } from '../../src/base/errors.js'
import { denialTable, queueFull } from '../../src/dialects/denial.js'
import { build, call } from '../support/gateway.js'

/** Of errors, and of verdicts on chat routes. */
const statusOf = new Map<string, number>([
  ...Object.entries(errorTable).map(([code, { status }]) => [code, status] as const),
  ...[...Object.values(denialTable), queueFull].map(({ code, status }) => [code, status] as const)
])

const table = Object.entries(errorTable).map(([code, { status }]) => `${status} ${code}`)

/** A health check has no error; nginx takes nothing but 401 and 403, whatever the reason, which stands in a header. */
const saysItsOwn = new Set(['/readyz', '/guards/auth-request'])

t.test('docs/api.md lists every error code with its status, and no other', async (t) => {
  const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
  const section = page.slice(page.indexOf('## 2. Errors'), page.indexOf('## 3. Keys'))
  const listed = [...section.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map((row) => `${row[1]} ${row[2]}`)
  t.same(listed.toSorted(), table.toSorted())
})

t.test('the OpenAPI document names codes of the table alone, each under its status', async (t) => {
  const { url } = await build(t)
  const { body } = await call(url, '/openapi.json')
  let seen = 0
  for (const [path, operations] of Object.entries<
    Record<string, { responses: Record<string, { description: string }> }>
  >(body.paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      for (const [status, { description }] of Object.entries(responses)) {
        if (!(Number(status) >= 400) || saysItsOwn.has(path)) continue
        for (const code of description.split(', ')) {
          seen++
          t.equal(statusOf.get(code), Number(status), `${method} ${path}: ${status} ${code}`)
        }
      }
    }
  }
  t.ok(seen > 40)
})

t.test('what a route answers to a query that it does not know is in the OpenAPI document', async (t) => {
  const { url, key } = await build(t)
  const { body } = await call(url, '/openapi.json')
  for (const [path, { get }] of Object.entries<Record<string, { responses: object }>>(body.paths)) {
    if (get === undefined) continue
    const { status } = await call(url, `${path.replaceAll(/\{\w+\}/g, 'x')}?no_such_query=1`, { key })
    t.ok(status in get.responses, `${path}: ${status}`)
  }
  const { responses } = body.paths['/guards/auth-request'].get
  t.same(Object.keys(responses), ['204', '401', '403'])
  for (const status of ['401', '403']) {
    const { content, headers } = responses[status]
    t.same(content['application/json'].schema, { $ref: '#/components/schemas/AuthRequestError' })
    t.ok('x-safety-code' in headers)
  }
})

t.test('what every route with a key refuses is in the OpenAPI document', async (t) => {
  const { url } = await build(t)
  const { body } = await call(url, '/openapi.json')
  for (const [path, operations] of Object.entries<Record<string, { responses: object; security?: unknown[] }>>(
    body.paths
  )) {
    if (saysItsOwn.has(path)) continue
    for (const [method, { responses, security }] of Object.entries(operations)) {
      const statuses = [
        ...(security?.length === 0 ? [] : [401, 403]),
        ...(['post', 'put', 'patch'].includes(method) ? [400, 413, 415] : [])
      ]
      for (const status of statuses) t.ok(status in responses, `${method} ${path}: ${status}`)
    }
  }
})
