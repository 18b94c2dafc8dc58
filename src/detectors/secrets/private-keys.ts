/**
 * Private keys over several lines: PEM (RFC 7468) and OpenSSH with their first or last line, and lines from the middle
 * of a key, recognised by the sequence of integers that only private keys have (RFC 8017, appendix A.1.2).
 */
import type { Finding } from '../detector.js'

/** Characters of the longest key looked for: 16,384 bits of RSA in base64. */
const longestKey = 16_384
const leastBody = 40

/** Adds the keys that have a first or a last line. A cut-off key counts to its last line; public keys and certificates are none. */
export function findMarkedKeys(text: string, found: Finding[]): void {
  if (!text.includes('PRIVATE KEY')) return
  let done = 0
  for (const { 0: head, 1: side, index } of text.matchAll(
    /-----(BEGIN|END) (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
  )) {
    const after = index + head.length
    if (side === 'BEGIN') {
      done = addAfter(text, index, after, found) ?? done
      continue
    }
    // Its first line is missing.
    if (index < done) continue
    const start = bodyBefore(text, Math.max(done, index - longestKey), index)
    if (index - start >= leastBody) found.push({ kind: 'private_key', confidence: 0.95, start, end: after })
    done = after
  }
}

/** @returns where the key ends that begins with the line from `index` to `body` */
function addAfter(text: string, index: number, body: number, found: Finding[]): number | undefined {
  const next = text.indexOf('-----', body)
  const isClosed = next >= 0 && next - body < longestKey && text.startsWith('-----END', next)
  const until = next < 0 ? body + longestKey : Math.min(next, body + longestKey)
  const written = /^(?:\\[rn]|[A-Za-z0-9+/=:,\s-])*/.exec(text.slice(body, until))![0].trimEnd()
  if (written.length < leastBody || isSample(written)) return undefined
  const close = isClosed ? text.indexOf('-----', next + 8) : -1
  const end = close >= 0 && close - next < 64 ? close + 5 : body + written.length
  const isAccount = /"type"\s*:\s*"service_account"/.test(text.slice(Math.max(0, index - 400), index))
  found.push({ kind: isAccount ? 'gcp_service_account' : 'private_key', confidence: 0.98, start: index, end })
  return end
}

/** Words, dots or one character in a row where the key would stand. */
function isSample(body: string): boolean {
  return new Set(body.slice(0, 512)).size < 12
}

/** Where the lines of base64 begin that end before `to`, whether they end in line feeds or in `\\n` as in JSON. */
function bodyBefore(text: string, from: number, to: number): number {
  let at = to
  while (at > from && /[A-Za-z0-9+/=\\\r\n]/.test(text[at - 1]!)) at--
  while (at < to && /\s/.test(text[at]!)) at++
  // The last word of the line before.
  const first = /^[^\r\n\\]*/.exec(text.slice(at, at + 17))![0]
  return first.length < 16 ? Math.min(to, at + first.length) : at
}

/** Lines that PEM, OpenSSH and OpenSSL write. */
export const narrowestLine = 64
const widths = [narrowestLine, 70, 76]
const fewestLines = 3

/** Blocks of at least three lines of one of those lengths; what follows may be shorter. */
const block = new RegExp(
  widths.map((width) => `(?:^[ \\t]{0,8}[A-Za-z0-9+/]{${width}}\\r?\\n){${fewestLines},256}`).join('|'),
  'gm'
)
const wholeLine = /^[ \t]{0,8}[A-Za-z0-9+/]{16,80}={0,2}\r?$/
/** A line of base64 that is being written, or the last line of a key. */
const openLine = /^(?:[ \t]{0,8}[A-Za-z0-9+/=]*\r?|-{1,5}|-{5}E(?:N|ND[A-Z0-9 ]{0,48}-{0,5})?)$/

/** Adds blocks of lines from the middle of a key. */
export function findInnerLines(text: string, found: Finding[]): void {
  for (const { 0: lines, index } of text.matchAll(block)) {
    // A line before them says what they are.
    if (/-----\s*$/.test(text.slice(Math.max(0, index - 16), index))) continue
    if (holdsPrivateIntegers(Buffer.from(lines, 'base64')))
      found.push({ kind: 'private_key', confidence: 0.85, start: index, end: index + lines.trimEnd().length })
  }
}

const INTEGER = 0x02
const SEQUENCE = 0x30

/**
 * A long integer that is not the first of its sequence, and is not followed by the short exponent of a public key: a prime
 * or an exponent of a private one.
 */
function holdsPrivateIntegers(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(INTEGER); at >= 0 && at + 4 < bytes.length; at = bytes.indexOf(INTEGER, at + 1)) {
    const [size, header] = lengthAt(bytes, at + 1)
    if (size < 64 || !isPositive(bytes, at + 1 + header, size)) continue
    if (at >= 3 && (bytes[at - 3] === SEQUENCE || (at >= 4 && bytes[at - 4] === SEQUENCE))) continue
    const next = at + 1 + header + size
    // The next value must be visible: another such integer, or the end of the lines.
    if (next + 2 < bytes.length) {
      if (bytes[next] === INTEGER && lengthAt(bytes, next + 1)[0] >= 32) return true
    } else if (at >= 4) return true
  }
  return false
}

/** Sizes that halves and wholes of RSA moduli have. @returns bytes, and bytes of the length itself; 0 for others */
function lengthAt(bytes: Buffer, at: number): [size: number, header: number] {
  const size = bytes[at] === 0x81 ? bytes[at + 1]! : bytes[at] === 0x82 ? bytes.readUInt16BE(at + 1) : 0
  const isWhole = size >= 64 && size <= 2_049 && (size % 32 === 0 || size % 32 === 1)
  return isWhole ? [size, bytes[at] === 0x81 ? 2 : 3] : [0, 0]
}

/** A leading zero is there where, and only where, the number would be negative without. */
function isPositive(bytes: Buffer, at: number, size: number): boolean {
  if (at + 1 >= bytes.length) return false
  return size % 32 === 1 ? bytes[at] === 0 && bytes[at + 1]! >= 128 : bytes[at]! > 0 && bytes[at]! < 128
}

/** Characters of the longest last line of a key. */
const longestEnd = 80

/** Where the last line of the last key stands that has one, -1 for none: one that is being written is none yet. */
function lastEnd(text: string): number {
  const end = text.lastIndexOf('-----END')
  const close = end < 0 ? -1 : text.indexOf('-----', end + 8)
  // A key that has just ended is held back as a whole, or not at all.
  const isOpen = end >= 0 && text.length - end < longestEnd && (close < 0 || close + 5 === text.length)
  return isOpen && end > 0 ? text.lastIndexOf('-----END', end - 1) : isOpen ? -1 : end
}

/** Where a key begins that may go on after the text: at a first line without a last one, or at lines that may be inside one. */
export function keyGrowsFrom(text: string): number {
  const marked = text.indexOf('-----BEGIN', lastEnd(text) + 1)
  let start = text.length
  for (let to = text.length; text.length - start < longestKey; to = start - 1) {
    const from = text.lastIndexOf('\n', to - 1) + 1
    const line = text.slice(from, Math.min(to, from + 96))
    const fits = (to === text.length ? openLine : wholeLine).test(line)
    if (!fits || to < 0) break
    start = from
    if (from === 0) break
  }
  return marked < 0 ? start : Math.min(marked, start)
}

/** After the first line of a key in base64, the lines that follow. @returns where they end */
export function endOfLines(text: string, from: number): number {
  const more = /^(?:(?:\r?\n|\\n)[ \t]{0,8}[A-Za-z0-9+/]{16,80}={0,2}){1,256}/.exec(text.slice(from, from + longestKey))
  return from + (more?.[0].length ?? 0)
}
