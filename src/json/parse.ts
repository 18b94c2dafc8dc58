/**
 * The strict parser of JSON from outside. If two parsers read different values from one text, it is an attack vector (a
 * guard sees the first of two equal keys, an upstream the last). So everything on which JSON parsers differ is refused:
 * duplicate keys, numbers that a double cannot hold, other encodings than UTF-8, a byte order mark (RFC 8259 section
 * 8.1), unbounded nesting. The returned value can be serialised again without changing its meaning.
 *
 * The native parser does the work; one linear scan of the text bounds it and counts the keys. Only where the counts
 * show that something is wrong, `locate.ts` reads slowly to say where.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { budgetSettings, defaultBudget } from '../base/budget.js'
import type { Json, JsonObject } from '../base/chat.js'
import { type Fault, invalid, tooComplex, type ValidationReason } from '../base/errors.js'
import { locateFault } from './locate.js'
import { endOfString, isWellFormed, quote, toWellFormed } from './text.js'

export interface JsonLimits {
  /** Containers within each other; a scalar has depth 0. */
  depth?: number
  /** Values of any kind, containers included. */
  nodes?: number | undefined
  /**
   * Keys of objects beyond the number that an API's own objects have. Each is a judged text, so the limit of texts
   * applies, checked before the native parser builds an object with tens of thousands of keys.
   */
  keys?: number | undefined
  /**
   * Whether numbers that a double cannot hold may pass. For what an upstream answers: nobody is judged by them, and where
   * the answer is not changed, its own bytes are passed on.
   */
  anyNumbers?: boolean
  /** Names the place the text came from (a header's name) in every fault, instead of a path within the text. */
  field?: string
}

const defaults = { depth: 64, nodes: defaultBudget.nodes, keys: defaultBudget.parts }

/** Keys of one object that may all be an API's own. */
const ownKeys = 1024

/** @throws Fault `validation_error`, reason `invalid_utf8`, or `malformed_json` for a byte order mark */
export function decodeUtf8(bytes: Buffer, field = ''): string {
  // Plain ASCII is the common case, and Latin-1 its quickest decoder.
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (!isUtf8(bytes)) throw invalid(field, 'invalid_utf8', `${subject(field)} is not valid UTF-8.`)
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalid(field, 'malformed_json', `${subject(field)} begins with a byte order mark.`)
  }
  return bytes.toString('utf8')
}

/**
 * Reads one JSON text (RFC 8259). Lone surrogates, in strings and in keys, come as U+FFFD; `__proto__` is an ordinary own
 * key; `-0` is 0.
 * @throws Fault `validation_error` with `details.field` the dotted path where it is known
 */
export function parseJson(text: string | Buffer, limits: JsonLimits = {}): Json {
  return readJson(text, limits).value
}

/** A value, and whether its original text may be forwarded. */
export interface ReadJson {
  value: Json
  /**
   * Whether every parser reads this value from the text. Ambiguous texts are refused, except for lone surrogates, which
   * are replaced, and escapes in keys, which are read slowly: a text with `\u`, or with an escape in a key, must be
   * serialised anew.
   */
  isPlain: boolean
}

/** Like `parseJson`, for callers that forward the text. */
export function readJson(text: string | Buffer, limits: JsonLimits = {}): ReadJson {
  const field = limits.field ?? ''
  const source = typeof text === 'string' ? text : decodeUtf8(text, field)
  const maxDepth = limits.depth ?? defaults.depth
  const maxNodes = limits.nodes ?? defaults.nodes
  const { keys, escaped } = scan(
    source,
    { depth: maxDepth, nodes: maxNodes, keys: limits.keys ?? defaults.keys },
    field
  )

  let value: Json
  try {
    value = JSON.parse(source) as Json
  } catch (error) {
    throw malformed(field, error)
  }

  const hasCodes = source.includes('\\u')
  if (mayHoldLoneSurrogates(source, hasCodes, typeof text !== 'string') && !holdsOnlyWellFormed(value))
    value = wellFormedCopy(value)
  // Equal keys have become one on the way (also those that differed in lone surrogates), so that fewer are left than read.
  const tally: Tally = { keys: 0, nodes: 0, oversized: false }
  count(value, tally)
  if (tally.nodes > maxNodes) throw tooMany(tally.nodes, maxNodes)
  // Keys with escapes are always read slowly: the native parser of V8 13.6 (Node 24) can take `a\u0022` for `a\`.
  const isExact = limits.anyNumbers === true || !tally.oversized
  if (tally.keys !== keys || !isExact || escaped) {
    const found = locateFault(source, limits.anyNumbers)
    if (found !== undefined) throw refusal(field, found.overflows === true ? 'overflow' : found.reason, found.path)
    // The count and the slow reader must agree; if they ever do not, nothing is let through.
    if (tally.keys !== keys) throw refusal(field, 'duplicate_key', '')
  }
  return { value, isPlain: !hasCodes && !escaped }
}

/**
 * Keys of the open container at each depth, shared by all scans: allocating this array takes as long as scanning a
 * short chat, and scans never overlap.
 */
const keysByDepth = new Int32Array(defaults.depth + 1)

/**
 * Walks the text once, skipping over strings, and answers how many keys it holds, and whether one of them is spelt with
 * an escape. The text need not be JSON yet.
 */
function scan(
  text: string,
  { depth: maxDepth, nodes: maxNodes, keys: maxKeys }: { depth: number; nodes: number; keys: number },
  field: string
): { keys: number; escaped: boolean } {
  let nextEscape = text.indexOf('\\')
  let escaped = false
  let stringAt = 0
  let depth = 0
  let keys = 0
  const keysAt = maxDepth < keysByDepth.length ? keysByDepth : new Int32Array(maxDepth + 1)
  keysAt[0] = 0
  /** Keys of all objects beyond what is an API's own. */
  let foreign = 0
  let commas = 0
  let containers = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        stringAt = at
        at = endOfString(text, at)
        if (at === -1) throw malformed(field, undefined)
        break
      }
      case 0x3a: // :
        keys++
        keysAt[depth]!++
        if (keysAt[depth]! > ownKeys && ++foreign > maxKeys) {
          throw tooComplex('parts', foreign, maxKeys, budgetSettings.parts)
        }
        // The next backslash is looked for only past the last one, so that no text is searched twice.
        if (nextEscape !== -1 && nextEscape < stringAt) nextEscape = text.indexOf('\\', stringAt)
        if (nextEscape !== -1 && nextEscape < at) escaped = true
        break
      case 0x2c: // ,
        commas++
        break
      case 0x5b: // [
      case 0x7b: // {
        containers++
        if (++depth > maxDepth) {
          throw invalid(
            field,
            'too_deep',
            `${subject(field)} is nested too deeply: at most ${maxDepth} levels are allowed.`
          )
        }
        keysAt[depth] = 0
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
    }
  }
  // Both are lower bounds of the number of values, checked before any of them costs memory; `count` is exact.
  const least = Math.max(commas + 1, containers)
  if (least > maxNodes) throw tooMany(least, maxNodes)
  return { keys, escaped }
}

interface Tally {
  keys: number
  nodes: number
  /** A number beyond ±(2^53−1): an integer that lost digits, an overflow, or a decimal that may pass. */
  oversized: boolean
}

/** Recursion is safe here: `scan` has bounded the depth. */
function count(value: Json, tally: Tally): void {
  tally.nodes++
  if (typeof value === 'number') {
    if (value > Number.MAX_SAFE_INTEGER || value < -Number.MAX_SAFE_INTEGER) tally.oversized = true
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) count(value[index] as Json, tally)
    return
  }
  const keys = Object.keys(value)
  tally.keys += keys.length
  for (let index = 0; index < keys.length; index++) count(value[keys[index] as string] as Json, tally)
}

/** Bytes that are valid UTF-8 can hold a lone surrogate only as an escape. */
function mayHoldLoneSurrogates(text: string, hasCodes: boolean, decoded: boolean): boolean {
  return (hasCodes && /\\u[dD][89a-fA-F]/.test(text)) || (!decoded && !isWellFormed(text))
}

function holdsOnlyWellFormed(value: Json): boolean {
  if (typeof value === 'string') return isWellFormed(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(holdsOnlyWellFormed)
  return Object.entries(value).every(([key, inner]) => isWellFormed(key) && holdsOnlyWellFormed(inner))
}

function wellFormedCopy(value: Json): Json {
  if (typeof value === 'string') return toWellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(wellFormedCopy)
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) {
    // Defined, not assigned: an assignment to `__proto__` would set the prototype and lose the key.
    Object.defineProperty(copy, toWellFormed(key), {
      value: wellFormedCopy(value[key] as Json),
      writable: true,
      enumerable: true,
      configurable: true
    })
  }
  return copy
}

function subject(field: string): string {
  return field === '' ? 'The body' : `The value of ${field}`
}

function malformed(field: string, error: unknown): Fault {
  // The parser's message quotes the text; only its position is used.
  const position = error instanceof SyntaxError ? / in JSON at position (\d+)/.exec(error.message)?.[1] : undefined
  const where = position === undefined ? '' : ` (position ${position})`
  return invalid(field, 'malformed_json', `${subject(field)} is not valid JSON${where}.`)
}

function tooMany(nodes: number, maxNodes: number): Fault {
  return tooComplex('nodes', nodes, maxNodes, budgetSettings.nodes)
}

const sentences = {
  duplicate_key: 'holds the same key twice',
  unrepresentable_number: 'holds a number that cannot be represented: integers must be within ±(2^53−1)',
  overflow: 'holds a number that is out of range'
} satisfies Partial<Record<ValidationReason | 'overflow', string>>

function refusal(field: string, fault: keyof typeof sentences, path: string): Fault {
  const reason = fault === 'overflow' ? 'unrepresentable_number' : fault
  return invalid(field === '' ? path : field, reason, `${subject(field)} ${sentences[fault]}.`)
}
