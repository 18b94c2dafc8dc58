/**
 * Finds windows around digits, since all personal data except e-mail addresses contain some. Each window has cheap
 * signs of the shapes that it may contain, so that a year or a price costs no pattern. A sign may be wrong, its absence
 * never is.
 */
import { UnitReader } from '../../text/units.js'
import { boxBefore, germanBefore, postalAfter, southernBefore, streetAfter } from './street-signs.js'

export interface DigitWindow {
  /** UTF-16 offsets into the text. */
  from: number
  to: number
  /** Whether four digits stand within twelve characters, the least that a number has. */
  many: boolean
  /** Most digits in a row with no more than two other characters between them. */
  digits: number
  /** Most digits in one row of ASCII letters and digits. */
  inWord: number
  /** Letters and digits in one row of eight or more, as documents are numbered. */
  isCode: boolean
  /** Four groups of digits, set apart by dots. */
  isDotted: boolean
  /** Two letters and two digits at the start of a word. */
  hasCountry: boolean
  /** Where the first and the last year, or second number of a date, stands; -1 for none. */
  firstDate: number
  lastDate: number
  /** One bit for each kind of street, as `street-signs.ts` numbers them. */
  streets: number
}

/** Characters read on either side of a digit: more than any shape and the word beside it take. */
export const reach = 96

/** A driving licence is no longer. */
const longestGap = 13

const reader = new UnitReader()

/** A search by the engine's own matcher costs a fifth of a loop over the units. */
const digit = /[0-9]/g
const none: readonly DigitWindow[] = []

export function digitWindows(text: string): readonly DigitWindow[] {
  let start = nextDigit(text, 0)
  if (start < 0) return none
  const units = reader.read(text)
  const { length } = text
  const windows: DigitWindow[] = []
  let window: DigitWindow | undefined
  let count = 0
  let first = 0
  let digits = 0
  let inWord = 0
  let dots = 0
  let before = 0
  for (let i = start; start >= 0; start = nextDigit(text, i)) {
    i = start
    if (window === undefined || start - reach > window.to) {
      window = open(start)
      windows.push(window)
      count = 0
      before = -reach
    }
    for (; i < length && isDigit(units[i]!); i++) {
      if (count === 0 || i - first > 12) {
        count = 0
        first = i
      }
      if (++count >= 4) window.many = true
    }
    const size = i - start
    const gap = start - before
    const separator = gap === 1 ? units[before]! : 0
    digits = gap <= 2 ? digits + size : size
    inWord = gap <= longestGap && isWord(units, before, start) ? inWord + size : size
    dots = separator === DOT ? dots + 1 : 0
    if (digits > window.digits) window.digits = digits
    if (inWord > window.inWord) window.inWord = inWord
    if (dots >= 3) window.isDotted = true
    if (!window.isCode && touchesLetters(units, start, i, length)) window.isCode = true
    if (size > 1 && startsWithCountry(units, start)) window.hasCountry = true
    if (size >= 4 || (separator !== 0 && isDateSign(separator))) {
      if (window.firstDate < 0) window.firstDate = start
      window.lastDate = start
    }
    window.streets |=
      streetAfter(units, start, i, length) |
      germanBefore(text, units, start) |
      southernBefore(units, start) |
      postalAfter(units, start, size, gap) |
      boxBefore(units, start)
    before = i
    window.to = Math.min(length, i - 1 + reach)
  }
  return windows
}

/** Where the next digit stands, or -1. */
function nextDigit(text: string, from: number): number {
  digit.lastIndex = from
  return digit.test(text) ? digit.lastIndex - 1 : -1
}

function open(start: number): DigitWindow {
  return {
    from: Math.max(0, start - reach),
    to: 0,
    many: false,
    digits: 0,
    inWord: 0,
    isCode: false,
    isDotted: false,
    hasCountry: false,
    firstDate: -1,
    lastDate: -1,
    streets: 0
  }
}

const DOT = 46

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}

function isWord(units: Uint16Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (!isLetter(units[i]!)) return false
  return true
}

function isDateSign(code: number): boolean {
  return code === DOT || code === 45 || code === 47
}

/** Least length of a row of letters and digits that may be a document's number. */
const shortestCode = 8

function touchesLetters(units: Uint16Array, start: number, end: number, length: number): boolean {
  const after = end < length && isLetter(units[end]!)
  if (!after && (start === 0 || !isLetter(units[start - 1]!))) return false
  let from = start
  let to = end
  while (from > 0 && to - from < shortestCode && isWordUnit(units[from - 1]!)) from--
  while (to < length && to - from < shortestCode && isWordUnit(units[to]!)) to++
  return to - from >= shortestCode
}

function startsWithCountry(units: Uint16Array, at: number): boolean {
  return at > 1 && isLetter(units[at - 1]!) && isLetter(units[at - 2]!) && !(at > 2 && isWordUnit(units[at - 3]!))
}

function isWordUnit(code: number): boolean {
  return isDigit(code) || isLetter(code)
}
