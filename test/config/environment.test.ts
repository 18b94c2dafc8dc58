import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Settings } from '../../src/base/settings.js'
import { isAddressOrCidr, isHttpPrefix, parseDuration, parseSize } from '../../src/base/units.js'
import { fingerprintOf, loadSettings, restartKeys, watchSettings } from '../../src/config/load.js'
import { problemsOf } from '../support/config.js'

t.test('the environment comes before the file, that before the defaults, and an empty variable is unset', async (t) => {
  const cwd = t.testdir({
    'a.yaml':
      'server: { port: 1111, host: 10.0.0.1 }\nupstreams:\n  default: { url: "http://file", key: from-file, idle_timeout: 9s }\n',
    'b.yaml': 'server: { port: 2222 }\nreview: { allow_own: false }\n',
    secret: 'from-secret-file\n',
    empty: '\n'
  })
  const load = (env: NodeJS.ProcessEnv, file?: string) =>
    loadSettings({ env, cwd, ...(file === undefined ? {} : { file }) })
  const file = { SLUICEGATE_CONFIG: 'a.yaml' }
  t.match(load(file), {
    server: { port: 1111, host: '10.0.0.1' },
    upstreams: { default: { url: 'http://file' } },
    demo: false,
    review: { allowOwn: false }
  })
  t.match(load({ ...file, SLUICEGATE_PORT: '3333', SLUICEGATE_HOST: '' }), {
    server: { port: 3333, host: '10.0.0.1' }
  })
  t.match(
    load(file, 'b.yaml'),
    { server: { port: 2222 }, demo: true, review: { allowOwn: false } },
    'an argument comes before SLUICEGATE_CONFIG'
  )
  t.match(
    load({ ...file, SLUICEGATE_UPSTREAM: 'http://env/v1', SLUICEGATE_UPSTREAM_AUTH: 'none' }).upstreams['default'],
    {
      url: 'http://env/v1',
      key: 'from-file',
      auth: 'none',
      idleTimeoutMs: 9_000
    }
  )
  const upstream = { SLUICEGATE_UPSTREAM: 'http://env' }
  t.equal(load({ ...upstream, SLUICEGATE_UPSTREAM_KEY_FILE: 'secret' }).upstreams['default']?.key, 'from-secret-file')
  t.match(
    load({
      SLUICEGATE_OPS_HOST: '::1',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_DATA_DIR: 'elsewhere',
      SLUICEGATE_DATA_KEY: Buffer.alloc(32, 7).toString('base64'),
      SLUICEGATE_BOOTSTRAP_KEY_FILE: 'secret',
      SLUICEGATE_WORKERS: '1'
    }),
    {
      ops: { host: '::1', port: 0 },
      dataDir: join(cwd, 'elsewhere'),
      storage: { url: `sqlite:${join(cwd, 'elsewhere/sluicegate.db')}` },
      dataKey: Buffer.alloc(32, 7),
      bootstrapKey: 'from-secret-file'
    }
  )
  for (const [url, resolved] of [
    ['sqlite:x/y.db', `sqlite:${join(cwd, 'x/y.db')}`],
    ['sqlite:///var/z.db', 'sqlite:/var/z.db'],
    ['memory:', 'memory:']
  ] as const) {
    t.equal(load({ SLUICEGATE_DATABASE_URL: url }).storage.url, resolved, url)
  }

  const tracing = (env: NodeJS.ProcessEnv) => load(env).tracing
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }
  t.match(tracing({ ...collector, OTEL_EXPORTER_OTLP_HEADERS: 'a=b%20c, d=e' }), {
    endpoint: 'http://c:4318/v1/traces',
    headers: { a: 'b c', d: 'e' },
    ratio: 1
  })
  t.match(tracing({ ...collector, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x', OTEL_SERVICE_NAME: 's' }), {
    endpoint: 'http://t/x',
    serviceName: 's'
  })
  t.equal(tracing({ OTEL_TRACES_EXPORTER: 'otlp' }).endpoint, 'http://localhost:4318/v1/traces')
  t.equal(tracing({ ...collector, OTEL_TRACES_EXPORTER: 'none' }).endpoint, undefined)
  t.equal(tracing({ ...collector, OTEL_SDK_DISABLED: 'true' }).endpoint, undefined)
  for (const [sampler, argument, ratio] of [
    ['always_off', '', 0],
    ['parentbased_always_on', '0.5', 1],
    ['parentbased_traceidratio', '0.5', 0.5],
    ['traceidratio', '', 1]
  ] as const) {
    t.equal(tracing({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument }).ratio, ratio, sampler)
  }

  const mistakes: [env: NodeJS.ProcessEnv, problem: string][] = [
    [{ SLUICEGATE_PORT: '80a' }, 'SLUICEGATE_PORT: is not valid (a whole number from 0 to 65535)'],
    [{ SLUICEGATE_OPS_PORT: '65536' }, 'SLUICEGATE_OPS_PORT: is not valid (a whole number from 0 to 65535)'],
    [{ SLUICEGATE_HOST: 'a b' }, 'SLUICEGATE_HOST: is not valid (an address or a host name)'],
    [{ SLUICEGATE_DATA_KEY: 'canary' }, 'SLUICEGATE_DATA_KEY: is not valid (32 bytes in base64)'],
    [
      { SLUICEGATE_UPSTREAM: 'canary' },
      'SLUICEGATE_UPSTREAM: is not valid (an http or https URL without credentials, query or fragment; the key goes to SLUICEGATE_UPSTREAM_KEY)'
    ],
    [
      { ...upstream, SLUICEGATE_UPSTREAM_KEY: 'canary\n' },
      'SLUICEGATE_UPSTREAM_KEY: is not valid (visible ASCII, as a header takes it)'
    ],
    [
      { ...upstream, SLUICEGATE_UPSTREAM_AUTH: 'canary' },
      'SLUICEGATE_UPSTREAM_AUTH: is not valid (bearer, x-api-key, x-goog-api-key, api-key, none)'
    ],
    [
      { SLUICEGATE_UPSTREAM_KEY: 'canary' },
      'SLUICEGATE_UPSTREAM_KEY: is set, but no upstream is (set SLUICEGATE_UPSTREAM, or upstreams in the file)'
    ],
    [
      { SLUICEGATE_UPSTREAM_AUTH: 'none' },
      'SLUICEGATE_UPSTREAM_AUTH: is set, but no upstream is (set SLUICEGATE_UPSTREAM, or upstreams in the file)'
    ],
    [
      { SLUICEGATE_DATA_KEY: 'canary', SLUICEGATE_DATA_KEY_FILE: 'secret' },
      'SLUICEGATE_DATA_KEY: is set, and so is SLUICEGATE_DATA_KEY_FILE (set one of them)'
    ],
    [
      { SLUICEGATE_BOOTSTRAP_KEY_FILE: 'nope' },
      'SLUICEGATE_BOOTSTRAP_KEY_FILE: names a file that cannot be read (ENOENT)'
    ],
    [{ SLUICEGATE_BOOTSTRAP_KEY_FILE: 'empty' }, 'SLUICEGATE_BOOTSTRAP_KEY_FILE: names a file that is empty'],
    [
      { SLUICEGATE_DATABASE_URL: 'postgres://u:canary@h/d' },
      'SLUICEGATE_DATA_KEY: is not set, and nodes share a PostgreSQL (32 bytes in base64, the same for all)'
    ],
    [
      { SLUICEGATE_DATABASE_URL_FILE: 'secret' },
      'SLUICEGATE_DATABASE_URL: is not valid (sqlite:<path>, postgres://user:password@host:port/database, or memory: to keep nothing)'
    ],
    [
      { SLUICEGATE_REDIS_URL: 'http://:canary@h' },
      'SLUICEGATE_REDIS_URL: is not valid (redis://user:password@host:port/number, or rediss:// for TLS)'
    ],
    [
      { SLUICEGATE_REDIS_URL_FILE: 'secret' },
      'SLUICEGATE_REDIS_URL: is not valid (redis://user:password@host:port/number, or rediss:// for TLS)'
    ],
    [
      { SLUICEGATE_WORKERS: '2', SLUICEGATE_DATABASE_URL: 'memory:' },
      'SLUICEGATE_WORKERS: is more than 1, and storage.url memory: is one for each process (sqlite:<path>)'
    ],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: is not valid (http/json)'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER: is not valid (otlp, none)'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://u:canary@h' },
      'OTEL_EXPORTER_OTLP_ENDPOINT: is not valid (an http or https URL without credentials, query or fragment)'
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'canary' },
      'OTEL_EXPORTER_OTLP_HEADERS: is not valid (name=value, …, percent-encoded)'
    ],
    [
      { OTEL_TRACES_SAMPLER: 'jaeger_remote' },
      'OTEL_TRACES_SAMPLER: is not valid (always_on, always_off or traceidratio, each also with parentbased_)'
    ],
    [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG: is not valid (0 to 1)'],
    [
      { SLUICEGATE_LOG_LEVEL: 'loud' },
      'SLUICEGATE_LOG_LEVEL: is not valid (trace, debug, info, warn, error, fatal, silent)'
    ],
    [
      { SLUICEGATE_PORT: '9464' },
      'SLUICEGATE_PORT: is the port of ops.port too (one for each listener; 0 takes a free port)'
    ],
    [
      { SLUICEGATE_PORT: '7000', SLUICEGATE_OPS_PORT: '7000', SLUICEGATE_OPS_HOST: '0.0.0.0' },
      'SLUICEGATE_OPS_PORT: is the port of server.port (SLUICEGATE_PORT) too (one for each listener; 0 takes a free port)'
    ],
    [{ SLUICEGATE_WORKERS: '0' }, 'SLUICEGATE_WORKERS: is not valid (auto, or a whole number from 1 to 1024)']
  ]
  for (const [env, problem] of mistakes)
    t.equal(
      problemsOf(() => load(env)),
      `environment ${problem}`
    )
})

t.test(
  'two listeners may have one port on addresses of their own, and a problem of an option has its name',
  async (t) => {
    const cwd = t.testdir({})
    const env = { SLUICEGATE_PORT: '9464', SLUICEGATE_HOST: '10.0.0.1' }
    t.match(loadSettings({ env, cwd }), { server: { port: 9464 }, ops: { port: 9464 } })
    t.match(loadSettings({ env: { SLUICEGATE_PORT: '0', SLUICEGATE_OPS_PORT: '0' }, cwd }), { ops: { port: 0 } })
    const options = { SLUICEGATE_PORT: '--port' }
    t.equal(
      problemsOf(() => loadSettings({ env: { SLUICEGATE_PORT: 'abc' }, cwd, options })),
      'option --port: is not valid (a whole number from 0 to 65535)'
    )
  }
)

t.test('a secret’s file serves where the configuration names the variable', async (t) => {
  const cwd = t.testdir({
    secret: 'k',
    'a.yaml':
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
      'upstreams:\n  default: { url: "http://a" }\n  b: { url: "http://b", key: "${SLUICEGATE_UPSTREAM_KEY}" }\n'
  })
  const settings = loadSettings({ env: { SLUICEGATE_UPSTREAM_KEY_FILE: 'secret' }, cwd, file: 'a.yaml' })
  t.equal(settings.upstreams['b']?.key, 'k')
})

t.test('units are read exactly', async (t) => {
  const table: [read: (text: string) => unknown, text: string, value: unknown][] = [
    ...(['5', '5 s', '-5s', '1.5s', '5S', '', 's', '5w', '1e3s', '1h30m'] as const).map(
      (text) => [parseDuration, text, undefined] as [typeof parseDuration, string, unknown]
    ),
    [parseDuration, '0s', 0],
    [parseDuration, '500ms', 500],
    [parseDuration, '10m', 600_000],
    [parseDuration, '24h', 86_400_000],
    [parseDuration, '7d', 604_800_000],
    [parseSize, '0', 0],
    [parseSize, '1024', 1024],
    [parseSize, '10B', 10],
    [parseSize, '64KiB', 65_536],
    [parseSize, '2GiB', 2_147_483_648],
    [parseSize, '1kb', undefined],
    [parseSize, '1.5MiB', undefined],
    ...(['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', '2001:db8::/32', '::ffff:1.2.3.4'] as const).map(
      (text) => [isAddressOrCidr, text, true] as [typeof isAddressOrCidr, string, unknown]
    ),
    ...(
      [
        '',
        '1',
        'true',
        'loopback',
        '10.0.0',
        '10.0.0.256',
        '010.0.0.1',
        '0x7f000001',
        '10.0.0.0/',
        '10.0.0.0/33',
        '::/129',
        '10.0.0.0/8/8',
        '1.2.3.4/-1',
        'fe80::1%eth0'
      ] as const
    ).map((text) => [isAddressOrCidr, text, false] as [typeof isAddressOrCidr, string, unknown]),
    ...(['http://a', 'https://a:8443/v1', 'http://[::1]:1/x/'] as const).map(
      (text) => [isHttpPrefix, text, true] as [typeof isHttpPrefix, string, unknown]
    ),
    ...(
      [
        'a',
        '//a',
        'file:///etc',
        'http://',
        'http:a',
        'http://u@a',
        'http://:p@a',
        'http://a?b',
        'http://a#b',
        'http://a b',
        'http:\\\\a',
        'unix:/s'
      ] as const
    ).map((text) => [isHttpPrefix, text, false] as [typeof isHttpPrefix, string, unknown])
  ]
  for (const [read, text, value] of table) t.equal(read(text), value, `${read.name} ${JSON.stringify(text)}`)
})

t.test('a reload applies what it can, reports what needs a restart, and a bad file changes nothing', async (t) => {
  const cwd = t.testdir({ 'a.yaml': 'limits: { live_per_minute: 1 }' })
  const file = join(cwd, 'a.yaml')
  const env: NodeJS.ProcessEnv = {}
  const load = () => loadSettings({ env, cwd, file })
  const seen: [limit: number, port: number, restart: readonly string[]][] = []
  const failures: string[] = []
  let refuse = false
  /** The test looks by itself. */
  const never = 2 ** 31 - 1
  const watcher = watchSettings(
    load,
    load(),
    {
      async change(next: Settings, restart) {
        if (refuse) throw new Error('not put in force')
        t.ok(Object.isFrozen(next) && Object.isFrozen(next.server))
        seen.push([next.limits.livePerMinute, next.server.port, restart])
      },
      failure: (error) => failures.push((error as Error).message)
    },
    { lookEveryMs: never }
  )
  t.teardown(() => watcher.close())
  /** A change counts once two looks saw the same. */
  const look = async () => {
    await watcher.look()
    await watcher.look()
  }

  await look()
  t.same(seen, [], 'what did not change is not loaded')
  writeFileSync(file, 'limits: { live_per_minute: 22 }')
  await watcher.look()
  t.same(seen, [], 'a file that is perhaps half written waits for a second look')
  await look()
  t.same(seen.splice(0), [[22, 8080, []]])

  writeFileSync(file, 'limits: { live_per_minute: 333 }\nserver: { port: 1234 }\nops: { host: "::1" }')
  await look()
  t.same(seen.splice(0), [[333, 8080, ['server.port', 'ops.host']]], 'the port stays until a restart')
  writeFileSync(file, 'limits: { live_per_minute: 44 }\nserver: { port: 1234 }\nops: { host: "::1" }\n')
  await look()
  t.same(seen.splice(0), [[44, 8080, ['server.port', 'ops.host']]], 'and is reported as long as it differs')

  writeFileSync(file, 'limits: { live_per_minute: none }')
  await look()
  await look()
  t.same(seen, [])
  t.match(failures.splice(0), ['a.yaml:1:28 limits.live_per_minute: must be a whole number'], 'a mistake is told once')

  const away = join(cwd, 'away.yaml')
  renameSync(file, away)
  await look()
  t.match(failures.splice(0), ['a.yaml: cannot be read (ENOENT)'])
  mkdirSync(join(cwd, 'v2'))
  writeFileSync(join(cwd, 'v2/a.yaml'), 'limits: { live_per_minute: 5 }')
  symlinkSync('v2', join(cwd, 'current'))
  symlinkSync('current/a.yaml', file)
  await look()
  t.same(seen.splice(0), [[5, 8080, []]])
  mkdirSync(join(cwd, 'v3'))
  writeFileSync(join(cwd, 'v3/a.yaml'), 'limits: { live_per_minute: 6 }')
  symlinkSync('v3', join(cwd, 'next'))
  renameSync(join(cwd, 'next'), join(cwd, 'current'))
  await look()
  t.same(seen.splice(0), [[6, 8080, []]], 'a symlink on the way to the file is swapped')

  const before = load()
  writeFileSync(file, 'limits: { live_per_minute: 7 }')
  const late = watchSettings(
    load,
    before,
    {
      change: (next) => void seen.push([next.limits.livePerMinute, next.server.port, []]),
      failure: (error) => failures.push((error as Error).message)
    },
    { lookEveryMs: never }
  )
  await late.look()
  late.close()
  t.same(seen.splice(0), [[7, 8080, []]], 'a change between the first reading and the first look is seen')
  await look()
  t.same(seen.splice(0), [[7, 8080, []]])

  refuse = true
  await watcher.reload()
  t.same(failures.splice(0), ['not put in force'], 'a change that cannot be put in force is a failure too')
  refuse = false
  env['SLUICEGATE_DATA_KEY'] = Buffer.alloc(32).toString('base64')
  process.emit('SIGHUP', 'SIGHUP')
  await watcher.reload()
  t.same(
    seen.splice(0),
    [
      [7, 8080, ['SLUICEGATE_DATA_KEY']],
      [7, 8080, ['SLUICEGATE_DATA_KEY']]
    ],
    'SIGHUP reloads without a change of the file'
  )

  watcher.close()
  process.once('SIGHUP', () => {})
  process.emit('SIGHUP', 'SIGHUP')
  await watcher.reload()
  t.same(seen, [], 'a closed watcher loads nothing')
  t.ok(restartKeys.includes('storage.url'))
})

t.test('files of constitutions are looked at as the configuration is, also those that a reload names', async (t) => {
  const cwd = t.testdir({ 'a.yaml': 'constitutions: { default: one.yaml }', 'one.yaml': '1', 'two.yaml': '2' })
  const file = join(cwd, 'a.yaml')
  const load = () => loadSettings({ env: {}, cwd, file })
  let loads = 0
  const failures: string[] = []
  let refuse = false
  const handlers = {
    change() {
      if (refuse) throw new Error('a faulty constitution')
      loads++
    },
    failure: (error: unknown) => failures.push((error as Error).message)
  }
  const never = { lookEveryMs: 2 ** 31 - 1 }
  const watcher = watchSettings(load, load(), handlers, never)
  t.teardown(() => watcher.close())
  const look = async () => {
    for (let i = 0; i < 4; i++) await watcher.look()
    return [loads, failures.splice(0)]
  }
  t.same(await look(), [0, []])
  writeFileSync(join(cwd, 'one.yaml'), '11')
  await watcher.look()
  t.equal(loads, 0, 'perhaps half written')
  t.same(await look(), [1, []], 'edited')
  refuse = true
  writeFileSync(join(cwd, 'one.yaml'), '111')
  t.same(await look(), [1, ['a faulty constitution']], 'a mistake is told once')
  refuse = false
  writeFileSync(join(cwd, 'one.yaml'), '1111')
  t.same(await look(), [2, []], 'mended')
  writeFileSync(file, 'constitutions: { default: two.yaml }\n')
  t.same(await look(), [3, []], 'another file is named: one reload')
  writeFileSync(join(cwd, 'two.yaml'), '22')
  t.same(await look(), [4, []], 'and it is looked at')
  writeFileSync(join(cwd, 'one.yaml'), '1')
  t.same(await look(), [4, []], 'the one before is not')
  refuse = true
  writeFileSync(file, 'constitutions: { default: one.yaml }\n')
  t.match(await look(), [4, ['a faulty constitution']])
  refuse = false
  writeFileSync(join(cwd, 'one.yaml'), '1 mended')
  t.same(await look(), [5, []], 'a newly named file that was faulty is looked at too')

  const asRead = fingerprintOf(load())
  await asRead
  writeFileSync(join(cwd, 'one.yaml'), 'edited while the process started')
  const late = watchSettings(load, load(), handlers, { ...never, asRead })
  await late.look()
  late.close()
  t.equal(loads, 6)
})

t.test(
  'a variable that nothing reads is named, with the one that was meant; what the file takes is known',
  async (t) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file
    const cwd = t.testdir({ 'gateway.yaml': 'docs_url: "${SLUICEGATE_OF_MINE:-/docs}"\n' })
    const load = (env: NodeJS.ProcessEnv) => loadSettings({ env, cwd, file: 'gateway.yaml' }).unknownVariables
    t.same(
      load({ SLUICEGATE_OF_MINE: '/mine', SLUICEGATE_DATA_KEY_FILE: '', SLUICEGATE_LOG_LEVEL: 'info', OTHER: '1' }),
      []
    )
    t.same(load({ SLUICEGATE_UPSTRAEM: 'http://127.0.0.1:1', SLUICEGATE_COLOUR: 'blue' }), [
      'SLUICEGATE_COLOUR (docs/configuration.md lists them)',
      'SLUICEGATE_UPSTRAEM (did you mean SLUICEGATE_UPSTREAM?)'
    ])
  }
)

t.test('what is wrong in the environment, in the form of the file and in what it says is told at once', async (t) => {
  const cwd = t.testdir({
    'gateway.yaml': [
      'server: { port: 99999, tls: { cert: no.crt, key: no.key } }',
      'upstreams: { default: { url: "http://127.0.0.1:1" } }',
      'routes: [{ path: /v1/chat/completions, dialect: openai-chat, upstream: nowhere }]',
      'sign_in: { oidc: { issuer: https://login.example.com, client_id: x } }',
      'review: { expiry: never }\n'
    ].join('\n')
  })
  const env = { SLUICEGATE_WORKERS: 'many', SLUICEGATE_REDIS_URL: 'http://cache', SLUICEGATE_UPSTREAM_AUTH: 'odd' }
  const told = problemsOf(() => loadSettings({ env, cwd, file: 'gateway.yaml' }))
    .split('\n')
    .map((line) => /^(?:environment|\S+:\d+:\d+) (\S+):/.exec(line)?.[1])
  t.same(told.sort(), [
    'SLUICEGATE_REDIS_URL',
    'SLUICEGATE_UPSTREAM_AUTH',
    'SLUICEGATE_WORKERS',
    'review.expiry',
    'routes[0].upstream',
    'server.port',
    'server.tls.cert',
    'server.tls.key',
    'sign_in.public_url'
  ])
  t.test('what is left out for a mistake of its own makes no others', async (t) => {
    const cwd = t.testdir({
      'gateway.yaml': [
        'upstreams: { one: { url: nothing } }',
        'constitutions: { mine: 5 }',
        'routes:',
        '  - { path: /v1/chat/completions, dialect: openai-chat, upstream: one, match: { model: [], modle: [a] } }',
        '  - { path: /v1/chat/completions, dialect: openai-chat, upstream: one, constitution: mine }\n'
      ].join('\n')
    })
    const load = () => loadSettings({ env: { SLUICEGATE_UPSTREAM_KEY: 'k' }, cwd, file: 'gateway.yaml' })
    t.equal(problemsOf(load).split('\n').length, 4)
  })
  t.test('a mistake in one upstream or route hides none of another, nor a variable that nothing reads', async (t) => {
    const cwd = t.testdir({
      'gateway.yaml': [
        'upstreams: { default: { url: nothing, fallback: [nobody] } }',
        'routes:',
        '  - { path: /v1/chat/completions, dialect: klingon }',
        '  - { path: /v1/messages, dialect: anthropic, respond: shout, upstream: nowhere }',
        '  - { path: /api/chat, dialect: ollama, constitution: none, divert: { upstream: gone } }\n'
      ].join('\n')
    })
    const load = () => loadSettings({ env: { SLUICEGATE_UPSTREM: 'x' }, cwd, file: 'gateway.yaml' })
    const told = problemsOf(load).split('\n')
    t.same(told.map((line) => /^(?:environment|\S+:\d+:\d+) (\S+?):? /.exec(line)?.[1]).sort(), [
      'SLUICEGATE_UPSTREM',
      'routes[0].dialect',
      'routes[1].respond',
      'routes[1].upstream',
      'routes[2].constitution',
      'routes[2].divert.upstream',
      'upstreams.default.fallback[0]',
      'upstreams.default.url'
    ])
    t.match(told.at(-1), /SLUICEGATE_UPSTREM \(did you mean SLUICEGATE_UPSTREAM\?\): is not known, and read by nothing/)
  })
})
