/** Tracing of upstream calls: a span in the request's trace, and the `traceparent` for the upstream. */
import { pipeline, Transform } from 'node:stream'
import { modelForm } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import type { DialectId, TracingSettings } from '../../base/settings.js'
import type { TraceAttributes } from '../../observe/trace-names.js'
import type { Tracing, UpstreamSpan } from '../../observe/tracing.js'
import { ClientGone } from '../exchange.js'
import type { Propagate } from '../headers.js'
import type { Transport } from './send.js'
import type { Upstreams } from './upstreams.js'

/** Undefined: the client's own trace headers pass unchanged. */
export function propagation(
  toUpstream: TracingSettings['toUpstream'],
  tracing: Pick<Tracing, 'traceparent'> | undefined
): Propagate | undefined {
  if (toUpstream === 'client') return undefined
  return (headers, requestId) => {
    delete headers['tracestate']
    delete headers['traceparent']
    const own = toUpstream === 'own' ? tracing?.traceparent(requestId) : undefined
    if (own !== undefined) headers['traceparent'] = own
  }
}

export function tracedTransport(transport: Transport, tracing: Tracing, upstreams: Upstreams): Transport {
  return async (exchange, forward) => {
    const { route, chat, inbound } = exchange
    const origin = upstreams.get(forward.upstream)?.origin
    const span = tracing.upstream(inbound.requestId, {
      ...called(route.spoken.id, route.upstreamPath, chat.model),
      'gen_ai.request.stream': chat.stream,
      'sluicegate.route': route.id,
      'sluicegate.upstream': forward.upstream,
      ...(origin === undefined ? {} : serverOf(origin))
    })
    if (span === undefined) return transport(exchange, forward)
    try {
      const answer = await transport(exchange, forward)
      const status: TraceAttributes = {
        'http.response.status_code': answer.status,
        ...(answer.status >= 400 ? { 'error.type': String(answer.status) } : {})
      }
      const usage = new UsageReader()
      if (Buffer.isBuffer(answer.body)) {
        usage.read(answer.body)
        span.end({ ...status, ...usage.found })
        return answer
      }
      span.set(status)
      return { ...answer, body: pipeline(answer.body, tap(usage, span), () => undefined) }
    } catch (error) {
      span.end({ 'error.type': errorType(error) })
      throw error
    }
  }
}

function tap(usage: UsageReader, span: UpstreamSpan): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      usage.read(chunk)
      done(null, chunk)
    },
    destroy(error, done) {
      // The reader closes the rest after the end marker.
      span.end({ ...usage.found, ...(error == null ? {} : { 'error.type': errorType(error) }) })
      done(error)
    }
  })
}

function errorType(error: unknown): string {
  if (error instanceof ClientGone) return 'client_gone'
  return error instanceof Fault ? error.code : 'upstream_error'
}

function serverOf(origin: string): TraceAttributes {
  const { hostname, port, protocol } = new URL(origin)
  return { 'server.address': hostname, 'server.port': Number(port || (protocol === 'https:' ? 443 : 80)) }
}

const providers: Readonly<Record<DialectId | 'mcp', string>> = {
  mcp: 'mcp',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  'openai-realtime': 'openai',
  'openai-completions': 'openai',
  'openai-embeddings': 'openai',
  'openai-images': 'openai',
  'openai-speech': 'openai',
  'openai-transcriptions': 'openai',
  'azure-openai': 'azure.ai.openai',
  anthropic: 'anthropic',
  gemini: 'gcp.gemini',
  ollama: 'ollama',
  cohere: 'cohere',
  bedrock: 'aws.bedrock'
}

/** Names of operations, by the end of the path in every dialect. */
const operations: readonly [path: RegExp, name: string][] = [
  [/embed/i, 'embeddings'],
  [/count_?tokens$/i, 'count_tokens'],
  [/generateContent$|images\/(?:generations|edits)$|audio\/[a-z]+$/i, 'generate_content'],
  [/chat\/completions$/, 'chat'],
  [/(completions|generate)$/, 'text_completion']
]

function called(id: DialectId | 'mcp', path: string, model: string | undefined): TraceAttributes {
  if (id === 'mcp') return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.provider.name': 'mcp' }
  const operation = operations.find(([form]) => form.test(path))?.[1] ?? 'chat'
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': providers[id],
    ...(model !== undefined && modelForm.test(model) ? { 'gen_ai.request.model': model } : {})
  }
}

/** In JSON a quotation mark within a text is escaped, so that no text of an answer can pass for its count. */
const inputForm = /"(?:prompt_tokens|input_tokens|inputTokens|promptTokenCount|prompt_eval_count)"\s*:\s*(\d{1,12})\b/g
const outputForm =
  /"(?:completion_tokens|output_tokens|outputTokens|candidatesTokenCount|eval_count)"\s*:\s*(\d{1,12})\b/g

/** Finds token counts in a passing answer of any dialect, and keeps the last of each. */
class UsageReader {
  readonly found: TraceAttributes = {}
  #rest = ''

  read(chunk: Buffer): void {
    const text = this.#rest + chunk.toString('latin1')
    this.#last(text, inputForm, 'gen_ai.usage.input_tokens')
    this.#last(text, outputForm, 'gen_ai.usage.output_tokens')
    this.#rest = text.slice(-64)
  }

  #last(text: string, form: RegExp, name: 'gen_ai.usage.input_tokens' | 'gen_ai.usage.output_tokens'): void {
    for (const match of text.matchAll(form)) this.found[name] = Number(match[1])
  }
}
