/** Sends one judged message, or asks for a stream, over the connections to a server. */

import { mcp } from '../../dialects/mcp.js'
import type { Tracing } from '../../observe/tracing.js'
import type { Exchange, Inbound } from '../exchange.js'
import { mediaTypes } from '../headers.js'
import type { Sender, UpstreamAnswer } from '../upstream/send.js'
import { tracedTransport } from '../upstream/traced.js'
import { listening, type McpServer } from './server.js'

export interface Sent {
  server: McpServer
  method: 'GET' | 'POST' | 'DELETE'
  /** Headers of the protocol, written by the gateway. */
  headers: Readonly<Record<string, string>>
  body?: Buffer
  /** Default: of the exchange. */
  inbound?: Inbound
}

/** @throws as `Sender.send` */
export type Transmit = (exchange: Exchange, sent: Sent) => Promise<UpstreamAnswer>

/** Client headers that pass, in the forms of `headers.ts`: the trace context and the user agent. */
const passed = ['traceparent', 'tracestate', 'user-agent'] as const
/** Of the operator and of the gateway itself. */
const ours = { form: /^/ }
const maxAnswer = 16 * 1024 * 1024

export function createTransmit(sender: Sender, tracing: Tracing | undefined): Transmit {
  return (exchange, { server, method, headers, body, inbound = exchange.inbound }) => {
    const { caller, requestId, cancel } = inbound
    const own = { ...server.settings.headers, ...headers }
    const client = Object.fromEntries(passed.map((name) => [name, inbound.headers[name]]))
    const transport = (_exchange: Exchange, { upstream }: { upstream: string }) =>
      sender.send(upstream, {
        method,
        path: '',
        query: '',
        dialect: { ...mcp, requestHeaders: Object.fromEntries(Object.keys(own).map((name) => [name, ours])) },
        headers: { ...client, ...own },
        requestId,
        accept: method === 'GET' ? mediaTypes.sse.received : `application/json, ${mediaTypes.sse.received}`,
        body,
        limit: maxAnswer,
        streamed: undefined,
        lineage: caller.lineage,
        cancel
      })
    const upstream = method === 'GET' ? listening(server.name) : server.name
    const forward = { upstream, bytes: body ?? Buffer.alloc(0), type: 'application/json' }
    if (tracing === undefined || inbound !== exchange.inbound) return transport(exchange, forward)
    return tracedTransport(transport, tracing, sender.upstreams)(exchange, forward)
  }
}
