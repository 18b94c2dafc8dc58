/** The server process: settings, listeners, reload, graceful end. The routes are in `gateway.ts`. */
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { invitationPath } from '../api/users.js'
import { systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { isLoopbackHost, reachableHost } from '../base/units.js'
import { fingerprintOf, loadSettings, type WatchHandlers, watchSettings } from '../config/load.js'
import { buildApp, createListener, drain, listen } from '../edge/listener.js'
import { createLog, type Log } from '../observe/log.js'
import { startPrimary } from '../workers/primary.js'
import { startWatchdog } from '../workers/watchdog.js'
import { linkToPrimary, type WorkerLink } from '../workers/worker.js'
import { createGateway, type Gateway } from './gateway.js'
import { openPlatform, type Platform } from './platform.js'

/** How long a stopping process waits for requests under way. */
const drainMs = 30_000
/** How long the command warms up, ms: the first calls then cost a third of what they would; the engine settles within seconds. */
const warmUpMs = 300

export interface ServeOptions {
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** Options of the command that stand in variables of `env`, by variable. */
  options?: Readonly<Record<string, string>>
  /** ms spent before the listeners are bound so that the first calls find compiled code. Default: none. */
  warmUpMs?: number
  /** In a worker: the primary answers on the operations listener, and keeps what is shared. */
  link?: WorkerLink | undefined
}

export interface Serving {
  url: string
  /** Empty in a worker. */
  opsUrl: string
  ready(): Promise<boolean>
  /** Safe to call twice. */
  close(): Promise<void>
}

/** Starts everything and answers once both listeners are bound. */
export async function start({
  env = process.env,
  cwd = process.cwd(),
  options = {},
  warmUpMs = 0,
  link
}: ServeOptions = {}): Promise<Serving> {
  const load = () => loadSettings({ env, cwd, options })
  const settings = load()
  const log = createLog({ level: env['SLUICEGATE_LOG_LEVEL'] || 'info' })
  /** An empty file is valid, and an editor that saves leaves the file empty for a moment: never reload to that. */
  const reload = () => {
    const next = load()
    if (next.file !== undefined && readFileSync(next.file, 'utf8').trim() === '')
      throw new Error(`${next.file} is empty`)
    return next
  }
  const asRead = fingerprintOf(settings)
  let isDraining = false
  const platform = await openPlatform(settings, {
    log,
    isDraining: () => isDraining,
    ...(link === undefined
      ? {}
      : { metricsPage: link.metricsPage, worker: link.worker, encoderHost: link.encoderHost }),
    ...(link === undefined || settings.redis !== undefined ? {} : { shared: link.state(systemClock) })
  })
  let current = await assemble(settings, platform).catch(async (error: unknown) => {
    await platform.close()
    throw error
  })

  if (warmUpMs > 0) current.warmUp(warmUpMs)
  const main = createListener((request, response) => {
    // Clients that keep connections open for the next request close them before the drain does.
    if (isDraining) response.shouldKeepAlive = false
    current.handle(request, response)
  }, settings.server.tls)
  const ops = createListener((request, response) => current.handleOps(request, response))
  // A start that finds its port taken ends in order: the audit would else show a process that was killed.
  const endStart = async (error: unknown): Promise<never> => {
    main.close()
    await current.close()
    await platform.close()
    throw error
  }
  const bound = await listen(main, settings.server, 'server').catch(endStart)
  const url = `${settings.server.tls === undefined ? 'http' : 'https'}://${reachableHost(bound.host)}:${bound.port}`
  const opsUrl = link === undefined ? await listenOps().catch(endStart) : ''
  async function listenOps(): Promise<string> {
    const { host, port } = await listen(ops, settings.ops, 'ops')
    return `http://${reachableHost(host)}:${port}`
  }

  const handlers: WatchHandlers = {
    async change(next: Settings, restart: readonly string[]) {
      const old = current
      current = await assemble(next, platform)
      platform.metrics.configReloads.inc({ result: 'success' })
      log.info({ file: next.file, needs_restart: restart }, 'configuration reloaded')
      old.handOver(current)
      // Not awaited: a stream may go on for minutes, and the next change must not wait for it.
      void old.close()
    },
    failure(error: unknown) {
      platform.metrics.configReloads.inc({ result: 'failure' })
      log.error(
        { problem: error instanceof Error ? error.message : String(error) },
        'configuration not reloaded; the last good one stays in force'
      )
    }
  }
  const watcher = watchSettings(reload, settings, handlers, { asRead })

  platform.upstreams.follow(() => watcher.renew())
  for (const problem of settings.unknownVariables) log.warn({ problem }, 'a variable of the environment is not known')
  log.info(
    {
      url,
      host: bound.host,
      // A worker has no such listener: the primary has.
      ...(opsUrl !== '' && { ops: opsUrl }),
      file: settings.file,
      storage: settings.storage.url.split(':', 1)[0]
    },
    'listening'
  )
  const firstKey = await platform.firstKey()
  if (firstKey !== undefined) {
    const invitation = await platform.people.firstInvitation()
    announce({ url, isOpen: !isLoopbackHost(bound.host), settings, firstKey, invitation })
  }

  let closing: Promise<void> | undefined
  async function close(): Promise<void> {
    watcher.close()
    isDraining = true
    const { drainDelayMs } = settings.server
    log.info({ requests_under_way: current.underWay(), serves_on_ms: drainDelayMs, waits_ms: drainMs }, 'stopping')
    // Load balancers see that this process is not ready and go elsewhere, while it still refuses nothing.
    await setTimeout(drainDelayMs)
    await Promise.all([current.drain(), drain(main, drainMs), ...(link === undefined ? [drain(ops, 1_000)] : [])])
    await current.close()
    await platform.close()
    log.info({}, 'stopped')
  }
  return {
    url,
    opsUrl,
    ready: async () =>
      !isDraining &&
      platform.storage.ping().then(
        () => true,
        () => false
      ),
    close() {
      closing ??= close()
      return closing
    }
  }
}

interface Assembly {
  gateway: Gateway
  /** Requests whose answers are not taken yet. */
  underWay(): number
  handle: RequestListener
  handleOps: RequestListener
  warmUp(ms: number): void
  /** Ends the sessions, at the latest after the drain time. */
  drain(): Promise<void>
  /** Hands sessions without an end of their own to the assembly of the next configuration. */
  handOver(next: Assembly): void
  /** Waits for the requests under way, at most for the drain time, then closes. */
  close(): Promise<void>
}

/** One configuration, ready to serve; a reload swaps it as a whole. */
async function assemble(settings: Settings, platform: Platform): Promise<Assembly> {
  const gateway = await createGateway(settings, platform)
  const app = await buildApp((scope) => gateway.register(scope))
  const ops = await buildApp((scope) => gateway.registerOps(scope))
  const { underWay } = gateway
  return {
    gateway,
    underWay: () => underWay.size,
    handle(request, response) {
      if (!gateway.refuse(request, response)) app.routing(request, response)
    },
    handleOps: (request, response) => ops.routing(request, response),
    warmUp: (ms) => gateway.evaluator.warmUp(ms),
    drain: () => gateway.drain(drainMs),
    handOver: (next) => gateway.handOver(next.gateway),
    async close() {
      void gateway.drain(drainMs)
      const deadline = new AbortController()
      const timeout = setTimeout(drainMs, undefined, { signal: deadline.signal, ref: false }).catch(() => undefined)
      await Promise.race([underWay.whenIdle(), timeout])
      deadline.abort()
      await gateway.close()
      await Promise.all([app.close(), ops.close()])
    }
  }
}

/** `sluicegate serve`: starts, and ends gracefully on SIGTERM, SIGINT or a fault that nothing caught. */
export async function serve(asked: ServeOptions = {}): Promise<void> {
  const { env = process.env, cwd = process.cwd(), options = {} } = asked
  const link = linkToPrimary()
  const settings = loadSettings({ env, cwd, options })
  const log = createLog({ level: env['SLUICEGATE_LOG_LEVEL'] || 'info' })
  if (link === undefined && settings.workers > 1) {
    const primary = await startPrimary(settings, log, settings.server.drainDelayMs + drainMs + 1_000)
    endGracefully(primary, settings.server.drainDelayMs, log)
    return
  }
  const serving = await start({ warmUpMs, ...asked, link })
  const stop = endGracefully(serving, settings.server.drainDelayMs, log)
  link?.serving(serving.ready, stop)
  startWatchdog(settings.dataDir)
}

/** @returns what a signal does */
function endGracefully(running: { close(): Promise<void> }, drainDelayMs: number, log: Log): () => void {
  // SIGHUP reloads.
  const { close } = closeWithGrace(
    { delay: drainDelayMs + drainMs + 2_000, logger: false, skip: ['SIGHUP'] },
    async ({ err, signal }) => {
      if (signal !== undefined) log.info({ signal }, 'told to stop')
      // The message could quote a client: only the kind of fault and its place are shown.
      if (err !== undefined)
        process.stderr.write(
          `sluicegate: stopping after ${err.name}\n${err.stack?.split('\n').slice(1, 6).join('\n')}\n`
        )
      await running.close()
    }
  )
  return close
}

interface Announcement {
  url: string
  /** Whether other machines can reach it. */
  isOpen: boolean
  settings: Settings
  firstKey: string
  invitation: string | undefined
}

/** Prints the address, the key and two lines to try, in plain text on stdout, on the first start only. */
function announce({ url, isOpen, settings, firstKey, invitation }: Announcement): void {
  const { server, signIn } = settings
  const site = signIn.publicUrl ?? url
  const lines = [
    '',
    `Sluicegate serves at ${site}${settings.demo ? ' with the built-in demo chat backend (set SLUICEGATE_UPSTREAM for a real one)' : ''}.`,
    '',
    `Your first API key, shown this once: ${firstKey}`,
    '',
    ...(invitation === undefined
      ? []
      : [
          'To sign in as the first administrator, choose a password within 24 hours by this link, which works once:',
          `  ${site}${invitationPath(invitation)}`,
          ...(isOpen && server.tls === undefined && !signIn.publicUrl?.startsWith('https:')
            ? [
                'It works on this machine. From others, and from the host of a container, one signs in over TLS, or in the clear',
                'where server.plain_http_sign_in names their private network: docs/sign-in.md.'
              ]
            : []),
          ''
        ]),
    'Try it:',
    `  curl -s ${site}/api/v1/safety/evaluate -H 'X-API-Key: ${firstKey}' -H 'content-type: application/json' -d '{"input_text":"How do I kill a Python process?"}'`,
    `  curl -s ${site}/v1/chat/completions -H 'Authorization: Bearer ${firstKey}' -H 'content-type: application/json' -d '{"model":"demo","messages":[{"role":"user","content":"Hello!"}]}'`,
    ''
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
