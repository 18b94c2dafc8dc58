/** Replaces many strings in one pass over a text. */

/** First units of a needle that are compared to rule out most places of a text. */
const most = 4
const tableBits = 16

/**
 * Replaces every occurrence of the needles; where several begin at one place, the longest.
 * @param needles replacements by needle; none is empty
 */
export function replaceEach(text: string, needles: ReadonlyMap<string, string>): string {
  if (needles.size === 0) return text
  const sorted = [...needles.keys()].sort()
  const shorter = prefixesOf(sorted)
  const width = sorted.reduce((least, { length }) => Math.min(least, length), most)
  const begins = new Uint8Array(1 << tableBits)
  for (const needle of sorted) begins[hashAt(needle, 0, width)] = 1
  let out = ''
  let done = 0
  for (let at = 0; at + width <= text.length; at++) {
    if (begins[hashAt(text, at, width)] === 0) continue
    let i = lastUpTo(sorted, text, at)
    while (i >= 0 && !text.startsWith(sorted[i]!, at)) i = shorter[i]!
    if (i < 0) continue
    out += text.slice(done, at) + needles.get(sorted[i]!)!
    done = at + sorted[i]!.length
    at = done - 1
  }
  return out + text.slice(done)
}

/** By needle the longest other one that it begins with, or -1. */
function prefixesOf(sorted: readonly string[]): Int32Array {
  const shorter = new Int32Array(sorted.length)
  const open: number[] = []
  for (const [i, needle] of sorted.entries()) {
    while (open.length > 0 && !needle.startsWith(sorted[open.at(-1)!]!)) open.pop()
    shorter[i] = open.at(-1) ?? -1
    open.push(i)
  }
  return shorter
}

function hashAt(text: string, at: number, width: number): number {
  let hash = 0
  for (let i = at; i < at + width; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x9e3779b1)
  return hash >>> (32 - tableBits)
}

/** The last needle that does not come after the text at a place: whichever needles begin there, it is one or begins with them. */
function lastUpTo(sorted: readonly string[], text: string, at: number): number {
  let low = -1
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (comesAfter(sorted[middle]!, text, at)) high = middle - 1
    else low = middle
  }
  return low
}

function comesAfter(needle: string, text: string, at: number): boolean {
  for (let i = 0; i < needle.length; i++) {
    const difference = needle.charCodeAt(i) - text.charCodeAt(at + i)
    // Past the end of the text there is nothing, and every needle comes after it.
    if (difference !== 0) return !(difference < 0)
  }
  return false
}
