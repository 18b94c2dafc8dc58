/** An OTLP/HTTP collector: takes JSON on /v1/traces, keeps every span, and fails where the test says so. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Value = {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values: Value[] }
}
interface Attribute {
  key: string
  value: Value
}

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  /** 1 internal, 2 server, 3 client */
  kind: number
  ms: number
  attributes: Record<string, unknown>
  failed: boolean
}

export interface Collector {
  url: string
  spans: CollectedSpan[]
  resource: Record<string, unknown>
  /** Everything that was received, headers included. */
  raw: string[]
  /** Status of the answers; undefined: none comes. */
  status: number | undefined
  close(): Promise<void>
}

const plain = (value: Value): unknown =>
  value.arrayValue !== undefined
    ? value.arrayValue.values.map(plain)
    : value.intValue !== undefined
      ? Number(value.intValue)
      : (value.stringValue ?? value.doubleValue ?? value.boolValue)
const plainAll = (attributes: readonly Attribute[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))

export async function collector(t: { teardown(fn: () => unknown): unknown }): Promise<Collector> {
  const found: Collector = { url: '', spans: [], resource: {}, raw: [], status: 200, close: async () => {} }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    found.raw.push(`${JSON.stringify(request.rawHeaders)}\n${text}`)
    if (found.status === undefined) return
    response
      .writeHead(request.url === '/v1/traces' ? found.status : 404, { 'content-type': 'application/json' })
      .end('{}')
    if (found.status !== 200) return
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      found.resource = plainAll(resource.attributes)
      for (const { spans } of scopeSpans) {
        for (const span of spans) {
          const { traceId, spanId, parentSpanId, name, kind, attributes, status } = span
          const ms = Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6
          const failed = status?.code === 2
          found.spans.push({ traceId, spanId, parentSpanId, name, kind, ms, attributes: plainAll(attributes), failed })
        }
      }
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  found.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  found.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  t.teardown(found.close)
  return found
}
