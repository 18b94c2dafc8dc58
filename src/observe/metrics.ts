/**
 * All metrics except those of worker processes (docs/api.md, section 7). Labels come from closed sets: routes, rules
 * and reasons are named by the configuration and the code, never by a caller. One registry per gateway, so that two in
 * one process do not mix.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { CounterSeries, HistogramSeries } from './series.js'

/** From 50 µs: an evaluation of a short text takes tens of microseconds, and a bucket that starts at 5 ms would hide it. */
const evaluationBuckets = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2]
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2]
/** A local classifier takes milliseconds, a guard model up to seconds. */
const judgeBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const upstreamBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600]

const breakerStates = { closed: 0, half_open: 1, open: 2 }

/** Values that are read at each scrape. */
export interface Gauges {
  /** Rejects where the storage does not answer. */
  storage(): Promise<void>
  /** Rows of the audit that wait for their commit, and rows that were dropped from a full queue. */
  audit(): { waiting: number; dropped: number }
  reviews(): Promise<{ depth: number; oldestAgeSeconds: number }>
  /** Undelivered messages to webhooks and by e-mail. */
  deadLetters(): Promise<number>
  /** How many alerts of each kind are in force. */
  alerts(): Promise<Readonly<Record<string, number>>>
  sessions(): number
  /** `up` undefined: nothing is shared. */
  shared(): { up: boolean | undefined; nodes: number }
  policies(): readonly { name: string; version: string }[]
  weakenings(): readonly string[]
  /** The heavier judges of the configuration in force. */
  judges(): readonly { judge: string; state: keyof typeof breakerStates }[]
  /** Windows and texts that wait for a thread of the encoder. */
  encoderWaiting(): number
  /** Whether texts of every length are judged in threads. */
  judgesApart(): boolean
  /** UTF-16 units that no view covered since the start: must stay 0. */
  uncovered(): number
}

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics(gauges: Gauges) {
  const registry = new Registry()
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `sluicegate_${name}`, help, labelNames, registers })
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name: `sluicegate_${name}`, help, labelNames, buckets, registers })
  /** Faster variants for metrics that every request counts. */
  const hotCounter = <const L extends readonly string[]>(name: string, help: string, labelNames: L) =>
    new CounterSeries({ name: `sluicegate_${name}`, help, labelNames }, registry)
  const hotHistogram = <const L extends readonly string[]>(
    name: string,
    help: string,
    labelNames: L,
    buckets: readonly number[]
  ) => new HistogramSeries({ name: `sluicegate_${name}`, help, labelNames }, buckets, registry)
  /** A gauge whose value is read at each scrape. */
  const asked = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: (gauge: Gauge<L>) => void | Promise<void>
  ) =>
    new Gauge({
      name: `sluicegate_${name}`,
      help,
      labelNames,
      registers,
      // The value is equal in all workers, or only one of them has it.
      aggregator: 'max',
      collect() {
        return collect(this)
      }
    })

  collectDefaultMetrics({ register: registry })
  /** A value from the storage: absent while it does not answer, so that the other metrics still come. */
  const stored = (name: string, help: string, value: () => Promise<number>) =>
    asked(name, help, [], async (gauge) => {
      const found = await inTime(value())
      if (found === undefined) gauge.remove()
      else gauge.set(found)
    })
  asked('storage_up', 'Whether the storage answers and takes writes.', [], async (gauge) => {
    gauge.set((await inTime(gauges.storage().then(() => 1))) ?? 0)
  })
  stored('review_queue_depth', 'Reviews that wait for a decision.', async () => (await gauges.reviews()).depth)
  stored('review_oldest_age_seconds', 'Age of the oldest review that waits.', async () => {
    return (await gauges.reviews()).oldestAgeSeconds
  })
  stored('webhook_dead_letters', 'Messages to webhooks and by e-mail that were given up.', () => gauges.deadLetters())
  asked('alerts', 'Alerts in force.', ['kind'], async (gauge) => {
    gauge.reset()
    for (const [kind, count] of Object.entries((await inTime(gauges.alerts())) ?? {})) gauge.set({ kind }, count)
  })
  asked('audit_waiting_rows', 'Rows of the audit that wait for their commit.', [], (gauge) =>
    gauge.set(gauges.audit().waiting)
  )
  asked(
    'audit_dropped_rows',
    'Rows of the audit that were dropped because too many waited; must stay 0.',
    [],
    (gauge) => gauge.set(gauges.audit().dropped)
  )
  asked('sessions_active', 'Sessions whose recent turns are remembered.', [], (gauge) => gauge.set(gauges.sessions()))
  asked('redis_up', 'Whether Redis answers; absent where none is configured.', [], (gauge) => {
    const { up } = gauges.shared()
    gauge.reset()
    if (up === undefined) gauge.remove()
    else gauge.set(up ? 1 : 0)
  })
  asked('nodes', 'Nodes that share limits, as far as this one knows.', [], (gauge) => gauge.set(gauges.shared().nodes))
  asked('policy_info', 'Constitutions in force; always 1.', ['name', 'version'], (gauge) => {
    gauge.reset()
    for (const { name, version } of gauges.policies()) gauge.set({ name, version }, 1)
  })
  asked('weakening_settings', 'Settings in force that weaken the guard; always 1 each.', ['setting'], (gauge) => {
    gauge.reset()
    for (const setting of gauges.weakenings()) gauge.set({ setting }, 1)
  })
  asked(
    'judge_breaker_state',
    'Whether a judge is asked: 0 closed (asked), 1 half open (tried), 2 open (left alone).',
    ['judge'],
    (gauge) => {
      gauge.reset()
      for (const { judge, state } of gauges.judges()) gauge.set({ judge }, breakerStates[state])
    }
  )
  asked('encoder_waiting', 'Windows and texts that wait for a thread of the encoder.', [], (gauge) =>
    gauge.set(gauges.encoderWaiting())
  )
  asked(
    'judges_apart',
    'Whether every text is judged in a thread, because an event loop stood still lately.',
    [],
    (gauge) => gauge.set(gauges.judgesApart() ? 1 : 0)
  )
  asked('uncovered_characters', 'Characters that no evaluation covered; must stay 0.', [], (gauge) =>
    gauge.set(gauges.uncovered())
  )

  return {
    registry,
    evaluations: hotCounter('evaluations_total', 'Evaluations by surface and decision.', ['surface', 'decision']),
    evaluationDuration: hotHistogram(
      'evaluation_duration_seconds',
      'Time of one evaluation.',
      ['surface'],
      evaluationBuckets
    ),
    ruleMatches: hotCounter('rule_matches_total', 'Matches of a rule.', ['rule', 'category']),
    suppressedMatches: hotCounter('suppressed_matches_total', 'Matches of a rule that did not count, by exception.', [
      'rule',
      'category'
    ]),
    judgedTexts: hotCounter('judged_texts_total', 'Texts that were judged, by whether they were scanned.', ['from']),
    requests: hotCounter('requests_total', 'Answered requests by route.', ['route', 'status_class']),
    shedRequests: new Counter({
      name: 'sluicegate_shed_requests_total',
      help: 'Requests refused at once because more came than could be judged.',
      registers
    }),
    requestsUnderWay: new Gauge({
      name: 'sluicegate_requests_under_way',
      help: 'Requests that take one of their key’s places, until their answers are taken.',
      registers
    }),
    stalledClients: new Counter({
      name: 'sluicegate_stalled_clients_total',
      help: 'Clients that were let go because they took nothing of their answers.',
      registers
    }),
    overhead: hotHistogram(
      'overhead_seconds',
      'Time added by the gateway, without the upstream.',
      ['route'],
      overheadBuckets
    ),
    upstreamDuration: hotHistogram(
      'upstream_duration_seconds',
      'Time of the upstream, from sending to its last byte.',
      ['route', 'status_class'],
      upstreamBuckets
    ),
    upstreamRequests: hotCounter(
      'upstream_requests_total',
      'Requests to an upstream by its answer; 5xx also where none came.',
      ['upstream', 'status_class']
    ),
    judgeRequests: counter('judge_requests_total', 'Questions to a judge by what came of them.', ['judge', 'outcome']),
    judgeDuration: histogram('judge_duration_seconds', 'Time of one question to a judge.', ['judge'], judgeBuckets),
    /** `from`: model, memory (read before). */
    encoderWindows: counter('encoder_windows_total', 'Windows that the encoder was asked for.', ['from']),
    encoderWindowDuration: histogram(
      'encoder_window_seconds',
      'Time of one window in a thread of the encoder.',
      [],
      judgeBuckets
    ),
    encoderDuration: histogram(
      'encoder_duration_seconds',
      'Time of all that one call asked the encoder, its waiting included.',
      [],
      judgeBuckets
    ),
    /** `cause`: queue_full, deadline, crashed, cancelled (the caller left), closed. */
    encoderFailures: counter('encoder_failures_total', 'Calls that the encoder could not answer.', ['cause']),
    keyDenials: counter('key_denials_total', 'Requests refused before evaluation, by reason.', ['reason']),
    evaluatorFailures: counter(
      'evaluator_failures_total',
      'Calls for which no verdict could be had; all refused but those of fail_open_total.',
      ['surface', 'cause']
    ),
    failOpen: counter('fail_open_total', 'Requests forwarded without a verdict, as configured.', ['route', 'cause']),
    filesRead: counter('files_read_total', 'Files that were to be read, by their kind, or by why they were not.', [
      'outcome'
    ]),
    fileDuration: histogram(
      'file_duration_seconds',
      'From a file to its texts: waiting and reading, or remembering.',
      ['outcome'],
      judgeBuckets
    ),
    notEvaluated: counter('not_evaluated_total', 'Content that passed unjudged, as configured.', ['reason']),
    streamHeldBytes: new Gauge({
      name: 'sluicegate_stream_held_bytes',
      help: 'Bytes of streams held back until their verdict.',
      registers
    }),
    streamAddedTtft: histogram(
      'stream_added_ttft_seconds',
      'Delay of the first byte of a stream by holding it back.',
      [],
      upstreamBuckets
    ),
    /** `end`: complete, filtered (by the verdict), upstream (broke or was late), client (left), failed (no verdict). */
    streamEnds: counter('stream_ends_total', 'How streamed answers ended.', ['end']),
    realtimeSessions: new Gauge({
      name: 'sluicegate_realtime_sessions',
      help: 'Open sessions of the Realtime API.',
      registers
    }),
    /** `end`: client (closed it), upstream (closed it, broke or was late), refused (binary frames), key (revoked), idle, stopped (the gateway stops), failed (no verdict). */
    realtimeEnds: counter('realtime_ends_total', 'How sessions of the Realtime API ended.', ['end']),
    mcpStreams: new Gauge({
      name: 'sluicegate_mcp_streams',
      help: 'Open streams of MCP servers.',
      registers
    }),
    /** `reason`: see `proxy/mcp/definitions.ts`. */
    mcpWithheld: counter('mcp_definitions_withheld_total', 'Definitions of MCP servers that were withheld.', [
      'reason'
    ]),
    reviewOutcomes: counter('review_outcomes_total', 'Decided reviews.', ['decision']),
    clarifications: counter('clarifications_total', 'Questions to people and what came of them.', ['outcome']),
    /** `bound`: key, account, total, bytes. */
    reviewsRefused: counter('review_queue_full_total', 'Verdicts that found the queue of reviews full.', ['bound']),
    /** `outcome`: stored, withheld (of what is never kept), queue_full, failed. */
    samples: counter('samples_total', 'Samples that were taken, by what became of them.', ['outcome']),
    webhookDeliveries: counter('webhook_deliveries_total', 'Attempts to deliver to the webhook of reviews.', [
      'outcome'
    ]),
    /** `channel`: webhook, email. `outcome`: delivered, failed (tried again), dead. */
    noticeDeliveries: counter('notice_deliveries_total', 'Attempts to deliver a notice.', ['channel', 'outcome']),
    traceSpans: counter('trace_spans_total', 'Spans by whether the collector took them.', ['result']),
    configReloads: counter('config_reloads_total', 'Reloads of the configuration.', ['result'])
  }
}

/** A scrape waits no longer than this for the storage. */
const answerMs = 2_000

/** Undefined where it fails or is late. */
function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), answerMs)
    timer.unref()
    answer.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer))
  })
}

const statusClasses = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** `2xx` … `5xx`: a closed set, unlike the status itself. */
export function statusClass(status: number): string {
  return statusClasses[Math.floor(status / 100)] ?? '0xx'
}
