import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { openStorage } from '../../src/storage/open.js'
import { source } from '../policy/support.js'
import { built, exitCode, rules, run, workplace } from '../support/cli.js'

t.test('check names everything that would keep the server from starting', async (t) => {
  const place = workplace(t)
  const good = await run(['check'], place)
  t.match(good, { code: 0, stderr: '' })
  t.match(good.stdout, /^ok\nfile .*gateway\.yaml\n.*demo.*constitutions {2}default@1, other@7\nweakened .*allow_own/s)

  writeFileSync(join(place.cwd, 'default.yaml'), source({ rules }).replace('weight: 0.9', 'weight: 9'))
  writeFileSync(join(place.cwd, 'other.yaml'), source({ rules }))
  writeFileSync(
    join(place.cwd, 'c.yaml'),
    'constitutions: { default: default.yaml, other: other.yaml, gone: gone.yaml }'
  )
  const env = { ...place.env, SLUICEGATE_BOOTSTRAP_KEY: 'slg_live_canary' }
  const bad = await run(['check', 'c.yaml'], { ...place, env })
  t.match(bad, { code: 1, stdout: '' })
  t.match(bad.stderr, /^environment SLUICEGATE_BOOTSTRAP_KEY: is not a well-formed key$/m)
  t.match(bad.stderr, /default\.yaml:\d+:\d+ rules\[1\]\.weight: /)
  t.match(bad.stderr, /other\.yaml:1:7 name: is "default", but the constitution belongs under "other"/)
  t.match(bad.stderr, /gone\.yaml constitutions\.gone: cannot be read \(ENOENT\)/)
  t.notMatch(bad.stderr, /canary/)

  writeFileSync(join(place.cwd, 'd.yaml'), 'server: { port: x, prot: 1 }')
  const wrong = await run(['check', 'd.yaml'], place)
  t.match(wrong, { code: 1, stdout: '' })
  t.same(wrong.stderr.match(/^d\.yaml:1:\d+ server\.\w+/gm), ['d.yaml:1:20 server.prot', 'd.yaml:1:17 server.port'])
  const left = 'The constitutions are not checked yet: correct this first.\n'
  t.match(await run(['check', 'no.yaml'], place), { code: 1, stderr: `no.yaml: cannot be read (ENOENT)\n${left}` })
  writeFileSync(join(place.cwd, 'e.yaml'), 'server: { prot: 1 }\nconstitutions: { default: default.yaml }\n')
  const both = await run(['check', 'e.yaml'], place)
  t.match(both.stderr, /^e\.yaml:1:\d+ server\.prot/)
  t.match(both.stderr, /default\.yaml:\d+:\d+ rules\[1\]\.weight: /, 'of the constitutions too, at once')

  writeFileSync(
    join(place.cwd, 'f.yaml'),
    [
      'server: { port: 7000 }',
      'ops: { port: 7000 }',
      'encoder: { use: preferred, folder: nowhere }',
      'files: { languages: [xxx] }',
      'defaults: { unscannable: { image: scan } }\n'
    ].join('\n')
  )
  const { SLUICEGATE_ENCODER, SLUICEGATE_PORT, SLUICEGATE_OPS_PORT, ...plain } = place.env
  const more = await run(['check', 'f.yaml'], { ...place, env: { ...plain, SLUICEGATE_LOG_LEVEL: 'loud' } })
  t.match(more, { code: 1, stdout: '' })
  t.match(more.stderr, /^environment SLUICEGATE_LOG_LEVEL: is not valid \(trace, debug, info/m)
  t.match(more.stderr, /^f\.yaml:2:\d+ ops\.port: is the port of server\.port too/m)
  t.match(more.stderr, /nowhere\/encoder\.json: cannot be read \(ENOENT\)$/m)
  t.match(more.stderr, /packages that are not installed \(.*@tesseract\.js-data\/xxx/)
  const names = { ...place.env, SLUICEGATE_LOG_LEVEL: 'loud' }
  t.match(await run(['serve', '--port', 'abc'], { ...place, env: names }), {
    code: 1,
    stderr: /^option --port: is not valid \(a whole number from 0 to 65535\)$/m
  })
  t.match(await run(['serve', '--port', 'abc'], place), { code: 2, stderr: /^option --port: is not valid/m })
  t.notOk(existsSync(join(place.cwd, 'data')), 'nothing is created')
})

t.test('keys are made, listed, rotated and revoked in the store, and hold in a server beside', async (t) => {
  const place = workplace(t)
  const keys = async (...args: string[]) => {
    const ran = await run(['keys', ...args], place)
    t.same([ran.code, ran.stderr], [0, ''], args.join(' '))
    return ran.stdout
  }
  const made = JSON.parse(
    await keys(
      'create',
      '--name',
      'ci',
      '--scopes',
      'safety:evaluate,safety:metrics',
      '--env',
      'test',
      '--ip',
      '127.0.0.0/8',
      '--ip',
      '::1',
      '--expires',
      '30d',
      '--limit',
      '7',
      '--json'
    )
  )
  t.match(made.key, /^slg_test_[0-9A-Za-z]{8}_[0-9A-Za-z]{48}$/)
  t.match(made.record, {
    name: 'ci',
    environment: 'test',
    scopes: ['safety:evaluate', 'safety:metrics'],
    ip_allowlist: ['127.0.0.0/8', '::1'],
    status: 'active'
  })
  const days = (Date.parse(made.record.expires_at) - Date.parse(made.record.created_at)) / 86_400_000
  t.ok(Math.abs(days - 30) < 0.01)
  const shown = await keys('create', '--name', 'for people')
  const [key = ''] = /slg_live_\w{57}/.exec(shown) ?? []
  const listed = await keys('list')
  t.match(listed, /^KEY_ID .*\nkey_.* slg_test_.* ci .*\nkey_.* slg_live_.* for people /)
  t.notMatch(listed, key.slice(-48), 'the full key is never shown again')
  t.match(await keys('list', '--account', 'another'), /No keys in the account another/)
  const { keys: records } = JSON.parse(await keys('list', '--json'))
  const own = records.find(({ name }: { name: string }) => name === 'for people')

  const server = spawn(process.execPath, [built, 'serve'], { ...place, stdio: 'pipe' })
  t.teardown(() => server.kill('SIGKILL'))
  let said = ''
  let url = ''
  for await (const line of createInterface(server.stdout)) {
    said += line
    if (!line.includes('"msg":"listening"')) continue
    url = JSON.parse(line).url
    break
  }
  server.stdout.resume()
  t.notMatch(said, /slg_/, 'a store with keys gets no first key')
  const status = async (key: string) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const body = JSON.stringify({ input_text: 'Hello' })
    return (await fetch(`${url}/api/v1/safety/evaluate`, { method: 'POST', headers, body })).status
  }
  t.equal(await status(key), 200)
  const rotated = JSON.parse(await keys('rotate', own.key_id, '--json'))
  t.match(rotated, {
    record: { name: 'for people', status: 'active' },
    previous: { status: 'retiring', key_id: own.key_id }
  })
  t.equal(await status(rotated.key), 200, 'the new key works at once')
  t.equal(await status(key), 200, 'the old one has its grace')
  t.match(await run(['keys', 'rotate', own.key_id], place), { code: 1, stdout: '', stderr: /rotated already/ })
  t.match(await keys('revoke', rotated.record.key_id), / revoked /)
  t.match(await run(['keys', 'revoke', rotated.record.key_id, '--account', 'another'], place), {
    code: 1,
    stderr: /no such key/
  })
  server.kill('SIGTERM')
  t.equal(await exitCode(server), 0, 'the server ends in order')
})

t.test(
  'of several processes the one that answers operations says where, and no worker names an empty address',
  async (t) => {
    const place = workplace(t)
    const env = { ...place.env, SLUICEGATE_WORKERS: '2', SLUICEGATE_PORT: '0' }
    const server = spawn(process.execPath, [built, 'serve'], { ...place, env, stdio: 'pipe' })
    t.teardown(() => server.kill('SIGKILL'))
    const lines: Record<string, unknown>[] = []
    let isServing = false
    const workers = () => lines.filter(({ url }) => url !== undefined)
    for await (const line of createInterface(server.stdout)) {
      if (line.includes('"msg":"listening"')) lines.push(JSON.parse(line))
      isServing ||= line.includes('"msg":"workers serve"')
      if (isServing && workers().length === 2) break
    }
    server.stdout.resume()
    t.equal(workers().length, 2)
    t.notOk(workers().some((line) => 'ops' in line))
    server.kill('SIGTERM')
    t.equal(await exitCode(server), 0)
  }
)

t.test('serve says in a sentence why it does not start', async (t) => {
  const place = workplace(t)
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const port = String((taken.address() as AddressInfo).port)
  const table: [env: NodeJS.ProcessEnv, says: RegExp][] = [
    [
      { SLUICEGATE_PORT: port },
      /127\.0\.0\.1:\d+: another process has this port \(EADDRINUSE; server.*SLUICEGATE_PORT\)/
    ],
    [{ SLUICEGATE_PORT: '0', SLUICEGATE_OPS_PORT: port }, /\(EADDRINUSE; ops.*SLUICEGATE_OPS_PORT\)/],
    [{ SLUICEGATE_HOST: '2001:db8::1' }, /Cannot listen on \[2001:db8::1\]:0: /],
    [{ SLUICEGATE_DATA_DIR: process.execPath }, /data folder .* cannot be used \(ENOTDIR\): SLUICEGATE_DATA_DIR/],
    // A folder that takes no other.
    ...(process.platform === 'linux'
      ? ([
          [{ SLUICEGATE_DATA_DIR: '/proc/data' }, /data folder \/proc\/data cannot be used \(ENOENT\)/],
          [
            { SLUICEGATE_DATA_DIR: '/proc/data/deep', SLUICEGATE_DATA_KEY: Buffer.alloc(32).toString('base64') },
            /database \/proc\/data\/deep\/\S+ cannot be opened: ENOENT.*SLUICEGATE_DATABASE_URL.*SLUICEGATE_DATA_DIR/
          ]
        ] as [NodeJS.ProcessEnv, RegExp][])
      : []),
    [{ SLUICEGATE_WORKERS: '0' }, /SLUICEGATE_WORKERS: is not valid/],
    [{ SLUICEGATE_BOOTSTRAP_KEY: 'slg_live_canary' }, /SLUICEGATE_BOOTSTRAP_KEY: is not a key/],
    [{ SLUICEGATE_CONFIG: 'nope.yaml' }, /nope\.yaml: cannot be read \(ENOENT\)/]
  ]
  for (const [env, says] of table) {
    const ran = await run(['serve'], { ...place, env: { ...place.env, ...env } })
    t.equal(ran.code, 1, says.source)
    t.match(ran.stderr, says)
    t.notMatch(ran.stderr, /^\s+at |canary/m)
  }
  const own = join(place.cwd, 'taken')
  const env = { ...place.env, SLUICEGATE_DATA_DIR: own, SLUICEGATE_PORT: port }
  t.equal((await run(['serve'], { ...place, env })).code, 1)
  const store = await openStorage({ url: `sqlite:${join(own, 'sluicegate.db')}` })
  const rows = await store.audit.read({ limit: 50 })
  await store.close()
  const kinds = rows.map(({ kind }) => kind)
  t.ok(kinds.includes('process.started') && kinds.includes('process.stopped'), 'a taken port is no killed process')
})
