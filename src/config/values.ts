/** Types of configuration values: their checks, and the accepted forms for error messages. */
import Type from 'typebox'
import {
  durationForms,
  isAddressOrCidr,
  isHttpPrefix,
  isLoopbackUrl,
  isPrivateNetwork,
  parseDuration,
  parseSize,
  sizeForms
} from '../base/units.js'

/** Node's timers fire at once beyond this many milliseconds. */
const maxTimerMs = 2 ** 31 - 1
/** Longer than any client waits for an answer. */
const maxHoldMs = 600_000
/** A year: longer periods are mistakes. */
const maxPeriodMs = 366 * 86_400_000
/** Bodies are held as one string; V8's end at 512 MiB. */
const maxBodyBytes = 256 * 1024 ** 2
const mebibyte = 1024 ** 2
const maxRoomBytes = 64 * 1024 ** 3

/** Paths that the gateway answers itself. */
const ownPath =
  /^\/(?:(?:api\/v1|mcp|v1\/moderations|metrics|healthz|readyz|openapi\.json|docs)(?:\/|$)|v1\/models(?:\/[^:]*)?$)/

/** Formats that JSON Schema cannot express. */
export const formats: Record<string, (text: string) => boolean> = {
  duration: (text) => parseDuration(text) !== undefined,
  timeout: (text) => between(parseDuration(text), 1, maxTimerMs),
  period: (text) => between(parseDuration(text), 1, maxPeriodMs),
  hold: (text) => between(parseDuration(text), 0, maxHoldMs),
  size: (text) => between(parseSize(text), 1, maxBodyBytes),
  room: (text) => between(parseSize(text), mebibyte, maxRoomBytes),
  'address-or-cidr': isAddressOrCidr,
  'private-cidr': isPrivateNetwork,
  'http-prefix': isHttpPrefix,
  // Slack and similar services have the secret in the path or query.
  'webhook-url': (text) => isHttpPrefix(text.replace(/\?[^#\s]*$/, '')),
  issuer: (text) => isHttpPrefix(text) && (text.startsWith('https:') || isLoopbackUrl(text)),
  // The edge refuses every other spelling of a path before routing (docs/architecture.md, rule 2): a route on one
  // would never match.
  'route-path': (text) =>
    /^(?:\/(?:[A-Za-z0-9_~-]|\{[a-z_]+\})(?:[A-Za-z0-9._~:-]|\{[a-z_]+\})*)+$/.test(text) && !ownPath.test(text),
  'docs-url': (text) => /^\/[A-Za-z0-9._~/-]+$/.test(text) || isHttpPrefix(text)
}

function between(value: number | undefined, least: number, most: number): boolean {
  return value !== undefined && value >= least && value <= most
}

export const closed = { additionalProperties: false } as const

export const text = (accepts: string) => Type.String({ minLength: 1, accepts })
export const host = Type.String({ pattern: '^[A-Za-z0-9.:_-]+$', accepts: 'an address or a host name' })
export const port = Type.Integer({ minimum: 0, maximum: 65535, accepts: '0 to 65535; 0 takes a free port' })
export const duration = Type.String({ format: 'duration', accepts: durationForms })
export const timeout = Type.String({ format: 'timeout', accepts: `more than 0: ${durationForms}` })
export const period = Type.String({ format: 'period', accepts: `more than 0, at most 366d: ${durationForms}` })
export const size = Type.Unsafe<string | number>({
  type: ['integer', 'string'],
  format: 'size',
  minimum: 1,
  maximum: maxBodyBytes,
  accepts: `${sizeForms}, at most 256MiB`
})
export const room = Type.Unsafe<string | number>({
  type: ['integer', 'string'],
  format: 'room',
  minimum: mebibyte,
  maximum: maxRoomBytes,
  accepts: `${sizeForms}, at least 1MiB, at most 64GiB`
})
export const hold = Type.String({ format: 'hold', accepts: `at most 10m: ${durationForms}` })
export const perMinute = Type.Integer({ minimum: 1, maximum: 1_000_000, accepts: '1 to 1000000' })
export const file = text('the path of a PEM file')
export const upstreamName = text('the name of an upstream')
export const choice = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ enum: [...values], accepts: values.join(', ') })
export const path = Type.String({
  format: 'route-path',
  accepts:
    'an exact path such as /v1/chat/completions or /v1beta/models/{model}:generateContent, outside the paths that the gateway answers itself'
})
/** Names become labels of metrics and keys of objects. */
export const named = <T extends Parameters<typeof Type.Record>[1]>(value: T) =>
  Type.Record(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' }), value, {
    ...closed,
    accepts: 'names of letters, digits, "_", "." and "-"'
  })
