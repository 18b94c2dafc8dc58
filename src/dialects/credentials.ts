/**
 * Credentials that an API takes for a remote MCP server. The provider hands them to that server, and no model reads them,
 * so that they are no leak of a secret.
 *
 * Shapes: platform.openai.com/docs/guides/tools-connectors-mcp (`authorization`, `headers` of a tool of type `mcp`),
 * docs.claude.com/en/docs/agents-and-tools/mcp-connector (`authorization_token` of a server of type `url`).
 */
import { isUtf8 } from 'node:buffer'
import type { Json, JsonObject } from '../base/chat.js'
import { isObject } from './rewrite.js'

const fields = ['authorization', 'authorization_token'] as const

/** A token behind its scheme, if any (RFC 9110 section 11.4, `token68`). */
const shape = /^(?:[A-Za-z]{3,12} +)?([\w.~+/=:-]{16,4096})$/

/** Whether a value is a token and nothing else: words, and base64 of words, are judged like any other field. */
function isCredential(value: Json | undefined): boolean {
  const token = typeof value === 'string' ? shape.exec(value)?.[1] : undefined
  return token !== undefined && /\d/.test(token) && /[A-Za-z]/.test(token) && !isUtf8(Buffer.from(token, 'base64'))
}

/** @param value definitions of tools or of servers @returns the same without the credentials in them */
export function withoutCredentials(value: Json | undefined): Json | undefined {
  if (!Array.isArray(value) || !value.some(isRemote)) return value
  return value.map((each) => (isRemote(each) ? cleared(each) : each))
}

function isRemote(value: Json): value is JsonObject {
  return isObject(value) && (value.type === 'mcp' || value.type === 'url')
}

function cleared(server: JsonObject): JsonObject {
  const rest = { ...server }
  for (const field of fields) if (isCredential(rest[field])) delete rest[field]
  if (isObject(rest.headers)) {
    const others = Object.entries(rest.headers).map(
      ([name, value]) => [name, isCredential(value) ? '' : value] as const
    )
    rest.headers = Object.fromEntries(others)
  }
  return rest
}
