/** Compiles the settings of traces: OpenTelemetry's own variables override the section `tracing`. */
import Type, { type Static } from 'typebox'
import type { TracingSettings } from '../base/settings.js'
import { isHttpPrefix } from '../base/units.js'
import type { Environment } from './env.js'
import type { Fail } from './problem.js'
import { choice, closed, text } from './values.js'

export const tracingSection = Type.Object(
  {
    endpoint: Type.Optional(
      Type.String({
        format: 'http-prefix',
        accepts: 'the http or https URL of an OTLP collector, without /v1/traces, credentials, query or fragment'
      })
    ),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }),
        Type.String({ pattern: '^[\\x20-\\x7e]*$', accepts: 'visible ASCII, as a header takes it' }),
        { ...closed, accepts: 'names of headers' }
      )
    ),
    service_name: Type.Optional(text('a name')),
    sample: Type.Optional(Type.Number({ minimum: 0, maximum: 1, accepts: '0 to 1' })),
    from_client: Type.Optional(choice(['ignore', 'continue'])),
    to_upstream: Type.Optional(choice(['client', 'own', 'none']))
  },
  closed
)

/** Where the specification of OpenTelemetry says that collectors listen. */
const defaultEndpoint = 'http://localhost:4318'
const samplers: Readonly<Record<string, (ratio: number) => number>> = {
  always_on: () => 1,
  always_off: () => 0,
  traceidratio: (ratio) => ratio
}

export function compileTracing(
  section: Static<typeof tracingSection> = {},
  { lookup }: Environment,
  fail: Fail,
  failVariable: (name: string, reason: string) => void
): TracingSettings {
  const wrong = (name: string, accepts: string) => failVariable(name, `is not valid (${accepts})`)
  const first = (...names: string[]) => names.find((name) => lookup(name) !== undefined)

  const protocol = first('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL')
  if (protocol !== undefined && lookup(protocol) !== 'http/json') wrong(protocol, 'http/json')
  const kind = lookup('OTEL_TRACES_EXPORTER')
  if (kind !== undefined && !['otlp', 'none'].includes(kind)) wrong('OTEL_TRACES_EXPORTER', 'otlp, none')

  const variable = first('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT')
  const given = variable === undefined ? undefined : lookup(variable)
  if (given !== undefined && !isHttpPrefix(given)) {
    wrong(variable!, 'an http or https URL without credentials, query or fragment')
  }
  const base = section.endpoint ?? (kind === 'otlp' ? defaultEndpoint : undefined)
  const endpoint =
    variable === 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' ? given : (given ?? base) && tracesOf((given ?? base)!)
  const isOff = lookup('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || kind === 'none'

  const headersFrom = first('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS')
  const settings = {
    endpoint: isOff ? undefined : endpoint,
    headers: (headersFrom && pairs(headersFrom)) || (section.headers ?? {}),
    attributes: lookup('OTEL_RESOURCE_ATTRIBUTES') === undefined ? {} : pairs('OTEL_RESOURCE_ATTRIBUTES'),
    serviceName: lookup('OTEL_SERVICE_NAME') ?? section.service_name ?? 'sluicegate',
    ratio: ratio(),
    fromClient: section.from_client ?? 'ignore',
    toUpstream: section.to_upstream ?? 'client'
  }
  if (settings.toUpstream === 'own' && endpoint === undefined) {
    fail(['tracing', 'to_upstream'], 'is own, and there are no traces to continue (set endpoint)')
  }
  return settings

  function ratio(): number {
    const name = lookup('OTEL_TRACES_SAMPLER')
    const argument = lookup('OTEL_TRACES_SAMPLER_ARG')
    const isShare = argument === undefined || (/^(0|1|0?\.\d{1,9}|[01]\.0*)$/.test(argument) && Number(argument) <= 1)
    if (!isShare) wrong('OTEL_TRACES_SAMPLER_ARG', '0 to 1')
    if (name === undefined) return section.sample ?? 1
    // `parentbased_` is ignored, since `from_client` decides whether a parent counts.
    const sampler = samplers[name.replace(/^parentbased_/, '')]
    if (sampler === undefined) {
      wrong('OTEL_TRACES_SAMPLER', 'always_on, always_off or traceidratio, each also with parentbased_')
      return 1
    }
    return sampler(argument === undefined || !isShare ? 1 : Number(argument))
  }
  /** `name=value,…`, percent-encoded (W3C Baggage). */
  function pairs(variable: string): Record<string, string> {
    const found: Record<string, string> = {}
    for (const pair of lookup(variable)!.split(',')) {
      if (pair.trim() === '') continue
      const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      try {
        found[decodeURIComponent(name ?? '%')] = decodeURIComponent(value!)
      } catch {
        wrong(variable, 'name=value, …, percent-encoded')
      }
    }
    return found
  }
}

function tracesOf(endpoint: string): string {
  return `${endpoint.replace(/\/$/, '')}/v1/traces`
}
