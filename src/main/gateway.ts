/**
 * The composition root: builds each room from its settings and registers the edges in the order in which a request
 * passes them. Nothing else in the program knows all the rooms.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { registerAlerts } from '../api/alerts.js'
import { createAssessor } from '../api/assess.js'
import { registerAudit } from '../api/audit.js'
import { registerAuth } from '../api/auth.js'
import { registerConstitutions } from '../api/constitutions.js'
import { registerDashboard } from '../api/dashboard.js'
import { registerDocPages } from '../api/doc-pages.js'
import { registerDocs } from '../api/docs.js'
import { registerEvaluate } from '../api/evaluate.js'
import { registerExceptions } from '../api/exceptions.js'
import { authRequestPath, fold } from '../api/guards/auth-request.js'
import { registerGuards } from '../api/guards/index.js'
import { registerHealth } from '../api/health.js'
import { registerKeys } from '../api/keys.js'
import { registerMetrics } from '../api/metrics.js'
import { moderationsPath, registerModerations } from '../api/moderations.js'
import { registerPolicyEditing } from '../api/policy-editing.js'
import { registerReviews } from '../api/reviews.js'
import { gatewayRoot, opsRoot } from '../api/root.js'
import { registerSafetyMetrics } from '../api/safety-metrics.js'
import { registerSamples } from '../api/samples.js'
import { registerStatus } from '../api/status.js'
import { registerTexts } from '../api/texts.js'
import { registerUpstreams } from '../api/upstreams.js'
import { registerUsage } from '../api/usage.js'
import { registerUsers } from '../api/users.js'
import type { Fault } from '../base/errors.js'
import type { Settings } from '../base/settings.js'
import { version } from '../base/version.js'
import { upstreamSettings, weakenings } from '../config/load.js'
import { constitutionOf } from '../constitutions/bindings.js'
import { dialects } from '../dialects/index.js'
import { registerDuplicateGuard } from '../edge/duplicates.js'
import { type EdgeDeps, registerEdge } from '../edge/edge.js'
import { managed } from '../edge/facts.js'
import { plainFault, type ShapedFault } from '../edge/faults.js'
import { Overload } from '../edge/overload.js'
import { rememberPeers } from '../edge/peers.js'
import { createPeopleAdmission } from '../edge/person-admission.js'
import { createPassage } from '../edge/same-site.js'
import { UnderWay } from '../edge/under-way.js'
import type { OpenEncoder } from '../encoder/open.js'
import { clientAddress, compileAddressList } from '../identity/address.js'
import type { Caller } from '../identity/caller.js'
import { firstAccount } from '../identity/key-service.js'
import { type OpenJudges, openJudges } from '../judges/open.js'
import { judgeReport } from '../observe/record.js'
import { evaluatorOf, type PolicyEvaluator } from '../policy/evaluate/evaluator.js'
import { speechOf } from '../proxy/denials.js'
import { registerExtAuthz } from '../proxy/faces/ext-authz.js'
import { registerProxy } from '../proxy/faces/fastify.js'
import { registerMcp } from '../proxy/faces/mcp.js'
import { dialectAt, explainUnknown } from '../proxy/faces/other-paths.js'
import { McpProxy } from '../proxy/mcp/mcp.js'
import { type ChatProxy, createProxy } from '../proxy/proxy.js'
import { faultReply } from '../proxy/reply.js'
import { propagation, tracedTransport } from '../proxy/upstream/traced.js'
import { Wording } from '../wording/wording.js'
import { openReaders, openSound } from './media-readers.js'
import type { Platform } from './platform.js'
import { openSecondReader } from './second-reader.js'

export interface Gateway {
  readonly settings: Settings
  readonly platform: Platform
  readonly evaluator: PolicyEvaluator
  readonly proxy: ChatProxy
  readonly mcp: McpProxy
  /** The requests of every edge. */
  readonly underWay: UnderWay
  /** Refuses a request before the application sees it, under overload. @returns whether it refused */
  refuse(request: IncomingMessage, response: ServerResponse): boolean
  /** Ends what lasts longer than an answer, at the latest after so many ms. */
  drain(ms: number): Promise<void>
  /**
   * Hands sessions without an end of their own to the gateway of the next configuration, where they can continue there.
   */
  handOver(next: Gateway): void
  /** Registers every route on a Fastify scope of its own. */
  register(app: FastifyInstance): Promise<void>
  /** Registers what the operations listener serves. */
  registerOps(app: FastifyInstance): Promise<void>
  /** Releases what this gateway owns; the platform stays open. Requests under way are ended first. */
  close(): Promise<void>
}

export async function createGateway(given: Settings, platform: Platform): Promise<Gateway> {
  const settings = await withBackends(given, platform)
  const { clock, log, metrics, admission, keys, record, answered, unjudged, people, storage } = platform
  const { reviews } = people
  const exceptions = (caller: Caller) => people.exceptions.for(caller)
  const judges = await openJudges(settings.judges, { clock, report: judgeReport(metrics, log) })
  const encoder = await openSecondReader(settings, platform.encoders).catch(async (error: unknown) => {
    await judges.close()
    throw error
  })
  const evaluator = await openEvaluator(settings, platform, judges, encoder)
  const inForce = [...weakenings(settings), ...(encoder.weakening === undefined ? [] : [encoder.weakening])]
  const { tracing, texts } = platform
  const wording = new Wording({ configured: settings.texts, stored: texts.current })
  const files = await openReaders(settings, platform, async () => {
    await evaluator.close()
    await encoder.close()
    await judges.close()
  })
  const transcriber = openSound(settings, platform)
  const untraced = createProxy(
    {
      files,
      transcriber,
      evaluator,
      reviews,
      clock,
      record,
      exceptions,
      chargeWindows: admission.chargeWindows,
      sampling: platform.samples.isOn,
      sessions: platform.sessions,
      wording,
      keeping: platform.keeping,
      metrics,
      answered,
      log,
      admission,
      budget: settings.limits.request,
      unjudged,
      propagate: propagation(settings.tracing.toUpstream, tracing),
      tracing,
      constitutionOf: (route) => constitutionOf(route, (id) => platform.enforcement.boundTo(id))
    },
    settings
  )
  const proxy =
    tracing === undefined
      ? untraced
      : { ...untraced, transport: tracedTransport(untraced.transport, tracing, untraced.upstreams) }
  const mcp = new McpProxy(
    {
      proxy,
      reviews,
      pins: storage.pins,
      seal: platform.keeping.seal,
      counters: platform.counters,
      admission,
      audit: storage.audit,
      budget: settings.limits.request,
      tracing
    },
    settings.mcp.servers
  )
  platform.adopt({ settings, evaluator, judges, weakenings: inForce })
  const loadedAt = clock.now()

  const trusted = compileAddressList(settings.server.trustedProxies)
  const passage = createPassage(trusted, compileAddressList(settings.server.plainHttpSignIn))
  /** Paths of other APIs answer as those do. */
  function shape(path: string, fault: Fault, requestId: string): ShapedFault {
    if (path.endsWith(authRequestPath)) return fold(fault, requestId)
    const dialect = path.endsWith(moderationsPath) ? dialects['openai-chat'][0] : dialectAt(proxy, path)
    return dialect === undefined ? plainFault(fault, requestId) : faultReply(dialect, fault, requestId)
  }
  const underWay = new UnderWay(settings.server.writeTimeoutMs, () => metrics.stalledClients.inc())
  const overload = new Overload({ log, metrics, shape })
  const edge: EdgeDeps = {
    admission,
    overload,
    clientAddress: rememberPeers((peer, forwardedFor) => clientAddress(peer, forwardedFor, trusted)),
    clock,
    metrics,
    log,
    tracing,
    bodyLimit: settings.server.bodyLimit,
    underWay,
    maxNodes: settings.limits.request.nodes,
    maxParts: settings.limits.request.parts,
    people: createPeopleAdmission(people.sessions, passage),
    shape,
    explainUnknown: (...asked) => explainUnknown(proxy, ...asked)
  }
  const assessor = createAssessor({
    evaluator,
    record,
    unjudged,
    exceptions,
    chargeWindows: admission.chargeWindows,
    sampling: platform.samples.isOn,
    budget: settings.limits.request
  })
  const ready = async () =>
    !platform.isDraining() &&
    storage.ping().then(
      () => true,
      () => false
    )

  return {
    settings,
    platform,
    evaluator,
    proxy,
    mcp,
    underWay,
    refuse: (request, response) => overload.refuse(request, response),
    drain(ms) {
      mcp.drain()
      return proxy.sessions.drain(ms)
    },
    handOver: (next) => mcp.handOver(next.mcp),
    async register(app) {
      registerEdge(app, { ...edge, ...gatewayRoot(settings.docsUrl) })
      registerDuplicateGuard(app, platform.counters)
      await registerDocs(app, version)
      if (!registerDocPages(app)) log.warn('the documentation pages are missing: npm run build makes them')
      registerHealth(app, ready)
      await app.register(async (loaded) => {
        overload.mayRefuse(loaded)
        registerEvaluate(loaded, { assessor, reviews, isEncoderOff: settings.encoder.use === 'off' })
        registerModerations(loaded, { assessor, admission })
        registerGuards(loaded, {
          assessor,
          reviews,
          speak: (...told) => wording.speak(...told),
          speech: () => speechOf(evaluator.hold('default'))
        })
        await registerProxy(loaded, proxy)
        await registerExtAuthz(loaded, proxy)
        await registerMcp(loaded, mcp, proxy)
      })
      registerKeys(app, keys)
      registerReviews(app, people, metrics)
      registerExceptions(app, people.exceptions)
      registerAlerts(app, platform.alerts, settings.notices)
      registerAudit(app, storage.audit, clock)
      registerUsage(app, storage.usage, clock)
      registerAuth(app, { ...people, oidc: people.oidc(), account: firstAccount, passage })
      registerUsers(app, people.users)
      if (!registerDashboard(app)) log.warn('the dashboard is missing: npm run build makes it')
      registerUpstreams(app, platform.upstreams)
      registerTexts(app, texts, settings.texts)
      registerConstitutions(app, {
        constitutions: platform.constitutions,
        tryOut: platform.tryOut,
        replay: platform.samples.replay,
        clock
      })
      registerSamples(app, platform.samples.service, clock)
      registerPolicyEditing(app, { checker: platform.checker, bindings: platform.bindings })
      registerMetrics(app, platform.metricsPage, managed('safety:metrics'))
      registerSafetyMetrics(app, {
        history: platform.history,
        presence: platform.presence,
        reviews,
        clock,
        upstreams: Object.keys(settings.upstreams),
        limits: settings.limits,
        alerts: settings.notices
      })
      registerStatus(app, async () => ({
        version,
        node: platform.node,
        runtime: process.version,
        startedAt: platform.startedAt,
        loadedAt,
        now: clock.now(),
        demo: settings.demo,
        storage: { kind: settings.storage.url.split(':', 1)[0]!, available: await ready() },
        audit: { required: settings.audit.required, dropped: storage.audit.dropped },
        samples: settings.samples.what,
        policies: evaluator.loaded(),
        weakenings: inForce,
        terms_url: settings.server.termsUrl ?? null,
        exceptions: people.exceptions.active,
        processes: await platform.presence.all()
      }))
    },
    async registerOps(app) {
      registerEdge(app, { ...edge, ...opsRoot })
      registerHealth(app, ready)
      registerMetrics(app, platform.metricsPage, { posture: 'public' })
    },
    async close() {
      await mcp.close()
      await proxy.close()
      files?.close()
      await transcriber?.close()
      platform.enforcement.release(evaluator)
      await evaluator.close()
      await encoder.close()
      await judges.close()
    }
  }
}

async function openEvaluator(
  { constitutions, limits }: Settings,
  { clock, sessions, enforcement, stalls, metrics: { judgedTexts } }: Platform,
  judges: OpenJudges,
  { encoder, weakening, close }: OpenEncoder
): Promise<PolicyEvaluator> {
  try {
    return await enforcement.open(constitutions, judges.coverage, (entries) =>
      evaluatorOf(entries, {
        clock,
        sessions,
        judges,
        encoder,
        lacksEncoder: weakening !== undefined,
        judgesApart: () => stalls.isRecent,
        budget: limits.request,
        remembers: limits.remembersTexts,
        judged({ scanned, remembered }) {
          judgedTexts.of('scan').inc(scanned)
          judgedTexts.of('memory').inc(remembered)
        }
      })
    )
  } catch (error) {
    await close()
    await judges.close()
    throw error
  }
}

/**
 * Adds connected backends (configured ones win), and the demo backend where `default` is neither connected nor
 * configured.
 */
async function withBackends(settings: Settings, platform: Platform): Promise<Settings> {
  const connected = (await platform.upstreams.current(settings)).map(({ name, url, key }) => [
    name,
    { ...upstreamSettings(name, url), key, isConnected: true }
  ])
  const upstreams: Settings['upstreams'] = { ...Object.fromEntries(connected), ...settings.upstreams }
  if (!settings.demo) return { ...settings, upstreams }
  if (upstreams['default'] === undefined) {
    const url = await platform.demoUrl()
    return { ...settings, upstreams: { ...upstreams, default: upstreamSettings('default', url) } }
  }
  const { review } = settings
  // Permissions that hold only because of the demo backend end with it.
  return {
    ...settings,
    upstreams,
    demo: false,
    review: { ...review, allowOwn: review.allowOwn && !review.allowOwnByDemo }
  }
}
