/**
 * The chat routes in the OpenAPI document. Other APIs define the bodies: this document lists the fields that the
 * gateway itself reads, and leaves the objects open.
 */
import type { Dialect } from '../../dialects/dialect.js'
import { parametersOf } from '../../dialects/path.js'
import type { ErrorEnvelope } from '../../edge/doc-errors.js'
import { chatRefusals, type Described } from '../../edge/doc-responses.js'
import type { PathEntry } from '../request/routes.js'
import { anything, shapes, text } from './described-shapes.js'

const pieces = { ...text, description: 'Pieces as the API publishes them; the gateway releases what it has judged.' }

/** A guarded route. An operation at its first published path has its own name, and elsewhere the path as well. */
export function describeChat({ path, dialect }: Pick<PathEntry, 'path' | 'dialect'>): Described {
  const common = {
    tags: ['chat'],
    envelope: envelopeOf(dialect),
    ...parametersIn(path),
    ...queryOf(dialect)
  }
  if (dialect.id === 'openai-realtime') {
    return {
      ...common,
      operationId: idAt('connectRealtime', path, '/v1/realtime'),
      summary: 'A session of OpenAI’s Realtime API over a WebSocket: events are evaluated in both directions',
      response: { 101: { description: 'A WebSocket' } }
    }
  }
  const shape = dialect.id === 'mcp' ? undefined : shapes[dialect.id][dialect.suffix]
  if (shape === undefined) throw new Error(`${dialect.id} has no operation ${dialect.suffix}`)
  const { operationId, summary, request, consumes, answer } = shape
  return {
    ...common,
    operationId: idAt(operationId, path, dialect.paths[0]),
    summary,
    description:
      'The request and the answer are evaluated. Fields that are not listed here pass as the API takes them.',
    body: request,
    ...(consumes !== undefined && { consumes: [consumes] }),
    response: {
      200: {
        description: "The upstream's answer, or a refusal where the route says `respond: message`",
        content: {
          [shape.type ?? 'application/json']: { schema: answer },
          ...(dialect.textAnswers !== undefined && { 'text/plain': { schema: text } }),
          ...(shape.pieces !== undefined && { [shape.pieces]: { schema: pieces } })
        }
      }
    }
  }
}

const passNames: Readonly<Record<string, string>> = {
  '/v1/models': 'listModels',
  '/v1/models/:id': 'getModel',
  '/v1beta/models': 'listGeminiModels',
  '/v1beta/models/:id': 'getGeminiModel',
  '/api/tags': 'listOllamaModels',
  '/api/version': 'getOllamaVersion'
}

/** A route that is forwarded with a key and without evaluation. */
export function describePass(path: string, [dialect]: readonly [Dialect, ...Dialect[]]): Described {
  return {
    operationId: passNames[path] ?? `get${pascal(path)}`,
    summary: 'Forwarded with a key, without evaluation',
    tags: ['chat'],
    envelope: envelopeOf(dialect),
    ...(path.endsWith('/:id') && { params: paths({ id: { ...text, description: 'The name of a model.' } }) }),
    response: { 200: { description: "The upstream's answer", content: { 'application/json': { schema: anything } } } }
  }
}

/** One entry for all paths of the route table: Envoy asks about each in the same way. */
export const extAuthzDescribed: Described = {
  operationId: 'guardExtAuthz',
  summary: 'Envoy’s external authorization: the request of this path is judged',
  description:
    'The target is a path of the route table, its slashes as they stand. Errors come in the shape of its API.',
  tags: ['guards'],
  params: paths({ target: { ...text, description: 'A path of the route table without its first slash.' } }),
  body: anything,
  response: {
    200: { description: 'The request may proceed.' },
    ...Object.fromEntries(Object.entries(chatRefusals).map(([status, { description }]) => [status, { description }]))
  }
}

/** Dialects whose errors have a shape of their own; the others have OpenAI's. */
const ownEnvelopes = ['anthropic', 'gemini', 'ollama', 'cohere', 'bedrock'] as const satisfies ErrorEnvelope[]

function envelopeOf({ id }: Dialect): ErrorEnvelope {
  return ownEnvelopes.find((each) => each === id) ?? 'openai'
}

function idAt(operationId: string, path: string, usual: string | undefined): string {
  return path === usual ? operationId : `${operationId}At${pascal(path)}`
}

function pascal(path: string): string {
  return path.replace(
    /[^A-Za-z0-9]*([A-Za-z0-9]+)[^A-Za-z0-9]*/g,
    (_, word: string) => word[0]!.toUpperCase() + word.slice(1)
  )
}

function parametersIn(path: string): Pick<Described, 'params'> {
  const names = parametersOf(path)
  if (names.length === 0) return {}
  return { params: paths(Object.fromEntries(names.map((name) => [name, { ...text, description: `The ${name}.` }]))) }
}

function paths(properties: Record<string, object>): object {
  return { type: 'object', properties, required: Object.keys(properties) }
}

function queryOf({ query }: Dialect): Pick<Described, 'querystring'> {
  const names = Object.entries(query)
  if (names.length === 0) return {}
  const properties = names.map(([name, form]) => [
    name,
    { ...text, ...(form.flags === '' && { pattern: form.source }) }
  ])
  return { querystring: { type: 'object', properties: Object.fromEntries(properties) } }
}
