import { readFileSync } from 'node:fs'
import t from 'tap'
import { type ErrorCode, errorTable } from '../src/errors.js'
import { build, call } from './support/gateway.js'

const table = Object.entries(errorTable).map(([code, { status }]) => `${status} ${code}`)

/** A health check has no error; nginx takes nothing but 401 and 403, whatever the reason, which stands in a header. */
const saysItsOwn = new Set(['/readyz', '/guards/auth-request'])

t.test('the README lists every error code with its status, and no other', async (t) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const section = readme.slice(readme.indexOf('### Errors'), readme.indexOf('## Keys and scopes'))
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
        if (Number(status) < 400 || saysItsOwn.has(path)) continue
        for (const code of description.split(', ')) {
          seen++
          t.equal(errorTable[code as ErrorCode]?.status, Number(status), `${method} ${path}: ${status} ${code}`)
        }
      }
    }
  }
  t.ok(seen > 40)
})
