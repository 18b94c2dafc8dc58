/**
 * The platform: services that outlive a change of configuration, such as store, keys, counters, reviews, sessions,
 * metrics. Opened once per process; each configuration puts its own gateway in front of it.
 */
import { join } from 'node:path'
import { type MetricsPage, ownPage } from '../api/metrics.js'
import { type Clock, systemClock } from '../base/clock.js'
import { viewOf } from '../base/in-force.js'
import type { Settings } from '../base/settings.js'
import { version } from '../base/version.js'
import type { RouteBindings } from '../constitutions/bindings.js'
import type { Checker } from '../constitutions/check.js'
import type { ConstitutionService } from '../constitutions/constitution-service.js'
import type { Enforcement } from '../constitutions/enforcement.js'
import { readNamed } from '../constitutions/files.js'
import type { TrialReport, TrialRequest } from '../constitutions/trial.js'
import { placeOf } from '../dialects/places.js'
import { EncoderKeeper } from '../encoder/keeper.js'
import { type Admission, createAdmission } from '../identity/admission.js'
import type { Actor } from '../identity/caller.js'
import { parseKey } from '../identity/key-format.js'
import { firstAccount, KeyService } from '../identity/key-service.js'
import { createLastUsed } from '../identity/last-used.js'
import { createVerifier } from '../identity/verify.js'
import { createLimiter } from '../limits/limiter.js'
import type { Watch } from '../notices/watch.js'
import { createLog, describeError, type Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import { tellOutages } from '../observe/outages.js'
import { createRecorder, encoderReport, type Recorder } from '../observe/record.js'
import { openTracing, type Tracing, traced } from '../observe/tracing.js'
import { createUnjudgedRecorder, type UnjudgedRecorder } from '../observe/unjudged.js'
import { createUpstreamRecorder, type UpstreamRecorder } from '../observe/upstream-answers.js'
import type { SessionStore } from '../policy/evaluate/session.js'
import type { Keeping } from '../proxy/clarify.js'
import { ConnectedUpstreams } from '../proxy/upstream/connected.js'
import { discardDataKey, loadDataKey, missingDataKey } from '../sealing/key-file.js'
import { type Keyring, openKeyring, WrongDataKey } from '../sealing/keyring.js'
import type { Storage } from '../storage/contracts/index.js'
import type { CounterStore, SharedState } from '../storage/contracts/shared-state.js'
import { openStorage } from '../storage/open.js'
import { TextsService } from '../wording/texts-service.js'
import { startDemo } from './demo.js'
import { openNotices } from './notices.js'
import { openPolicies } from './policies.js'
import { openPeople, type People } from './review-desk.js'
import { openSamples, type Samples } from './samples.js'
import { openSharedState } from './shared-state.js'
import { type InForce, openSelf, type Self } from './vitals.js'

export interface PlatformOptions {
  clock?: Clock
  log?: Log
  /** Default: Redis where it is configured, else this process alone. */
  shared?: SharedState
  /** Whether the process is about to stop and should get no more requests. Default: never. */
  isDraining?: () => boolean
  /** Its number among the workers of its node. Default: it is the only process. */
  worker?: number
  /** The process of the encoder that workers share. Default: threads of this process. */
  encoderHost?: () => Promise<string>
  /** Default: the metrics of this process. */
  metricsPage?: (own: Metrics) => MetricsPage
}

export interface Platform extends Readonly<Self> {
  readonly clock: Clock
  readonly log: Log
  /** Name of this process in the audit. */
  readonly node: string
  /** The metrics page for a scrape of this process. */
  readonly metricsPage: MetricsPage
  readonly storage: Storage
  /** Texts for people, as they were written over the API. */
  readonly texts: TextsService
  /** The backends that administrators connect. */
  readonly upstreams: ConnectedUpstreams
  /** Store, digest key and seal of the questions that clarification asks. */
  readonly keeping: Keeping
  isDraining(): boolean
  readonly admission: Admission
  readonly keys: KeyService
  readonly people: People
  /** The watch that raises alerts and notifies people. */
  readonly alerts: Watch
  /** Counts, meters and audits each verdict. */
  readonly record: Recorder
  readonly unjudged: UnjudgedRecorder
  readonly answered: UpstreamRecorder
  readonly samples: Samples
  /** Undefined where none are configured. */
  readonly tracing?: Tracing
  readonly constitutions: ConstitutionService
  readonly checker: Checker
  /** Which constitution judges which route, as the store says. */
  readonly bindings: RouteBindings
  tryOut(actor: Actor, name: string, request: TrialRequest): Promise<TrialReport>
  /** Which constitutions are in force, whatever gateway asks. */
  readonly enforcement: Enforcement
  readonly sessions: SessionStore
  /** The second reader, the same for all gateways whose settings agree. */
  readonly encoders: EncoderKeeper
  /** Counters, shared by all nodes where Redis is configured. */
  readonly counters: CounterStore
  /**
   * Creates the first key where the store has none and returns it in full, to be shown once. Called when everything else
   * stands: a start that fails must not leave behind a key that nobody saw.
   */
  firstKey(): Promise<string | undefined>
  /** The demo backend's address; it is started when it is first asked for. */
  demoUrl(): Promise<string>
  /** Puts a new gateway's settings in force for the rooms that outlive it: limits, and the values of gauges. */
  adopt(next: Omit<InForce, 'loadedAt'>): void
  close(): Promise<void>
}

/** @throws an Error in words that an operator can act on */
export async function openPlatform(settings: Settings, options: PlatformOptions = {}): Promise<Platform> {
  if (settings.bootstrapKey !== undefined && parseKey(settings.bootstrapKey) === undefined) {
    throw new Error('SLUICEGATE_BOOTSTRAP_KEY: is not a key: slg_<live|test>_<8>_<48>, with its checksum')
  }
  const { log = createLog(), clock = systemClock } = options
  // Before a data key and a store are made, which a start that fails would leave behind.
  for (const [name, path] of Object.entries(settings.constitutions)) await readNamed(name, path)
  const dataKey = loadDataKey(settings)
  const storage = await openStorage({
    url: settings.storage.url,
    node: settings.node,
    spool: { folder: join(settings.dataDir, 'spool'), maxBytes: settings.storage.spoolBytes },
    log
  })
  let keyring: Keyring | undefined
  let platform: Platform | undefined
  try {
    keyring = await openKeyring({
      store: storage.dataKeys,
      key: dataKey.key,
      source: dataKey.path ?? 'SLUICEGATE_DATA_KEY',
      now: clock.now(),
      changed() {
        log.info({ ...keyring?.facts() }, 'the data key is being rotated')
        void platform?.presence.tell()
      },
      rounds: tellOutages(log, 'the data keys of the store could not be read')
    })
    if (dataKey.generated) {
      log.warn(
        { data_dir: settings.dataDir },
        'a key that encrypts stored texts was generated as master.key; keep a copy'
      )
    }
    const { seal } = keyring
    const shared = options.shared ?? (await openSharedState(settings, { clock, log, seal }))
    platform = build(settings, { storage, shared, keyring, clock, log }, options)
    await platform.people.exceptions.refresh()
    const { endpoint } = settings.tracing
    if (endpoint === undefined) return platform
    return traced(platform, await openTracing({ ...settings.tracing, endpoint }, platform))
  } catch (error) {
    keyring?.close()
    await storage.close()
    if (!(error instanceof WrongDataKey) || !dataKey.generated) throw error
    // The key was made for this start, so the mistake is that the store's own is missing, not that this one is wrong.
    discardDataKey(dataKey)
    throw missingDataKey(settings)
  }
}

interface Parts {
  storage: Storage
  shared: SharedState
  keyring: Keyring
  clock: Clock
  log: Log
}

function build(
  settings: Settings,
  { storage, shared, keyring, clock, log }: Parts,
  { metricsPage: pageOf = ownPage, isDraining = () => false, worker, encoderHost }: PlatformOptions
): Platform {
  /** Swapped as a whole by a reload. */
  let current = settings
  const limits = viewOf(() => current.limits)
  const { sessions, notices } = shared
  let inForce: InForce | undefined
  let demo: ReturnType<typeof startDemo> | undefined

  const lastUsed = createLastUsed({ keys: storage.keys, clock })
  const verifier = createVerifier({ keys: storage.keys, clock, limits, staleKeysMs: settings.storage.staleKeysMs })
  const keys = new KeyService({
    keys: storage.keys,
    clock,
    lastUsed,
    audit: storage.audit,
    termsUrl: () => current.server.termsUrl,
    notices: (rotation) => people.rotationNotices(rotation),
    noticed: () => people.noticed(),
    invalidate(prefix) {
      verifier.invalidate(prefix)
      return notices.publish({ kind: 'key', prefix })
    }
  })
  const policies = openPolicies({
    storage,
    notices,
    clock,
    log,
    encoder: () => encoders.current,
    routes: () => current.routes
  })
  const { enforcement, constitutions } = policies
  notices.listen((notice) => {
    if (notice.kind === 'key') return verifier.invalidate(notice.prefix)
    if (notice.kind === 'unknown') verifier.invalidateAll()
    return policies.heard(notice)
  })
  const self = openSelf({
    storage,
    shared,
    reviews: () => people.reviews.backlog(),
    alerts: () => alerts.counts(),
    clock,
    log,
    node: settings.node,
    worker,
    dataDir: settings.dataDir,
    dataKeys: () => keyring.facts(),
    inForce: () => inForce,
    encoderWaiting: () => encoders.waiting()
  })
  const { metrics, history, presence } = self
  const encoders = new EncoderKeeper({
    clock,
    report: self.troubles.watching(encoderReport(metrics)),
    host: encoderHost,
    crashed: (error) => log.error({ err: describeError(error) }, 'a thread of the encoder ended and is replaced'),
    slow: ({ windowMs, windows, allowedMs }) =>
      log.warn(
        `a window of the encoder takes ${Math.ceil(windowMs)} ms here: requests of ${windows} windows, which have ${allowedMs} ms, will be 503 evaluator_unavailable; raise encoder.deadline (docs/readers.md, Deadline)`
      )
  })
  const people = openPeople({
    storage,
    clock,
    log,
    settings,
    keyring,
    delivered({ channel, result: outcome }) {
      if (channel === 'review') metrics.webhookDeliveries.inc({ outcome })
      else metrics.noticeDeliveries.inc({ channel, outcome })
    },
    refused: (bound) => metrics.reviewsRefused.inc({ bound }),
    purgeSamples: () => samples.service.purge()
  })
  const samples = openSamples({
    storage,
    seal: keyring.seal,
    clock,
    log,
    metrics,
    settings: viewOf(() => current.samples),
    encoder: () => encoders.current,
    tryOut: policies.tryOut
  })
  const alerts = openNotices({
    storage,
    shared,
    self,
    people,
    clock,
    log,
    node: settings.node,
    settings: () => current
  })
  const auditing = viewOf(() => current.audit)
  const { audit, usage } = storage
  const { fingerprints } = people
  const sample = samples.take
  const record = createRecorder({ metrics, audit, usage, clock, fingerprints, placeOf, sample, settings: auditing })
  const tell = (kind: string, data: Record<string, unknown>) =>
    audit.append({ at: clock.now(), kind, account: null, keyId: null, subject: settings.node, data })
  tell('process.started', { version })
  const admission = createAdmission({
    verifier,
    lastUsed,
    limiter: createLimiter({ counters: shared.counters }),
    clock,
    docsUrl: settings.docsUrl,
    limits,
    denied: (reason) => metrics.keyDenials.inc({ reason }),
    underWay: (by) => metrics.requestsUnderWay.inc(by)
  })

  const texts = new TextsService({ store: storage.texts, account: firstAccount, audit, clock })
  const upstreams = new ConnectedUpstreams({
    store: storage.upstreams,
    seal: keyring.seal,
    account: firstAccount,
    audit,
    clock,
    settings: () => current,
    rounds: tellOutages(log, 'connected backends could not be looked up')
  })
  const keeping = { questions: storage.questions, key: keyring.secrets.questions, seal: keyring.seal }

  return {
    ...self,
    texts,
    upstreams,
    keeping,
    clock,
    log,
    node: settings.node,
    metricsPage: pageOf(metrics),
    storage,
    isDraining,
    admission,
    keys,
    people,
    alerts,
    record,
    samples,
    answered: createUpstreamRecorder({ metrics, audit, clock }),
    unjudged: createUnjudgedRecorder({ metrics, audit, clock, log, settings: auditing }),
    constitutions,
    checker: policies.checker,
    bindings: policies.bindings,
    tryOut: policies.tryOut,
    enforcement,
    sessions,
    encoders,
    counters: shared.counters,
    async firstKey() {
      const first = await keys.ensureFirstKey({ bootstrapKey: settings.bootstrapKey })
      if (first.created && settings.bootstrapKey === undefined) return first.key
      // The operator who set a key knows it: a given key is never printed.
      if (first.created) log.info({ prefix: first.record.prefix }, 'the bootstrap key is the first key')
      else if (first.ignored) log.info({}, 'the bootstrap key is ignored: the store has keys')
      return undefined
    },
    async demoUrl() {
      demo ??= startDemo()
      return (await demo).url
    },
    adopt(standing) {
      const { settings: next, evaluator, weakenings } = standing
      current = next
      people.adopt(next)
      tell('settings.adopted', { weakenings, policies: evaluator.loaded() })
      for (const weakening of weakenings) log.warn({ weakening }, 'a setting weakens the guard')
      inForce = { ...standing, loadedAt: clock.now() }
      void presence.tell()
    },
    async close() {
      upstreams.close()
      keyring.close()
      await alerts.close()
      self.stalls.close()
      await history.close()
      await presence.close()
      await policies.close()
      await (await demo)?.close()
      await lastUsed
        .close()
        .catch((error) =>
          log.error({ err: describeError(error) }, 'the times when keys were last used were not stored')
        )
      await people.close()
      await samples.close()
      tell('process.stopped', {})
      await shared.close()
      await storage.close()
    }
  }
}
