/**
 * Loads the configuration: environment over file over defaults, checked completely and compiled once into frozen
 * `Settings`. No later code reads a variable, parses a unit or chooses a default. docs/configuration.md.
 */
import { existsSync } from 'node:fs'
import { availableParallelism, hostname } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { defaultBudget } from '../base/budget.js'
import type { Settings } from '../base/settings.js'
import { checkTexts, type TextsSource } from '../base/texts.js'
import { isLoopbackHost, parseDuration, parseSize } from '../base/units.js'
import { checkFile, type SchemaProblem, withoutFaults } from './check.js'
import { compileEncoder } from './encoder.js'
import { type Environment, readEnvironment, unknownVariables } from './env.js'
import { type ConfigFile, readConfigFile } from './file.js'
import { compileFiles, compileTranscription } from './files.js'
import { compileJudges } from './judges.js'
import { checkPorts } from './listeners.js'
import { compileMcp } from './mcp.js'
import { compileNotices } from './notices.js'
import { compileAudit, compileReview, compileSamples, compileSignIn } from './people.js'
import type { Fail } from './problem.js'
import { ConfigError, type Problem, type Rest, showPath } from './problem.js'
import { checkNames, checkReferences, compileRoutes } from './routes.js'
import type { FileConfig } from './schema.js'
import { shipped, shippedConstitutions } from './shipped.js'
import { compileTracing } from './tracing.js'
import { compileUpstreams, readTls } from './upstreams.js'

export { isShipped, shippedConstitutions } from './shipped.js'
export { upstreamSettings } from './upstreams.js'
export { fingerprintOf, restartKeys, type Watcher, type WatchHandlers, watchSettings } from './watch.js'
export { weakenings } from './weakenings.js'

export interface LoadOptions {
  env: NodeJS.ProcessEnv
  /** Base of relative paths in variables and in `file`. */
  cwd: string
  /** Over `SLUICEGATE_CONFIG`. */
  file?: string
  /** Options of a command that stand in variables of `env`, by variable: a problem of one is told under its own name. */
  options?: Readonly<Record<string, string>>
}

/** @throws ConfigError with every problem found */
export function loadSettings({ options = {}, ...rest }: LoadOptions): Settings {
  try {
    return load(rest)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const problems = error.problems.map((problem) => {
      const option = problem.source === 'environment' ? options[problem.path] : undefined
      return option === undefined ? problem : { ...problem, source: 'option', path: option }
    })
    throw new ConfigError(problems, error.rest)
  }
}

function load({ env, cwd, file: asked }: Omit<LoadOptions, 'options'>): Settings {
  const problems: Problem[] = []
  const environment = readEnvironment(env, cwd, problems)
  const chosen = asked ?? environment.config
  const path = chosen === undefined ? join(shipped, 'gateway.yaml') : resolve(cwd, chosen)
  // Only the shipped file may be absent, in packages without it: then only the defaults count.
  const file = chosen === undefined && !existsSync(path) ? undefined : path

  const source = file === undefined ? nothing : readFile(file, cwd, environment, problems)
  const faults = checkFile(source.value)
  for (const fault of faults) problems.push(source.problem(fault.path, fault.reason, fault.atKey))
  const { texts } = source.value as { texts?: unknown }
  if (texts !== undefined) {
    checkTexts(texts, (path, reason, more) => problems.push(source.problem(['texts', ...path], reason, more?.atKey)))
  }
  const misnamed = () => (source === nothing && file !== undefined ? [] : misnamedVariables(env, environment))
  if (problems.length > 0) {
    const { further, rest } = furtherProblems(source, faults, { environment, file, cwd }, problems)
    throw new ConfigError([...problems, ...further, ...misnamed()], rest)
  }
  const config = source.value as FileConfig
  const fail: Fail = (at, reason) => problems.push(source.problem(at, reason))
  const settings = {
    ...compile(config, { environment, file, cwd, fail, problems }),
    unknownVariables: unknownVariables(env, environment.read)
  }
  if (problems.length > 0) throw new ConfigError([...problems, ...misnamed()], settings)
  return deepFreeze(settings)
}

/** An unknown variable alone does not stop the start, but may explain another problem. */
function misnamedVariables(env: NodeJS.ProcessEnv, { read }: Environment): Problem[] {
  return unknownVariables(env, read).map((path) => ({
    source: 'environment',
    path,
    reason: 'is not known, and read by nothing'
  }))
}

/** Mismatches with the schema cannot be compiled; the rest is still checked, to report all problems together. */
function furtherProblems(
  source: ConfigFile,
  faults: readonly SchemaProblem[],
  at: Pick<Compilation, 'environment' | 'file' | 'cwd'>,
  told: readonly Problem[]
): { further: Problem[]; rest: Rest | undefined } {
  const { value, isCut } = withoutFaults(source.value, faults)
  // An unreadable file has only that problem.
  const isUnread = source === nothing && at.file !== undefined
  const found: Problem[] = []
  const fail: Fail = (path, reason) => found.push(source.problem(path, reason))
  let rest: Rest | undefined
  try {
    const settings = compile(value as FileConfig, { ...at, fail, problems: found })
    if (!isUnread) rest = settings
  } catch {
    // A dropped part was needed: the problems found so far count.
  }
  // Problems that follow from a dropped upstream or an already reported variable are left out.
  const follows = ({ source, path }: Problem) =>
    told.some((one) => one.path === path && one.source === source) ||
    // A wrong name may be a misspelling of the missing one.
    (path === 'upstreams' && told.some((one) => one.path.startsWith('upstreams.'))) ||
    (path.startsWith('SLUICEGATE_UPSTREAM') &&
      (isCut || isUnread || told.some((one) => one.path.startsWith('SLUICEGATE_UPSTREAM'))))
  return { further: found.filter((problem) => !follows(problem)), rest }
}

const nothing: ConfigFile = {
  value: {},
  problem: (path, reason) => ({ source: 'defaults', path: showPath(path), reason })
}

function readFile(file: string, cwd: string, environment: Environment, problems: Problem[]): ConfigFile {
  const inside = relative(cwd, file)
  const shown = inside.startsWith('..') || isAbsolute(inside) ? file : inside
  try {
    return readConfigFile(file, shown, environment.lookup)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems)
    return nothing
  }
}

interface Compilation {
  environment: Environment
  file: string | undefined
  cwd: string
  fail: Fail
  problems: Problem[]
}

function compile(
  config: FileConfig,
  { environment, file, cwd, fail, problems }: Compilation
): Omit<Settings, 'unknownVariables'> {
  const folder = file === undefined ? cwd : dirname(file)
  const { server = {}, ops = {}, storage = {}, limits = {} } = config
  const failVariable = (path: string, reason: string) => problems.push({ source: 'environment', path, reason })

  const bodyLimit = parseSize(server.body_limit ?? '1MiB') as number
  const { hsts = '365d', ...pems } = server.tls ?? {}
  const tls = server.tls === undefined ? undefined : readTls(pems, folder, ['server', 'tls'], fail)
  const upstreams = compileUpstreams(config, environment, folder, fail)
  const demo = Object.keys(upstreams).length === 0
  if (demo && (environment.upstreamKey ?? environment.upstreamAuth) !== undefined) {
    const name = environment.upstreamKey === undefined ? 'SLUICEGATE_UPSTREAM_AUTH' : 'SLUICEGATE_UPSTREAM_KEY'
    failVariable(name, 'is set, but no upstream is (set SLUICEGATE_UPSTREAM, or upstreams in the file)')
  }
  const own = resolveAll(config.constitutions ?? {}, folder)
  const all = shippedConstitutions()
  checkReferences(
    config,
    new Set(demo ? ['default'] : Object.keys(upstreams)),
    new Set(Object.keys({ ...all, ...own })),
    fail
  )

  const dataDir = resolve(cwd, environment.dataDir ?? 'data')
  const fromFile = { url: storage.url, base: folder, fail: (reason: string) => fail(['storage', 'url'], reason) }
  const fromVariable = {
    url: environment.databaseUrl,
    base: cwd,
    fail: (reason: string) => failVariable('SLUICEGATE_DATABASE_URL', reason)
  }
  const chosenStorage = environment.databaseUrl === undefined ? fromFile : fromVariable
  const storageAt = storageUrl(chosenStorage) ?? `sqlite:${join(dataDir, 'sluicegate.db')}`
  // A generated key would differ on every node, so that no node could read another's texts.
  if (storageAt.startsWith('postgres') && environment.dataKey === undefined) {
    failVariable(
      'SLUICEGATE_DATA_KEY',
      'is not set, and nodes share a PostgreSQL (32 bytes in base64, the same for all)'
    )
  }
  const redisAt = environment.redisUrl
    ? redisUrl(environment.redisUrl, (reason) => failVariable('SLUICEGATE_REDIS_URL', reason))
    : redisUrl(config.redis?.url, (reason) => fail(['redis', 'url'], reason))
  const encoder = compileEncoder(config.encoder, {
    use: environment.encoder,
    folder,
    shipped: join(shipped, 'models')
  })
  if (encoder.use === 'off') checkNames(config, fail)
  const workers = workersOf(environment.workers, encoder)
  if (workers > 1 && storageAt === 'memory:') {
    failVariable(
      'SLUICEGATE_WORKERS',
      'is more than 1, and storage.url memory: is one for each process (sqlite:<path>)'
    )
  }

  const routes = compileRoutes(config, bodyLimit)
  // The evaluate endpoint's constitution, and those of routes: unused shipped ones cost neither memory nor start time.
  const mcpServers = compileMcp(config, { folder, bodyLimit, fail })
  const used = new Set([
    'default',
    ...[...routes, ...Object.values(mcpServers).map(({ route }) => route)].map(({ constitution }) => constitution)
  ])
  const inUse = Object.entries(all).filter(([name]) => used.has(name))

  const host = environment.host ?? server.host ?? '127.0.0.1'
  const port = environment.port ?? server.port ?? 8080
  const opsListener = {
    host: environment.opsHost ?? ops.host ?? '127.0.0.1',
    port: environment.opsPort ?? ops.port ?? 9464
  }
  checkPorts({ server: { host, port }, ops: opsListener }, config, environment, { fail, failVariable })
  return {
    file,
    server: {
      host,
      port,
      trustedProxies: server.trusted_proxies ?? [],
      bodyLimit,
      tls:
        tls === undefined
          ? undefined
          : { cert: tls.cert ?? '', key: tls.key ?? '', hstsMs: parseDuration(hsts) as number },
      writeTimeoutMs: parseDuration(server.write_timeout ?? '60s') as number,
      termsUrl: server.terms_url,
      dashboardUpstreams: server.dashboard_upstreams ?? isLoopbackHost(host),
      plainHttpSignIn: server.plain_http_sign_in ?? [],
      drainDelayMs: parseDuration(server.drain_delay ?? '0s') as number
    },
    ops: opsListener,
    storage: {
      url: storageAt,
      staleKeysMs: parseDuration(storage.stale_keys ?? '60s') as number,
      spoolBytes: parseSize(storage.spool ?? '256MiB') as number
    },
    redis: redisAt === undefined ? undefined : { url: redisAt, prefix: config.redis?.prefix ?? 'sluicegate:' },
    node: environment.node ?? hostname(),
    dataDir,
    dataKey: environment.dataKey,
    bootstrapKey: environment.bootstrapKey,
    docsUrl: config.docs_url ?? '/docs',
    upstreams,
    givenUpstreams: Object.keys(upstreams),
    demo,
    routes,
    mcp: { servers: mcpServers },
    judges: compileJudges(config, folder, fail),
    encoder,
    files: compileFiles(config.files),
    transcription: compileTranscription(config.transcription, folder, fail),
    limits: {
      livePerMinute: limits.live_per_minute ?? 100,
      testPerMinute: limits.test_per_minute ?? 20,
      failedAuthPerAddressPerMinute: limits.failed_auth_per_address_per_minute ?? 100,
      concurrentPerKey: limits.concurrent_per_key ?? 64,
      remembersTexts: limits.remember_texts !== 'off',
      request: { ...defaultBudget, ...limits.request }
    },
    review: compileReview(config, demo),
    notices: compileNotices(config, folder, fail),
    audit: compileAudit(config),
    samples: compileSamples(config),
    signIn: compileSignIn(config, environment.publicUrl, fail),
    tracing: compileTracing(config.tracing, environment, fail, failVariable),
    constitutions: { ...Object.fromEntries(inUse), ...own },
    texts: config.texts as TextsSource | undefined,
    workers
  }
}

/** Less the encoder's threads, each of which can keep a processor busy. */
function workersOf(given: number | 'auto' | undefined, { use, threads }: Settings['encoder']): number {
  if (given !== 'auto') return given ?? 1
  return Math.max(1, availableParallelism() - (use === 'off' ? 0 : threads))
}

/** Undefined where none is given. */
function redisUrl(url: string | undefined, fail: (reason: string) => void): string | undefined {
  if (url === undefined || (/^rediss?:\/\//.test(url) && URL.canParse(url))) return url
  fail('is not valid (redis://user:password@host:port/number, or rediss:// for TLS)')
  return undefined
}

/** Undefined where none is given. `sqlite://` and `sqlite:` mean the same, as in other tools. */
function storageUrl({
  url,
  base,
  fail
}: {
  url: string | undefined
  base: string
  fail(reason: string): void
}): string | undefined {
  if (url === undefined || url === 'memory:') return url
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1]
  if (path !== undefined && path !== ':memory:') return `sqlite:${resolve(base, path)}`
  if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)) return url
  // Never the URL itself: it may hold a password.
  fail('is not valid (sqlite:<path>, postgres://user:password@host:port/database, or memory: to keep nothing)')
  return undefined
}

function resolveAll(paths: Readonly<Record<string, string>>, folder: string): Record<string, string> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, resolve(folder, path)]))
}

function deepFreeze<T>(value: T): T {
  // Typed arrays cannot be frozen; the only one is the data key.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
