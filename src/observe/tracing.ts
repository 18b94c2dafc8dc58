/**
 * OpenTelemetry traces, where they are configured: a span for each request, for each verdict and for the call upstream.
 * Spans never contain a text, key or credential (`trace-names.ts` lists all attributes). Tracing never fails or delays
 * a request: finished spans wait in a bounded queue, and those that cannot be exported are dropped and counted.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Span, SpanKind as SpanKinds } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { TracingSettings } from '../base/settings.js'
import { version } from '../base/version.js'
import { type Evaluation, strictest } from '../policy/evaluation.js'
import type { Log } from './log.js'
import type { Metrics } from './metrics.js'
import type { Decided, Recorder } from './record.js'
import type { TraceAttributes } from './trace-names.js'
import type { UnjudgedRecorder } from './unjudged.js'

export interface Tracing {
  readonly toUpstream: TracingSettings['toUpstream']
  begin(requestId: string, method: string, route: string, headers: IncomingHttpHeaders): void
  /** The request is answered, or its client has left. */
  end(requestId: string, status: number): void
  /** The same recorders, which also put a span under the request. */
  recording(record: Recorder): Recorder
  recordingUnjudged(record: UnjudgedRecorder): UnjudgedRecorder
  /** A call upstream begins. Undefined where the request has no span. */
  upstream(requestId: string, attributes: TraceAttributes): UpstreamSpan | undefined
  /** `traceparent` of the call under way, or of the request. */
  traceparent(requestId: string): string | undefined
  /** Exports waiting spans, for a few seconds at most. */
  close(): Promise<void>
}

export interface UpstreamSpan {
  set(attributes: TraceAttributes): void
  end(attributes: TraceAttributes): void
}

/** A request with its span. */
interface Traced {
  span: Span
  upstream: Span | undefined
  verdicts: number
  worst: Evaluation | undefined
}

/** Spans of verdicts under one request: a long stream has hundreds of verdicts. */
const mostVerdicts = 64
/** Requests under way at once that have spans; beyond, requests have none. */
const mostRequests = 10_000
/** How long an exit waits for a collector. */
const flushMs = 3_000
/** W3C Trace Context, level 1. */
const traceparentForm = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

interface Recording {
  record: Recorder
  unjudged: UnjudgedRecorder
  close(): Promise<void>
}

/** Adds a span for each verdict. Without traces the recorders stay unchanged. */
export function traced<T extends Recording>(recording: T, tracing: Tracing): T & { tracing: Tracing } {
  return {
    ...recording,
    tracing,
    record: tracing.recording(recording.record),
    unjudged: tracing.recordingUnjudged(recording.unjudged),
    async close() {
      await recording.close()
      await tracing.close()
    }
  }
}

/** @throws where the libraries cannot be loaded */
export async function openTracing(
  settings: TracingSettings & { endpoint: string },
  { log, metrics, node }: { log: Log; metrics: Pick<Metrics, 'traceSpans'>; node: string }
): Promise<Tracing> {
  const [api, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http')
  ])
  const { trace, ROOT_CONTEXT, SpanKind, SpanStatusCode } = api
  const exporter = new OTLPTraceExporter({ url: settings.endpoint, headers: { ...settings.headers } })
  let isFailing = false
  const told: Pick<typeof exporter, 'export' | 'shutdown' | 'forceFlush'> = {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0
        metrics.traceSpans.inc({ result: failed ? 'failed' : 'exported' }, spans.length)
        // Logged only on changes, since a collector may be away for days.
        if (failed && !isFailing) log.warn({ code: codeOf(result.error) }, 'traces cannot be exported')
        if (!failed && isFailing) log.info({}, 'traces are exported again')
        isFailing = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush()
  }
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.version': version,
      'service.instance.id': randomUUID(),
      'host.name': node,
      ...settings.attributes,
      'service.name': settings.serviceName
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(settings.ratio) }),
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [new sdk.BatchSpanProcessor(told as typeof exporter)]
  })
  const tracer = provider.getTracer('sluicegate', version)
  const requests = new Map<string, Traced>()

  function parentOf(headers: IncomingHttpHeaders) {
    const { traceparent } = headers
    const found =
      settings.fromClient === 'continue' && typeof traceparent === 'string' && traceparentForm.exec(traceparent)
    if (!found) return ROOT_CONTEXT
    const [, traceId = '', spanId = '', flags = ''] = found
    return trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: Number.parseInt(flags, 16) & 1,
      isRemote: true
    })
  }
  function child(traced: Traced, name: string, kind: SpanKinds, attributes: TraceAttributes, startTime?: number): Span {
    const options = { kind, attributes, ...(startTime === undefined ? {} : { startTime }) }
    return tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, traced.span))
  }
  function failed(span: Span, attributes: TraceAttributes): void {
    span.setAttributes(attributes)
    if (attributes['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
  }
  function addVerdict({ surface, evaluation, route, requestId }: Decided): void {
    const traced = requests.get(requestId)
    if (traced === undefined) return
    const { worst } = traced
    const { decision } = evaluation
    if (worst === undefined || (worst.decision !== decision && strictest(worst.decision, decision) === decision))
      traced.worst = evaluation
    if (++traced.verdicts > mostVerdicts || !traced.span.isRecording()) return
    const now = Date.now()
    const direction = directionOf(surface)
    const attributes = {
      ...verdictAttributes(evaluation),
      'sluicegate.direction': direction,
      'sluicegate.surface': surface,
      'sluicegate.route': route,
      'sluicegate.evaluation_id': evaluation.evaluation_id
    }
    child(traced, `evaluate ${direction}`, SpanKind.INTERNAL, attributes, now - evaluation.decision_time_ms).end(now)
  }

  return {
    toUpstream: settings.toUpstream,
    begin(requestId, method, route, headers) {
      if (requests.size >= mostRequests) return
      const attributes: TraceAttributes = {
        'http.request.method': method,
        'http.route': route,
        'sluicegate.request_id': requestId
      }
      const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parentOf(headers))
      requests.set(requestId, { span, upstream: undefined, verdicts: 0, worst: undefined })
    },
    end(requestId, status) {
      const traced = requests.get(requestId)
      if (traced === undefined) return
      requests.delete(requestId)
      const { span, worst, verdicts } = traced
      if (worst !== undefined) span.setAttributes({ ...verdictAttributes(worst), 'sluicegate.verdicts': verdicts })
      failed(span, {
        'http.response.status_code': status,
        ...(status >= 500 ? { 'error.type': String(status) } : {})
      })
      span.end()
    },
    recording: (record) => (decided) => {
      addVerdict(decided)
      return record(decided)
    },
    recordingUnjudged: (record) => (unjudged) => {
      const { surface, route, requestId } = unjudged
      const traced = requests.get(requestId)
      if (traced?.span.isRecording()) {
        const direction = directionOf(surface)
        const attributes = {
          'sluicegate.direction': direction,
          'sluicegate.surface': surface,
          'sluicegate.route': route
        }
        const span = child(traced, `evaluate ${direction}`, SpanKind.INTERNAL, attributes)
        failed(span, { 'error.type': 'evaluator_unavailable' })
        span.end()
      }
      return record(unjudged)
    },
    upstream(requestId, attributes) {
      const traced = requests.get(requestId)
      if (traced === undefined) return undefined
      const model = attributes['gen_ai.request.model']
      const name = [attributes['gen_ai.operation.name'], ...(model === undefined ? [] : [model])].join(' ')
      const span = child(traced, name, SpanKind.CLIENT, attributes)
      traced.upstream = span
      return {
        set: (more) => void span.setAttributes(more),
        end(more) {
          failed(span, more)
          span.end()
        }
      }
    },
    traceparent(requestId) {
      const traced = requests.get(requestId)
      const context = (traced?.upstream ?? traced?.span)?.spanContext()
      if (context === undefined) return undefined
      return `00-${context.traceId}-${context.spanId}-${(context.traceFlags & 1).toString().padStart(2, '0')}`
    },
    async close() {
      for (const { span } of requests.values()) span.end()
      requests.clear()
      const late = new Promise<void>((resolve) => setTimeout(resolve, flushMs).unref())
      await Promise.race([provider.shutdown().catch(() => undefined), late])
    }
  }
}

function verdictAttributes({ decision, risk_score, matched_rules, policy }: Evaluation): TraceAttributes {
  return {
    'sluicegate.decision': decision,
    'sluicegate.risk_score': risk_score,
    'sluicegate.rules': [...matched_rules],
    'sluicegate.policy': policy
  }
}

function directionOf(surface: Decided['surface']): 'request' | 'answer' {
  return surface === 'answer' ? 'answer' : 'request'
}

/** Never the message, which may contain a collector's answer or a URL with a password. */
function codeOf(error: Error | undefined): string {
  return String((error as { code?: unknown } | undefined)?.code ?? error?.name ?? 'unknown')
}
