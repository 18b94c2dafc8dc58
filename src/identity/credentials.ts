/** Finds the key in a request's headers: docs/api.md, section 3. */
import type { IncomingHttpHeaders } from 'node:http'
import { type ParsedKey, parseKey } from './key-format.js'

/** `none`: no credential; `unusable`: a credential that is no key of ours, or two different keys. */
export type Presented = { kind: 'none' } | { kind: 'unusable' } | { kind: 'key'; key: ParsedKey }

const none: Presented = { kind: 'none' }
const unusable: Presented = { kind: 'unusable' }

/**
 * Reads `X-API-Key`, `Authorization: Bearer` and the route's own key headers. A value that is no key of ours is ignored
 * beside one that is (clients send their provider's key along); two different keys are refused, since the choice must
 * not depend on the order of headers.
 * @param extra lower-case names of further headers
 */
export function presentedKey(headers: IncomingHttpHeaders, extra: readonly string[] = []): Presented {
  let found: string | undefined
  let parsed: ParsedKey | undefined
  let any = false
  const names = extra.length === 0 ? standard : [...standard, ...extra]
  for (const name of names) {
    for (const value of valuesOf(name, headers[name])) {
      any = true
      if (value === found) continue
      const key = parseKey(value)
      if (!key) continue
      if (found !== undefined) return unusable
      found = value
      parsed = key
    }
  }
  if (parsed) return { kind: 'key', key: parsed }
  return any ? unusable : none
}

const standard = ['x-api-key', 'authorization'] as const

/** How a browser, which can set no header on a WebSocket, sends a key to OpenAI: among the subprotocols that it offers. */
export const keySubprotocol = 'openai-insecure-api-key.'
const subprotocolHeader = 'sec-websocket-protocol'

/** Node joins repeated headers by a comma, which no key contains. Schemes other than Bearer present no key. */
function valuesOf(name: string, header: string | string[] | undefined): string[] {
  if (header === undefined) return []
  const text = typeof header === 'string' ? header : header.join(',')
  const values = text.includes(',') ? text.split(',').map((value) => value.trim()) : [text.trim()]
  if (name === subprotocolHeader) {
    return values.flatMap((value) => (value.startsWith(keySubprotocol) ? [value.slice(keySubprotocol.length)] : []))
  }
  if (name !== 'authorization') return values.filter((value) => value !== '')
  const tokens = values.map((value) => /^bearer +(\S+)$/i.exec(value)?.[1])
  return tokens.filter((token) => token !== undefined)
}
