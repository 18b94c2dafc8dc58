/** The OpenAPI document as its readers take it: a linter finds nothing, and a client that is made from it compiles and works. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { serveReal, tempDir } from '../support/gateway.js'
// @ts-expect-error: a script without types
import { folder } from './environment.mjs'

t.setTimeout(600_000)
const packages = (folder as () => string)()
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const missing = process.env['CI'] !== 'true' && !existsSync(packages) && 'no packages: node test/client/environment.mjs'

t.test('the document is linted, compiled and used', { skip: missing }, async (t) => {
  const key = generateKey('live')
  const { url } = await serveReal(t, { yaml: 'storage: { url: "memory:" }\n', env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
  const dir = tempDir(t)
  symlinkSync(join(packages, 'node_modules'), join(dir, 'node_modules'))
  writeFileSync(join(dir, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text())
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
  copyFileSync(here('use.ts'), join(dir, 'use.ts'))

  const run = async (script: string, ...args: string[]) => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: dir,
      // The linter neither counts its users nor looks for a newer one.
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', FORCE_COLOR: '0' },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    return { code, out, errors }
  }
  const bin = (path: string) => join(packages, 'node_modules', path)

  const config = ['--config', here('redocly.yaml')]
  const linted = await run(bin('@redocly/cli/bin/cli.js'), 'lint', 'openapi.json', ...config, '--format=json')
  t.same(JSON.parse(linted.out).problems, [], 'the linter finds nothing')

  const made = await run(bin('openapi-typescript/bin/cli.js'), 'openapi.json', '-o', 'api.d.ts')
  t.equal(made.code, 0, made.errors)
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false']
  const target = ['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2023,dom']
  const compiled = await run(bin('typescript/bin/tsc'), ...strict, ...target, 'use.ts')
  t.equal(compiled.code, 0, compiled.out)

  const used = await run('use.js', url, key)
  t.equal(used.code, 0, used.errors)
  t.same(JSON.parse(used.out), {
    decisions: ['permit', 'depends', 'forbid'],
    again: 'duplicate_request',
    listed: true,
    limited: true,
    scoped: '*',
    rotated: 'retiring',
    twice: 'key_retiring',
    revoked: 'revoked',
    unknown: 'string',
    review: 'pending',
    read: 'pending',
    decided: 'permitted',
    late: 'already_decided',
    trial: 'depends',
    broken: true,
    audit: true,
    wrong: 'empty',
    chat: 1,
    refused: 'content_filter'
  })
})
