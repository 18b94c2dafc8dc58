/**
 * The headers of the protocol: which ones a client may send, and which ones the server gets. No header is copied: each
 * is written from the judged message, since a header that contradicts the body makes another request.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Json, JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import type { Message } from '../../dialects/mcp/message.js'
import {
  assumedRevision,
  isRevision,
  nameFields,
  type Revision,
  revisions,
  stateless
} from '../../dialects/mcp/methods.js'
import { isObject } from '../../dialects/rewrite.js'

export const versionHeader = 'mcp-protocol-version'
export const sessionHeader = 'mcp-session-id'
export const lastEventHeader = 'last-event-id'
const methodHeader = 'mcp-method'
const nameHeader = 'mcp-name'
const parameterPrefix = 'mcp-param-'
const versionField = 'io.modelcontextprotocol/protocolVersion'
/** Most arguments that a call may repeat in headers. */
const maxParameters = 32

/** The revision that a request without a body is of. @throws Fault `validation_error` */
export function revisionOf(headers: IncomingHttpHeaders): Revision {
  const given = headers[versionHeader]
  if (given === undefined) return assumedRevision
  if (typeof given === 'string' && isRevision(given)) return given
  throw invalid(versionHeader, 'unknown_value', `MCP-Protocol-Version must be one of ${revisions.join(', ')}.`)
}

/** Why the headers of a message contradict its body; undefined where they agree. */
export function mismatchOf(headers: IncomingHttpHeaders, message: Message): string | undefined {
  if (message.kind === 'response') return undefined
  const { method, params } = message
  const meta = isObject(params._meta) ? params._meta : {}
  const claimed = meta[versionField]
  const header = headers[versionHeader]
  if (claimed !== undefined && claimed !== header) return 'MCP-Protocol-Version differs from the body'
  if (header === stateless && claimed === undefined && message.kind === 'request') {
    return `the body lacks params._meta["${versionField}"]`
  }
  const isStateless = header === stateless
  const told = headers[methodHeader]
  if (told !== undefined ? told !== method : isStateless && message.kind === 'request')
    return 'Mcp-Method differs from the body'
  const named = params[nameFields[method] ?? '']
  const name = headers[nameHeader]
  if (name !== undefined ? decode(String(name)) !== named : isStateless && typeof named === 'string') {
    return 'Mcp-Name differs from the body'
  }
  return undefined
}

/**
 * @param session the server's own id
 * @throws Fault `validation_error` for a parameter header that matches no argument
 */
export function serverHeaders(
  headers: IncomingHttpHeaders,
  message: Message | undefined,
  session: string | undefined
): Record<string, string> {
  const out: Record<string, string> = {}
  const version = headers[versionHeader]
  if (version !== undefined) out[versionHeader] = revisionOf(headers)
  if (session !== undefined && version !== stateless) out[sessionHeader] = session
  if (version !== stateless || message === undefined || message.kind === 'response') return out
  const { method, params } = message
  out[methodHeader] = method
  const name = params[nameFields[method] ?? '']
  if (typeof name === 'string') out[nameHeader] = encode(name)
  if (method === 'tools/call') Object.assign(out, parameterHeaders(headers, params))
  return out
}

/** Headers for arguments only, since those were judged with the body. */
function parameterHeaders(headers: IncomingHttpHeaders, params: JsonObject): Record<string, string> {
  const given = Object.keys(headers).filter((name) => name.startsWith(parameterPrefix))
  if (given.length === 0) return {}
  if (given.length > maxParameters)
    throw invalid(given[maxParameters]!, 'out_of_range', `At most ${maxParameters} Mcp-Param headers are taken.`)
  const known = new Set<string>()
  collect(params.arguments, known)
  return Object.fromEntries(
    given.map((name) => {
      const value = decode(String(headers[name]))
      if (!known.has(value)) throw invalid(name, 'unknown_value', `${name} matches no argument.`)
      return [name, encode(value)]
    })
  )
}

function collect(value: Json | undefined, into: Set<string>): void {
  if (isObject(value)) for (const name of Object.keys(value)) collect(value[name], into)
  else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') into.add(String(value))
}

const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const coded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/

/** The encoding of values in headers of revision 2026-07-28. */
function encode(value: string): string {
  return plain.test(value) && !coded.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

function decode(value: string): string {
  const data = coded.exec(value)?.[1]
  return data === undefined ? value : Buffer.from(data, 'base64').toString()
}
