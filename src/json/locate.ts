/**
 * The slow half of the strict JSON reader: finds the first duplicate key, or the first number that a double cannot
 * hold, and names its path. Runs only over valid JSON within the bound on depth, and only where the fast half has found
 * a possible fault.
 */
import { endOfString, toWellFormed } from './text.js'

export interface LocatedFault {
  reason: 'duplicate_key' | 'unrepresentable_number'
  /** True for a number beyond what any double holds. */
  overflows?: boolean
  /** Dotted path of the key's value or of the number, cut at 200 units: it goes into an error's body. */
  path: string
}

interface Frame {
  /** Keys seen so far; undefined in an array. */
  keys: Set<string> | undefined
  /** The key or index whose value is being read. */
  at: string | number
}

const maxPath = 200
const numberAt = /-?\d[\d.eE+-]*/y

/** @param anyNumbers whether numbers that a double cannot hold may pass */
export function locateFault(text: string, anyNumbers = false): LocatedFault | undefined {
  const frames: Frame[] = []
  let expectsKey = false

  for (let at = 0; at < text.length; at++) {
    const top = frames.at(-1)
    switch (text[at]) {
      case '{':
        frames.push({ keys: new Set(), at: '' })
        expectsKey = true
        break
      case '[':
        frames.push({ keys: undefined, at: 0 })
        expectsKey = false
        break
      case '}':
      case ']':
        frames.pop()
        break
      case ',':
        expectsKey = top?.keys !== undefined
        if (typeof top?.at === 'number') top.at++
        break
      case '"': {
        const end = endOfString(text, at)
        if (expectsKey && top?.keys !== undefined) {
          // Compared in decoded form, with lone surrogates replaced.
          top.at = toWellFormed(JSON.parse(text.slice(at, end + 1)) as string)
          if (top.keys.has(top.at)) return { reason: 'duplicate_key', path: dotted(frames) }
          top.keys.add(top.at)
          expectsKey = false
        }
        at = end
        break
      }
      default: {
        numberAt.lastIndex = at
        const literal = numberAt.exec(text)?.[0]
        if (literal === undefined) break
        if (!anyNumbers && !isRepresentable(literal)) {
          const overflows = Math.abs(Number(literal)) === Infinity
          return { reason: 'unrepresentable_number', overflows, path: dotted(frames) }
        }
        at += literal.length - 1
      }
    }
  }
  return undefined
}

function dotted(frames: readonly Frame[]): string {
  const path = frames.map((frame) => frame.at).join('.')
  return toWellFormed(path.slice(0, maxPath))
}

/**
 * Whether a literal may pass as the nearest double: not where it overflows, and not where it is an integer, in whatever
 * spelling (`1e22`, `9007199254740993.0`), beyond ±(2^53−1).
 */
function isRepresentable(literal: string): boolean {
  const magnitude = Math.abs(Number(literal))
  if (magnitude <= Number.MAX_SAFE_INTEGER) return true
  return magnitude !== Infinity && !isInteger(literal)
}

/** Whether the exact value of a decimal literal, which is not zero, is an integer. */
function isInteger(literal: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? []
  const digits = whole + fraction
  let significant = digits.length
  while (digits.charCodeAt(significant - 1) === 0x30) significant--
  // Digits behind the point once the exponent has moved it and zeros at the end are dropped.
  return significant - whole.length <= Number(exponent)
}
