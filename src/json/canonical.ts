import type { Json } from '../base/chat.js'

/**
 * One text per value: keys in code-unit order, no white space (the order and layout of RFC 8785). So equal requests are
 * equal for a review, independent of the order in which a client's JSON library writes. Depth is bounded by the reader.
 */
export function canonicalJson(value: Json): string {
  // The engine's own writer is many times faster, and writes the same where every object is in order already.
  return isOrdered(value) ? JSON.stringify(value) : inOrder(value)
}

function inOrder(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(inOrder).join(',')}]`
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${inOrder(value[key]!)}`)
  return `{${members.join(',')}}`
}

function isOrdered(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isOrdered)
  let before: string | undefined
  for (const key in value) {
    if ((before !== undefined && key < before) || !isOrdered(value[key]!)) return false
    before = key
  }
  return true
}
