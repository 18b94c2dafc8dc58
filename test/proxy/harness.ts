/** The proxy on a real socket behind the real edge, with an evaluator whose verdicts stand in the text. */
import Fastify from 'fastify'
import type { JsonObject } from '../../src/base/chat.js'
import { systemClock } from '../../src/base/clock.js'
import { Fault } from '../../src/base/errors.js'
import type { ReviewBound, RouteSettings, UpstreamSettings } from '../../src/base/settings.js'
import { placeOf } from '../../src/dialects/places.js'
import { registerEdge } from '../../src/edge/edge.js'
import { plainFault } from '../../src/edge/faults.js'
import { UnderWay } from '../../src/edge/under-way.js'
import type { Files } from '../../src/files/file.js'
import type { Caller } from '../../src/identity/caller.js'
import { createLog, type Log } from '../../src/observe/log.js'
import { createMetrics } from '../../src/observe/metrics.js'
import { createRecorder } from '../../src/observe/record.js'
import { createUnjudgedRecorder, type Unjudged } from '../../src/observe/unjudged.js'
import { createUpstreamRecorder } from '../../src/observe/upstream-answers.js'
import {
  type Category,
  categories,
  type Decision,
  type Detection,
  type Evaluation,
  type EvaluationInput,
  type Evaluator,
  type Scores,
  strictest
} from '../../src/policy/evaluation.js'
import { registerProxy } from '../../src/proxy/faces/fastify.js'
import { createProxy } from '../../src/proxy/proxy.js'
import type { Reviews } from '../../src/proxy/review.js'
import type { ReviewRequest, Standing } from '../../src/review/review.js'
import { createJournal } from '../../src/storage/journal/journal.js'

type Teardown = { teardown(fn: () => unknown): unknown }

/** `forbidme`, `divertme`, `askme` decide; `me@example.com` is personal data under permit; `crashme` and `lateme` fail. */
const rules: readonly [RegExp, Decision, Category][] = [
  [/forbidme/g, 'forbid', 'hate'],
  [/divertme/g, 'divert', 'secrets'],
  [/askme/g, 'depends', 'weapons'],
  [/me@example\.com/g, 'permit', 'personal_data']
]

export class MarkerEvaluator implements Evaluator {
  readonly inputs: EvaluationInput[] = []

  hold(constitution: string) {
    return constitution
  }

  /** Its longest marker is `me@example.com`. */
  settled(text: string) {
    return Math.max(0, text.length - 14)
  }

  async evaluate(input: EvaluationInput): Promise<Evaluation> {
    this.inputs.push(input)
    if (input.parts.some(({ text }) => text.includes('crashme'))) throw new Error('crashed')
    if (input.parts.some(({ text }) => text.includes('lateme'))) {
      throw Object.assign(new Error('late'), { name: 'TimeoutError' })
    }
    return this.#judge(input)
  }

  #judge({ parts, joined, context }: EvaluationInput): Evaluation {
    let decision: Decision = 'permit'
    const detections: Detection[] = []
    const matched = new Set<string>()
    const texts = [
      ...parts.map(({ text, pointer }) => ({ text, pointer })),
      ...joined.map((run) => ({ text: run.map((i) => parts[i]!.text).join(''), pointer: parts[run[0]!]!.pointer }))
    ]
    for (const { text, pointer } of texts) {
      for (const [pattern, verdict, category] of rules) {
        for (const match of text.matchAll(pattern)) {
          const settled = verdict === 'depends' && context?.topic === 'chemistry'
          const span = { start: match.index, end: match.index + match[0].length }
          const rule = `${category}_rule`
          detections.push({ type: 'policy_violation', category, confidence: 0.9, rule, span, layer: 'plain', pointer })
          if (settled || verdict === 'permit') continue
          matched.add(rule)
          decision = strictest(decision, verdict)
        }
      }
    }
    const scores = Object.fromEntries(categories.map((name) => [name, 0.01])) as Scores
    for (const { category } of detections) scores[category] = 0.9
    return {
      risk_score: { permit: 0.05, depends: 0.5, divert: 0.6, forbid: 0.95 }[decision],
      decision,
      is_blocked: decision === 'forbid',
      matched_rules: [...matched],
      detections,
      decision_time_ms: 0.1,
      scores,
      evaluation_id: `eval_${this.inputs.length}`,
      policy: 'default@1',
      ...(decision === 'depends' && { missing_context: ['topic'] })
    }
  }

  loaded() {
    return [{ name: 'default', version: '1' }]
  }

  async close() {}
}

/** Every text a person was shown, and what they said to it. */
export class FakeReviews implements Reviews {
  readonly opened: ReviewRequest[] = []
  readonly standings = new Map<string, Standing>()
  full: ReviewBound | undefined

  async open(review: ReviewRequest) {
    const known = this.opened.findIndex(({ canonical }) => Buffer.compare(canonical, review.canonical) === 0)
    const at = known === -1 ? this.opened.push(review) - 1 : known
    if (this.full !== undefined && known === -1) {
      this.opened.pop()
      return { full: this.full, created: false } as const
    }
    return { reviewId: `rev_${at + 1}`, created: known === -1 }
  }

  async consume(subject: Pick<ReviewRequest, 'canonical'>) {
    const id = Buffer.from(subject.canonical).toString()
    const standing = this.standings.get(id) ?? 'none'
    if (standing === 'permitted') this.standings.delete(id)
    return standing
  }

  async hold() {
    return 'pending' as const
  }
}

export const gatewayKey = 'client-key'
export const caller: Caller = {
  keyId: 'key_1',
  accountId: 'account',
  scopes: ['*'],
  environment: 'live',
  lineage: 'key_1',
  roots: ['key_1'],
  limitPerMinute: 100,
  maxConcurrent: 64,
  prefix: 'slg_live_ab12CD34'
}

export function route(overrides: Partial<RouteSettings> = {}): RouteSettings {
  const path = overrides.path ?? '/v1/chat/completions'
  return {
    id: path,
    method: 'POST',
    path,
    upstreamPath: path,
    dialect: 'openai-chat',
    upstream: 'default',
    match: undefined,
    mode: 'enforce',
    respond: 'error',
    output: 'window',
    hold: { bytes: 1024 * 1024, ms: 2000 },
    divert: 'queue',
    onFailure: 'closed',
    unscannable: 'deny',
    redact: [],
    constitution: 'default',
    constitutionGiven: false,
    callerContext: ['topic', 'platform'],
    bodyLimit: 1024 * 1024,
    ...overrides
  }
}

export function upstreamSettings(url: string, overrides: Partial<UpstreamSettings> = {}): UpstreamSettings {
  return {
    name: 'default',
    url,
    key: 'upstream-credential',
    auth: undefined,
    connectTimeoutMs: 1000,
    firstByteTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    totalTimeoutMs: 10_000,
    maxConnections: 64,
    queueTimeoutMs: 10_000,
    tls: { ca: undefined, cert: undefined, key: undefined },
    fallback: [],
    ...overrides
  }
}

export function testMetrics() {
  return createMetrics({
    storage: async () => {},
    audit: () => ({ waiting: 0, dropped: 0 }),
    reviews: async () => ({ depth: 0, oldestAgeSeconds: 0 }),
    deadLetters: async () => 0,
    alerts: async () => ({}),
    sessions: () => 0,
    shared: () => ({ up: undefined, nodes: 1 }),
    policies: () => [],
    weakenings: () => [],
    encoderWaiting: () => 0,
    judges: () => [],
    judgesApart: () => false,
    uncovered: () => 0
  })
}

/** A journal whose groups nobody stores. */
const unread = () => createJournal({ node: 'test', store: async () => {} })

/** Records as the gateway does, into a journal that nobody reads. */
export function testRecorder(metrics: ReturnType<typeof testMetrics>) {
  const { append, commit, usage } = unread()
  const settings = { required: false, decisions: 'all' } as const
  return createRecorder({
    metrics,
    audit: { append, commit },
    usage,
    clock: systemClock,
    fingerprints: () => [],
    placeOf,
    settings
  })
}

export function testUnjudged(metrics: ReturnType<typeof testMetrics>, log: Log) {
  const audit = unread()
  return createUnjudgedRecorder({ metrics, audit, clock: systemClock, log, settings: { required: false } })
}

/** Knows one key, sent as a bearer token. */
export const admission = {
  admit: ({ headers }: { headers: Record<string, unknown> }) => {
    if (headers.authorization !== `Bearer ${gatewayKey}`) {
      return new Fault('invalid_api_key', { fields: { docs: '/docs' } })
    }
    return { caller, limit: { limit: 100, remaining: 99, reset: 0 } }
  },
  charge: () => ({ limit: 100, remaining: 99, reset: 0 })
}

/** A response whose JSON a test looks into without declaring its shape. */
export type Answered = Omit<Response, 'json'> & { json(): Promise<ReturnType<typeof JSON.parse>> }

export interface Harness {
  url: string
  evaluator: MarkerEvaluator
  reviews: FakeReviews
  metrics: ReturnType<typeof testMetrics>
  unjudged: Unjudged[]
  /** Everything the gateway wrote to its log. */
  logLines: string[]
  post(body: unknown, headers?: Record<string, string>, path?: string): Promise<Answered>
}

/** @param judging in the place of the harness's own evaluator */
export function buildProxy(
  t: Teardown,
  routes: readonly RouteSettings[],
  upstreams: Record<string, UpstreamSettings>,
  judging?: Evaluator,
  files?: Pick<Files, 'read'>
) {
  const evaluator = new MarkerEvaluator()
  const reviews = new FakeReviews()
  const metrics = testMetrics()
  const record = testRecorder(metrics)
  const unjudged: Unjudged[] = []
  const logLines: string[] = []
  const log = createLog({ level: 'debug', destination: { write: (line) => void logLines.push(line) } })
  const tell = testUnjudged(metrics, log)
  const proxy = createProxy(
    {
      evaluator: judging ?? evaluator,
      reviews,
      clock: systemClock,
      record,
      exceptions: () => undefined,
      metrics,
      answered: createUpstreamRecorder({ metrics, audit: unread(), clock: systemClock }),
      log,
      admission: admission as never,
      files,
      unjudged(event) {
        unjudged.push(event)
        return tell(event)
      }
    },
    { routes, upstreams }
  )
  t.teardown(() => proxy.close())
  return { proxy, evaluator, reviews, metrics, unjudged, logLines, log }
}

export async function harness(
  t: Teardown,
  routes: readonly RouteSettings[],
  upstreams: Record<string, UpstreamSettings>,
  files?: Pick<Files, 'read'>
): Promise<Harness> {
  const built = buildProxy(t, routes, upstreams, undefined, files)
  const { proxy, evaluator, reviews, metrics, unjudged, logLines, log } = built
  const app = Fastify({ pluginTimeout: 60_000, exposeHeadRoutes: false, bodyLimit: 1024 * 1024 })
  registerEdge(app, {
    admission: admission as never,
    clientAddress: (peer) => peer,
    clock: systemClock,
    metrics,
    log,
    bodyLimit: 1024 * 1024,
    underWay: new UnderWay(60_000, () => {}),
    shape: (_path, fault, id) => plainFault(fault, id)
  })
  await registerProxy(app, proxy)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  return {
    url,
    evaluator,
    reviews,
    metrics,
    unjudged,
    logLines,
    post: (body, headers = {}, path = '/v1/chat/completions') =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', ...headers },
        body:
          typeof body === 'string' || body instanceof Uint8Array
            ? (body as RequestInit['body'] & string)
            : JSON.stringify(body)
      })
  }
}

export function chat(content: unknown, extra: Record<string, unknown> = {}): JsonObject {
  return { model: 'm', messages: [{ role: 'user', content }], ...extra } as JsonObject
}

/** The data of every event of a stream. */
export function eventsOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => frame.slice('data: '.length))
}

/** What a client that adds up the deltas shows. */
export function shown(text: string): string {
  return eventsOf(text)
    .filter((data) => data !== '[DONE]')
    .flatMap((data) => JSON.parse(data).choices ?? [])
    .map(({ delta }) => delta?.content ?? '')
    .join('')
}
