/** Detects reversed lines by their shape alone: stops, capitals, the marks around a sentence. */
import { foldUnit, isUnspaced, SPACE } from './characters.js'

/** How a line was reversed, where its shape shows it. */
export type Turn = 'line' | 'words'

/** Ends of sentences in many scripts. */
const stops = new Set([...'?!.\u3002\uff01\uff1f\u061f\u0964\u06d4\u2026'].map((stop) => stop.charCodeAt(0)))
const STOP = 46
/** A line of fewer words shows too little. */
const fewestGaps = 2

/**
 * Whatever the language, a line that was turned round begins with the stop of its sentence and ends with the capital of
 * its first word; where each word was turned in its place, the first one ends with its capital.
 */
export function turnOf(text: string, lineStart: number, lineEnd: number): Turn | undefined {
  let from = lineStart
  let to = lineEnd
  while (from < to && isBeside(text.charCodeAt(from))) from++
  while (from < to && isBeside(text.charCodeAt(to - 1))) to--
  if (to - from < 4) return undefined
  const first = text.charCodeAt(from)
  const next = text.charCodeAt(from + 1)
  const stopsFirst = stops.has(first) && isWordUnit(next) && !stops.has(text.charCodeAt(to - 1))
  const endsUpper = isUpperAfterLower(text, to - 1)
  if (stopsFirst || endsUpper) {
    if (first !== STOP && stopsFirst && isUnspaced(next)) return 'line'
    // A dot before a word is a name's, and so may a capital be: one of the two is not enough. Names are in cased letters.
    const isSure =
      (stopsFirst && (first !== STOP || endsUpper || !isCased(next))) || (endsUpper && hasTurnedStop(text, from, to))
    return isSure && hasGaps(text, from, to) ? 'line' : undefined
  }
  if (!isLowerUnit(first)) return undefined
  let end = from
  while (end < to && isWordUnit(text.charCodeAt(end))) end++
  return end - from > 2 && isUpperAfterLower(text, end - 1) && hasGaps(text, from, to) ? 'words' : undefined
}

/** What stands around a sentence, whichever way it is written: quotes, brackets, the marks that open a Spanish one. */
const around = new Set([...' \t\r\'"“”‘’«»()[]¿¡'].map((sign) => sign.charCodeAt(0)))

function isBeside(code: number): boolean {
  return around.has(code) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
}

export function hasGaps(text: string, from: number, to: number): boolean {
  let at = from
  for (let k = 0; k < fewestGaps; k++) {
    at = text.indexOf(' ', at) + 1
    if (at === 0 || at >= to) return false
  }
  return true
}

/** A stop or a comma before a word, behind a space. */
function hasTurnedStop(text: string, from: number, to: number): boolean {
  return /(?:^|\s)[,;:?!.]\p{L}/u.test(text.slice(from, Math.min(to, from + 4_096)))
}

export function isWordUnit(code: number): boolean {
  return foldUnit(code) > SPACE
}

function isLowerUnit(code: number): boolean {
  return code < 128 ? code >= 97 && code <= 122 : isWordUnit(code) && isCased(code) && !isUpper(code)
}

function isUpper(code: number): boolean {
  if (code < 128) return code >= 65 && code <= 90
  const letter = String.fromCharCode(code)
  return letter.toLowerCase() !== letter
}

function isCased(code: number): boolean {
  const letter = String.fromCharCode(code)
  return letter.toUpperCase() !== letter || letter.toLowerCase() !== letter
}

function isUpperAfterLower(text: string, at: number): boolean {
  return isUpper(text.charCodeAt(at)) && isLowerUnit(text.charCodeAt(at - 1))
}

/** Whether the shape of some line tells that it was turned round. A look at the edges of each line. */
export function hasTurnedLine(text: string): boolean {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    if (turnOf(text, from, to) !== undefined) return true
    from = to + 1
  }
  return false
}
