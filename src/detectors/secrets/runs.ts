/**
 * Finds runs without spaces, quotes or brackets that mix letters with digits or signs, or are long; prose has almost
 * none.
 */
import { UnitReader } from '../../text/units.js'

export interface Run {
  from: number
  to: number
  /** Kinds of its characters; of use outside is `ASSIGNS` alone. */
  seen: number
}

const LETTER = 1
const DIGIT = 2
/** Signs of passwords. */
const SIGN = 4
const END = 8
/** `=` or `:`. */
export const ASSIGNS = 16

const kinds = new Uint8Array(128)
kinds.fill(END, 0, 33)
for (let code = 97; code < 123; code++) kinds[code] = LETTER
for (let code = 65; code < 91; code++) kinds[code] = LETTER
for (let code = 48; code < 58; code++) kinds[code] = DIGIT
for (const sign of '!@#$%^&*') kinds[sign.charCodeAt(0)] = SIGN
for (const sign of '=:') kinds[sign.charCodeAt(0)] = ASSIGNS
for (const sign of '"\'`<>()[]{},;|\\') kinds[sign.charCodeAt(0)] = END

/** No issuer's token is shorter, and almost no run of prose is as long. */
export const shortestToken = 20
/** No secret is shorter. */
const shortestValue = 6

const reader = new UnitReader()

export function runsOf(text: string): Run[] {
  const units = reader.read(text)
  const { length } = text
  const runs: Run[] = []
  let from = 0
  let seen = 0
  // Ends of words are unpredictable, so the loop branches only for runs worth checking.
  for (let i = 0; i <= length; i++) {
    const code = i < length ? units[i]! : 32
    const kind = code < 128 ? kinds[code]! : 0
    const ends = -((kind >> 3) & 1)
    if ((ends & (worth[seen & 7]! + from - i)) < 0) runs.push({ from, to: i, seen })
    seen = (seen | kind) & ~ends
    from += (i + 1 - from) & ends
  }
  return runs
}

/** Per `LETTER | DIGIT | SIGN` seen, one less than the least length of a run to be looked at. */
const worth = new Int32Array(8).fill(shortestToken - 1)
for (const mix of [LETTER | DIGIT, LETTER | SIGN, LETTER | DIGIT | SIGN]) worth[mix] = shortestValue - 1
