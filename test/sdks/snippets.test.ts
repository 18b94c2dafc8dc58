/** The programs that the first steps hand out run as they are copied: in JavaScript and curl, before any backend is connected. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { type Sdk, sdks } from '../../src/dashboard/first-steps/snippets.js'
import { build } from '../support/gateway.js'

const run = promisify(execFile)

t.test('every snippet gets an answer of the demo backend, or a verdict', { timeout: 600_000 }, async (t) => {
  const { url: base, key } = await build(t)
  // Where the packages of this project are found.
  const cache = join(process.cwd(), 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'snippets-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  let ran = 0
  for (const [id, sdk] of Object.entries<Sdk>(sdks)) {
    const { javascript, curl, python } = sdk.snippets
    const place = { base, key, model: 'demo' }
    const expected = id === 'evaluate' ? /permit/ : /built-in demo backend.*kill a Python process/
    if (javascript !== undefined) {
      const file = join(dir, `${id}.mjs`)
      writeFileSync(file, javascript(place))
      t.match((await run(process.execPath, [file])).stdout, expected, `${sdk.label}, JavaScript`)
      ran++
    }
    if (curl !== undefined) {
      t.match((await run('bash', ['-c', curl(place)])).stdout, expected, `${sdk.label}, curl`)
      ran++
    }
    if (python !== undefined) {
      const file = join(dir, `${id}.py`)
      writeFileSync(file, python(place))
      const compiled = await run('python3', ['-m', 'py_compile', file]).then(
        () => true,
        (error) => error.code === 'ENOENT'
      )
      t.ok(compiled, `${sdk.label}, Python is read; test/python runs these packages`)
    }
  }
  t.equal(ran, 20)
})
