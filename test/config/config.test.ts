import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { defaultBudget } from '../../src/base/budget.js'
import { dialectIds } from '../../src/base/settings.js'
import { loadSettings, upstreamSettings, weakenings } from '../../src/config/load.js'
import { FileSchema } from '../../src/config/schema.js'
import { dialects } from '../../src/dialects/index.js'
import { publishedLabels } from '../../src/judges/labels.js'
import { problemsOf } from '../support/config.js'

const fixtures = fileURLToPath(new URL('../fixtures/config/', import.meta.url))
const good = join(fixtures, 'good')

/** The name of every key of a schema, at any depth. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, inner]) =>
    name === 'properties' ? [...Object.keys(inner), ...Object.values(inner).flatMap(keysOf)] : keysOf(inner)
  )
}

t.test('each mistake in a file is named with its place and what would be accepted, and nothing else is', async (t) => {
  const folder = join(fixtures, 'bad')
  for (const file of readdirSync(folder)) {
    const expected = /^# expect: (.+)$/m.exec(readFileSync(join(folder, file), 'utf8'))?.[1]
    const found = problemsOf(() => loadSettings({ env: {}, cwd: folder, file }))
    t.equal(
      found.replaceAll(`${file}:`, ''),
      expected?.replace('<dialects>', dialectIds.join(', ')),
      basename(file, '.yaml')
    )
    t.notMatch(found, /canary/, 'values, which may be secrets, are not repeated')
  }
  t.equal(
    problemsOf(() => loadSettings({ env: {}, cwd: folder, file: 'no.yaml' })),
    'no.yaml: cannot be read (ENOENT)'
  )
})

t.test('without any setting the defaults of the contract hold, and the shipped file says the same', async (t) => {
  const cwd = t.testdir({ 'empty.yaml': '' })
  const settings = loadSettings({ env: {}, cwd, file: 'empty.yaml' })
  t.match(settings, {
    server: {
      host: '127.0.0.1',
      port: 8080,
      trustedProxies: [],
      bodyLimit: 1_048_576,
      tls: undefined,
      writeTimeoutMs: 60_000
    },
    ops: { host: '127.0.0.1', port: 9464 },
    storage: { url: `sqlite:${join(cwd, 'data/sluicegate.db')}`, staleKeysMs: 60_000, spoolBytes: 268_435_456 },
    dataDir: join(cwd, 'data'),
    dataKey: undefined,
    bootstrapKey: undefined,
    docsUrl: '/docs',
    tracing: { endpoint: undefined, ratio: 1, fromClient: 'ignore', toUpstream: 'client' },
    demo: true,
    limits: {
      livePerMinute: 100,
      testPerMinute: 20,
      failedAuthPerAddressPerMinute: 100,
      concurrentPerKey: 64,
      remembersTexts: true,
      request: defaultBudget
    },
    review: {
      expiryMs: 86_400_000,
      allowOwn: true,
      twoPerson: false,
      claimMs: 600_000,
      holdMs: 0,
      retentionMs: 2_592_000_000,
      maxOpen: { key: 500, account: 5_000, total: 10_000, bytes: 1_073_741_824 },
      webhook: undefined
    },
    notices: {
      webhook: undefined,
      email: undefined,
      everyMs: 30_000,
      remindMs: 86_400_000,
      reviewsWaiting: { count: 50, ageMs: 14_400_000 },
      deadLetters: 1,
      storageDownMs: 60_000,
      stops: { windowMs: 3_600_000, factor: 3, difference: 0.05, least: 100 },
      keysExpiringMs: 604_800_000,
      failing: true
    },
    audit: { required: false, retentionMs: 31_536_000_000, decisions: 'all' },
    samples: { what: 'off', share: 0.01, rows: 10_000, bytes: 268_435_456, retentionMs: 2_592_000_000 },
    signIn: {
      idleMs: 1_800_000,
      absoluteMs: 43_200_000,
      confirmMs: 600_000,
      publicUrl: undefined,
      oidc: undefined
    },
    workers: 1
  })
  t.same(settings.upstreams, {})
  t.same(
    settings.routes.map(({ path }) => path),
    Object.values(dialects)
      .flat()
      .flatMap(({ paths }) => paths),
    'every published path of every dialect'
  )
  t.same(settings.routes.slice(0, 1), [
    {
      id: '/v1/chat/completions',
      method: 'POST',
      path: '/v1/chat/completions',
      upstreamPath: '/v1/chat/completions',
      dialect: 'openai-chat',
      upstream: 'default',
      match: undefined,
      mode: 'enforce',
      respond: 'error',
      output: 'window',
      divert: 'queue',
      onFailure: 'closed',
      unscannable: 'deny',
      redact: [],
      constitution: 'default',
      constitutionGiven: false,
      hold: { bytes: 1_048_576, ms: 2000 },
      callerContext: ['topic', 'platform'],
      bodyLimit: 1_048_576
    }
  ])
  const shipped = loadSettings({ env: {}, cwd })
  t.equal(basename(shipped.file ?? ''), 'gateway.yaml', 'the shipped file is found from any working directory')
  t.same({ ...shipped, file: undefined }, { ...settings, file: undefined })
  t.ok(readFileSync(shipped.constitutions['default'] ?? '', 'utf8'), 'the shipped constitution is found')
  const nothing = loadSettings({ env: {}, cwd: good, file: 'nothing.yaml' })
  t.same(nothing.routes, settings.routes, 'an empty section is one left out')
})

t.test('the shipped file shows every key, and its commented examples are valid', async (t) => {
  const { file } = loadSettings({ env: {}, cwd: '/' })
  // An example is a comment of one space and a key, or of a deeper line below one.
  const text = readFileSync(file ?? '', 'utf8').replace(
    /^( *)# (?=(?: {2,}|- )*[a-z_]+:(?: |$)|(?: {2})*- path:)/gm,
    '$1'
  )
  const shown = parse(text)
  t.same(Object.keys(shown), Object.keys(FileSchema.properties))
  for (const key of keysOf(FileSchema)) t.match(text, new RegExp(`\\b${key}:`), key)
  const cwd = t.testdir({ 'all.yaml': text, constitutions: { 'strict.yaml': '' } })
  const problems = problemsOf(() => loadSettings({ env: {}, cwd, file: 'all.yaml' }))
  const reasons = problems.split('\n').map((line) => line.replace(/^all\.yaml:\d+:\d+ /, ''))
  t.same(
    reasons.filter((reason) => !/PEM|tls|cannot be read/.test(reason)).sort(),
    [1, 2].map((route) => `routes[${route}].upstream: names an upstream that does not exist (default)`),
    'the examples fail only for files and upstreams that are not there'
  )
})

t.test('every key of a file takes effect, with variables substituted', async (t) => {
  const env = { TEST_PORT: '9001', TEST_KEY: 'a-b', TEST_CONNECTIONS: '7', TEST_OWN: '', SLUICEGATE_NODE: 'n-1' }
  const settings = loadSettings({ env, cwd: '/', file: join(good, 'whole.yaml') })
  const certificate = readFileSync(join(fixtures, 'tls/test.crt'), 'utf8')
  const key = readFileSync(join(fixtures, 'tls/test.key'), 'utf8')
  const judge = {
    thresholds: { unsafe: 0.5, safe: 0.2 },
    timeoutMs: 2000,
    maxConcurrent: 8,
    maxChars: 16_000,
    cache: { size: 1000, ttlMs: 600_000 },
    breaker: { failures: 5, openMs: 30_000 }
  }
  const common = {
    method: 'POST',
    dialect: 'openai-chat',
    onFailure: 'open',
    unscannable: 'review',
    respond: 'message'
  }
  t.same(
    { ...settings, constitutions: settings.constitutions['strict'] },
    {
      file: join(good, 'whole.yaml'),
      unknownVariables: [],
      server: {
        host: '0.0.0.0',
        port: 9001,
        trustedProxies: ['10.0.0.0/8', '::1', '2001:db8::/32'],
        bodyLimit: 65_536,
        drainDelayMs: 3000,
        plainHttpSignIn: ['192.168.7.0/24', 'fd00::/8', '10.0.0.7'],
        dashboardUpstreams: true,
        termsUrl: '/terms',
        writeTimeoutMs: 30_000,
        tls: { cert: certificate, key, hstsMs: 2_592_000_000 }
      },
      ops: { host: '::1', port: 0 },
      redis: { url: 'rediss://:a-b@cache:6380/2', prefix: 'gate-1:' },
      storage: { url: `sqlite:${join(good, 'keys.db')}`, staleKeysMs: 0, spoolBytes: 268_435_456 },
      node: 'n-1',
      dataDir: '/data',
      dataKey: undefined,
      bootstrapKey: undefined,
      docsUrl: 'https://docs.example/api',
      upstreams: {
        default: {
          name: 'default',
          url: 'https://models.example/v1',
          key: 'a-b-suffix',
          auth: 'x-api-key',
          connectTimeoutMs: 500,
          firstByteTimeoutMs: 30_000,
          idleTimeoutMs: 10_000,
          totalTimeoutMs: 600_000,
          maxConnections: 7,
          queueTimeoutMs: 2000,
          tls: { ca: certificate, cert: certificate, key },
          fallback: ['other']
        },
        other: upstreamSettings('other', 'http://127.0.0.1:11434'),
        bedrock: {
          ...upstreamSettings('bedrock', 'https://bedrock-runtime.eu-west-1.amazonaws.com'),
          auth: 'aws',
          aws: { region: 'eu-west-1', service: 'bedrock-mantle', profile: 'gateway', instanceMetadata: true }
        }
      },
      givenUpstreams: ['default', 'other', 'bedrock'],
      demo: false,
      routes: [
        {
          ...common,
          id: '/v1/chat/completions@default',
          path: '/v1/chat/completions',
          upstreamPath: '/v1/chat/completions',
          upstream: 'default',
          match: { model: ['gpt-*'] },
          mode: 'enforce',
          output: 'full',
          divert: { upstream: 'other' },
          redact: ['personal_data'],
          constitution: 'strict',
          constitutionGiven: true,
          hold: { bytes: 1_048_576, ms: 2000 },
          callerContext: ['tenant'],
          bodyLimit: 2_097_152
        },
        {
          ...common,
          id: '/v1/chat/completions@other',
          path: '/v1/chat/completions',
          upstreamPath: '/v1/chat/completions',
          upstream: 'other',
          match: undefined,
          mode: 'observe',
          output: 'full',
          divert: 'queue',
          redact: ['personal_data'],
          constitution: 'default',
          constitutionGiven: true,
          hold: { bytes: 1_048_576, ms: 2000 },
          callerContext: ['tenant'],
          bodyLimit: 65_536
        },
        {
          ...common,
          id: '/b/chat',
          path: '/b/chat',
          upstreamPath: '/v1/chat/completions',
          upstream: 'default',
          match: undefined,
          mode: 'observe',
          output: 'off',
          divert: { upstream: 'other' },
          redact: ['secrets'],
          constitution: 'strict',
          constitutionGiven: true,
          hold: { bytes: 1_048_576, ms: 2000 },
          callerContext: [],
          bodyLimit: 65_536
        }
      ],
      limits: {
        livePerMinute: 1000,
        testPerMinute: 2,
        failedAuthPerAddressPerMinute: 3,
        concurrentPerKey: 8,
        remembersTexts: false,
        request: { nodes: 2000, parts: 3000, units: 400_000, views: 500_000, findings: 6_000 }
      },
      files: {
        processes: 2,
        queue: 64,
        deadlineMs: 3000,
        memoryBytes: 268_435_456,
        fileBytes: 8_388_608,
        languages: ['eng', 'deu']
      },
      transcription: {
        baseUrl: 'https://speech.example/v1',
        key: 'a-key',
        model: 'whisper',
        timeoutMs: 9000,
        maxConcurrent: 2,
        queue: 5,
        soundBytes: 1_048_576,
        tls: { ca: undefined, cert: undefined, key: undefined }
      },
      encoder: { use: 'preferred', folder: join(good, 'weights'), threads: 2, queue: 512, deadlineMs: 500 },
      mcp: {
        servers: {
          files: {
            name: 'files',
            upstream: {
              name: 'files',
              url: 'http://127.0.0.1:3001/mcp',
              key: 'a-server-key',
              auth: undefined,
              connectTimeoutMs: 5000,
              firstByteTimeoutMs: 120_000,
              idleTimeoutMs: 60_000,
              totalTimeoutMs: 5000,
              maxConnections: 1024,
              queueTimeoutMs: 10_000,
              tls: { ca: undefined, cert: undefined, key: undefined },
              fallback: []
            },
            route: {
              id: '/mcp/files',
              method: 'POST',
              path: '/mcp/files',
              upstreamPath: '/mcp',
              upstream: 'files',
              match: undefined,
              mode: 'enforce',
              respond: 'error',
              output: 'full',
              divert: 'queue',
              onFailure: 'closed',
              unscannable: 'review',
              constitution: 'strict',
              constitutionGiven: true,
              bodyLimit: 2048,
              hold: { bytes: 1_048_576, ms: 2000 },
              redact: ['personal_data'],
              callerContext: ['tenant']
            },
            headers: { 'x-tenant': 'acme' },
            pin: 'review',
            tools: ['read_*'],
            toolLimits: [
              { glob: 'read_*', perMinute: 5 },
              { glob: '*', perMinute: 9 }
            ],
            require: ['read_only', 'not_destructive'],
            scopes: ['safety:metrics']
          }
        }
      },
      judges: {
        guard: {
          name: 'guard',
          type: 'shieldgemma',
          baseUrl: 'https://guard.example/v1',
          key: 'a-b-guard',
          model: 'google/shieldgemma-2b',
          labels: { ...publishedLabels.shieldgemma, harassment: ['harassment', 'hate'], fraud: ['illicit'] },
          thresholds: { unsafe: 0.7, safe: 0.1 },
          timeoutMs: 500,
          maxConcurrent: 2,
          maxChars: 4000,
          cache: { size: 0, ttlMs: 60_000 },
          breaker: { failures: 2, openMs: 5000 },
          tls: { ca: certificate, cert: certificate, key },
          guidelines: { fraud: 'no fraud' },
          criteria: 'template',
          sees: false,
          reasoning: 'low'
        },
        granite: {
          ...judge,
          name: 'granite',
          type: 'granite-guardian',
          baseUrl: 'http://127.0.0.1:11434/v1',
          key: undefined,
          model: 'granite',
          labels: publishedLabels['granite-guardian'],
          tls: { ca: undefined, cert: undefined, key: undefined },
          guidelines: {},
          criteria: 'system',
          sees: false,
          reasoning: 'low'
        },
        seeing: {
          ...judge,
          name: 'seeing',
          type: 'llama-guard',
          baseUrl: 'http://127.0.0.1:8003/v1',
          key: undefined,
          model: 'guard-4',
          labels: publishedLabels['llama-guard'],
          tls: { ca: undefined, cert: undefined, key: undefined },
          guidelines: {},
          criteria: 'template',
          sees: true,
          reasoning: 'low'
        },
        reader: {
          ...judge,
          name: 'reader',
          type: 'gpt-oss-safeguard',
          timeoutMs: 15_000,
          baseUrl: 'http://127.0.0.1:8002/v1',
          key: undefined,
          model: 'safeguard',
          labels: publishedLabels['gpt-oss-safeguard'],
          tls: { ca: undefined, cert: undefined, key: undefined },
          guidelines: {},
          criteria: 'template',
          sees: false,
          reasoning: 'high'
        },
        local: {
          ...judge,
          name: 'local',
          type: 'onnx',
          model: join(good, 'whole.yaml'),
          tokenizer: join(good, 'nothing.yaml'),
          outputs: ['benign', 'attack'],
          labels: { attack: ['jailbreak', 'prompt_injection'] },
          activation: 'sigmoid',
          maxTokens: 256,
          overlap: 32
        }
      },
      review: {
        expiryMs: 604_800_000,
        allowOwn: true,
        allowOwnByDemo: false,
        twoPerson: true,
        claimMs: 300_000,
        holdMs: 30_000,
        retentionMs: 86_400_000,
        maxOpen: { key: 30, account: 40, total: 50, bytes: 2_097_152 },
        webhook: { url: 'https://hooks.example/services/T0/B0?x=1', secret: 'a-b-0123456789abc', format: 'slack' }
      },
      notices: {
        webhook: { url: 'https://hooks.example/alerts', secret: 'a-b-0123456789abc', format: 'json' },
        email: {
          host: 'mail.example',
          port: 465,
          tls: 'implicit',
          ca: certificate,
          login: { user: 'gate', password: 'a-b' },
          from: 'gate@example.org',
          to: ['ops@example.org', "o'hara+night@mail.example.org"]
        },
        everyMs: 5000,
        remindMs: 3_600_000,
        reviewsWaiting: undefined,
        deadLetters: 5,
        storageDownMs: 120_000,
        stops: { windowMs: 1_200_000, factor: 2.5, difference: 0.05, least: 20 },
        keysExpiringMs: undefined,
        failing: false
      },
      audit: { required: true, retentionMs: 2_592_000_000, decisions: 'stopped' },
      samples: { what: 'share', share: 0.5, rows: 7, bytes: 2_097_152, retentionMs: 259_200_000 },
      signIn: {
        idleMs: 600_000,
        absoluteMs: 28_800_000,
        confirmMs: 60_000,
        publicUrl: 'https://gate.example',
        oidc: {
          issuer: 'http://127.0.0.1:4000',
          clientId: 'gate',
          clientSecret: 'a-b',
          redirectUri: 'https://gate.example/api/v1/auth/oidc/callback',
          scope: 'openid groups',
          roleClaim: 'roles',
          roles: { admin: ['root'], reviewer: ['mod'], viewer: ['staff'] },
          samples: ['trust'],
          defaultRole: 'viewer'
        }
      },
      tracing: {
        endpoint: 'https://collector.example/otlp/v1/traces',
        headers: { authorization: 'Bearer a-b' },
        attributes: {},
        serviceName: 'gate',
        ratio: 0.25,
        fromClient: 'continue',
        toUpstream: 'own'
      },
      constitutions: join(good, 'strict.yaml'),
      workers: 1
    }
  )
  t.same(
    weakenings(settings).map((weakening) => weakening.replace(/ \(.*/, '')),
    [
      'route /v1/chat/completions@default: on_failure open',
      'route /v1/chat/completions@default: divert to the upstream other',
      'route /v1/chat/completions@other: mode observe',
      'route /v1/chat/completions@other: on_failure open',
      'route /b/chat: mode observe',
      'route /b/chat: output off',
      'route /b/chat: on_failure open',
      'route /b/chat: divert to the upstream other',
      'review.allow_own: a key may decide the reviews that it caused',
      'server.plain_http_sign_in 192.168.7.0/24: passwords and sign-ins travel in the clear',
      'server.plain_http_sign_in fd00::/8: passwords and sign-ins travel in the clear',
      'server.plain_http_sign_in 10.0.0.7: passwords and sign-ins travel in the clear'
    ]
  )
})

t.test('a variable adds no key, whatever it holds', async (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
  const cwd = t.testdir({ 'a.yaml': 'docs_url: ${DOCS}\nserver:\n  host: "${HOST:-::1}"\n' })
  const load = (DOCS: string) => () => loadSettings({ env: { DOCS }, cwd, file: 'a.yaml' })
  t.match(problemsOf(load('/docs\nreview: { allow_own: true }')), /docs_url: is not valid/)
  t.match(problemsOf(load('{ a: 1 }')), /docs_url: is not valid/)
  t.match(load('/d')(), { docsUrl: '/d', server: { host: '::1' } })
})

t.test('settings cannot be changed', async (t) => {
  const settings = loadSettings({ env: {}, cwd: '/', file: join(good, 'nothing.yaml') })
  t.throws(() => Object.assign(settings, { demo: false }), TypeError)
  t.throws(() => Object.assign(settings.routes[0] as object, { mode: 'observe' }), TypeError)
  t.throws(() => (settings.routes[0]!.callerContext as string[]).push('x'), TypeError)
})
