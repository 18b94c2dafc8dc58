/**
 * Every name that a span of ours may carry: one table, which docs/metrics-and-traces.md repeats. Those of HTTP,
 * servers and generative models are OpenTelemetry's semantic conventions (the latter still in development: they have
 * changed before).
 */
export const spanNames = {
  request: '{method} {route}',
  verdict: 'evaluate {direction}',
  upstream: '{gen_ai.operation.name} {gen_ai.request.model}'
} as const
export type SpanName = keyof typeof spanNames

/** Attributes, with their spans and meanings. */
export const traceAttributes = {
  'http.request.method': { on: ['request'], says: 'the method' },
  'http.route': { on: ['request'], says: 'the route as the OpenAPI document writes it, never the path' },
  'http.response.status_code': { on: ['request', 'upstream'], says: 'the status, to the client and of the upstream' },
  'error.type': {
    on: ['request', 'verdict', 'upstream'],
    says: 'a status from 500 on; `evaluator_unavailable`; the status or the code of an upstream that failed'
  },
  'sluicegate.request_id': { on: ['request'], says: 'as `x-request-id`' },
  'sluicegate.decision': {
    on: ['request', 'verdict'],
    says: 'the strictest decision of the request; that of the verdict'
  },
  'sluicegate.risk_score': { on: ['request', 'verdict'], says: 'of that verdict, 0 to 1' },
  'sluicegate.rules': { on: ['request', 'verdict'], says: 'the names of the rules that matched' },
  'sluicegate.policy': { on: ['request', 'verdict'], says: '`name@version` of the constitution' },
  'sluicegate.verdicts': {
    on: ['request'],
    says: 'how many there were; of a long stream only the first 64 have spans'
  },
  'sluicegate.direction': { on: ['verdict'], says: '`request` or `answer`' },
  'sluicegate.surface': {
    on: ['verdict'],
    says: '`evaluate`, `moderations`, `chat`, `answer`, `guard`, `mcp_definition`, `mcp_call`, `mcp_result`'
  },
  'sluicegate.route': { on: ['verdict', 'upstream'], says: 'the id of the route' },
  'sluicegate.evaluation_id': { on: ['verdict'], says: 'as in the answer and the audit' },
  'sluicegate.upstream': { on: ['upstream'], says: 'its name in the configuration' },
  'server.address': { on: ['upstream'], says: 'its host' },
  'server.port': { on: ['upstream'], says: 'its port' },
  'gen_ai.operation.name': {
    on: ['upstream'],
    says: '`chat`, `generate_content`, `text_completion`, `embeddings`, `count_tokens`, `execute_tool`'
  },
  'gen_ai.provider.name': {
    on: ['upstream'],
    says: 'whose API is spoken: `openai`, `azure.ai.openai`, `anthropic`, `gcp.gemini`, `ollama`, `cohere`, `aws.bedrock`, `mcp`'
  },
  'gen_ai.request.model': { on: ['upstream'], says: 'the model asked for, where it looks like the name of one' },
  'gen_ai.request.stream': { on: ['upstream'], says: 'whether a stream was asked for' },
  'gen_ai.usage.input_tokens': { on: ['upstream'], says: 'as the upstream counted' },
  'gen_ai.usage.output_tokens': { on: ['upstream'], says: 'as the upstream counted' }
} as const satisfies Record<string, { on: readonly SpanName[]; says: string }>
export type TraceAttribute = keyof typeof traceAttributes

export type TraceAttributes = Partial<Record<TraceAttribute, string | number | boolean | string[]>>
