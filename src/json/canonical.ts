import type { Json } from '../chat.js'

/**
 * One text per value: keys in code-unit order, no white space (the order and layout of RFC 8785). Two requests that say
 * the same are the same request to a review, whatever order a client's JSON library writes. Depth is bounded by the reader.
 */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key]!)}`)
  return `{${members.join(',')}}`
}
