/**
 * The `unicode` reading: what a text looks like to a reader, in plain letters. Compatibility forms (full-width, mathematical,
 * circled) become letters by NFKC, look-alikes of other scripts become Latin, accents stacked on letters fall away, and
 * characters that show nothing are taken out from between letters.
 */
import { lookAlike } from './confusables.js'
import { Edits } from './rewrite.js'

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
/** Marks of no script of its own, vowel points of Arabic and Hebrew, and the Arabic tatweel, which only stretches. */
const stackedMark = /[\p{Script=Inherited}\u0591-\u05c7\u064b-\u065f\u0670\u0640]/u
const mark = /\p{M}/u
const letter = /\p{L}/u
const latinLetter = /\p{Script=Latin}/u
const number = /\p{N}/u

const NONE = 0
const INVISIBLE = 1
const MARK = 2
const FORM = 3
const INDICATOR = 4

interface Answer {
  kind: number
  /** What a compatibility form stands for. */
  text: string
}

const nothing: Answer = { kind: NONE, text: '' }
/** Answers per code point; a text of all of Unicode leaves about a hundred thousand small entries. */
const known = new Map<number, Answer>()

function ask(point: number): Answer {
  let answer = known.get(point)
  if (answer === undefined) {
    answer = decide(point)
    known.set(point, answer)
  }
  return answer
}

function decide(point: number): Answer {
  const character = String.fromCodePoint(point)
  if (invisible.test(character) || point === 0x2800 || point === 0x115f || point === 0x3164) {
    return point === 10 || point === 13 || point === 9 ? nothing : { kind: INVISIBLE, text: '' }
  }
  if (mark.test(character)) return stackedMark.test(character) ? { kind: MARK, text: '' } : nothing
  if (point === 0x640) return { kind: MARK, text: '' }
  const enclosed = enclosedLetter(point)
  if (enclosed !== undefined) return { kind: point >= 0x1f1e6 ? INDICATOR : FORM, text: enclosed }
  const form = character.normalize('NFKC')
  if (form !== character && form.length <= 18 && (letter.test(form) || number.test(form)))
    return { kind: FORM, text: form }
  return nothing
}

/** Letters in filled circles and squares, and regional indicators, which NFKC keeps. */
function enclosedLetter(point: number): string | undefined {
  for (const start of [0x1f150, 0x1f170, 0x1f1e6]) {
    if (point >= start && point < start + 26) return String.fromCharCode(97 + point - start)
  }
  return undefined
}

/** Whether `viewsOf` need look at all: anything but printable ASCII, tabs and line ends. */
export function hasUnusual(text: string): boolean {
  return /[^\t\n\r -~]/.test(text)
}

/** @param separate puts a space where an invisible character stood between letters, the other way such texts are read */
export function unicodeEdits(text: string, separate: boolean): Edits {
  const edits = new Edits()
  const mapsWhole = latinDominates(text)
  const length = text.length
  let i = 0
  while (i < length) {
    const code = text.charCodeAt(i)
    if (code > 32 && code < 127) {
      // The usual case, quickly: a word of ASCII letters that nothing else touches.
      if (!isAsciiWord(code)) {
        i++
        continue
      }
      let end = i + 1
      while (end < length && isAsciiWord(text.charCodeAt(end))) end++
      if (end === length || text.charCodeAt(end) < 127) {
        i = end
        continue
      }
    } else if (code === 32 || code === 10) {
      i++
      continue
    }
    i = word(text, i, edits, separate, mapsWhole)
  }
  return edits
}

function isAsciiWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

/** Pieces of the word at hand; shared by calls, which never overlap. */
const pieces: { from: number; to: number; text: string; isLookAlike: boolean }[] = []

/** Reads one word (letters, digits, and what hides between them) and notes its changes. @returns where it ends */
function word(text: string, start: number, edits: Edits, separate: boolean, mapsWhole: boolean): number {
  pieces.length = 0
  let latin = 0
  let foreign = 0
  let indicators = 0
  let hidden = -1
  let seen = false
  let i = start
  for (; i < text.length; ) {
    const point = text.codePointAt(i)!
    const size = point > 0xffff ? 2 : 1
    if (point < 128) {
      if (point >= 32 && point < 127 && !isAsciiWord(point)) break
      if (point === 10 || point === 13 || point === 9) break
    }
    const { kind, text: form } = point < 127 && point >= 32 ? nothing : ask(point)
    if (kind === INVISIBLE) {
      if (seen && hidden < 0) hidden = i
      i += size
      continue
    }
    if (kind === MARK) {
      if (seen) pieces.push({ from: i, to: i + size, text: '', isLookAlike: false })
      i += size
      continue
    }
    const character = String.fromCodePoint(point)
    const isWord =
      kind !== NONE || isAsciiWord(point) || letter.test(character) || number.test(character) || mark.test(character)
    if (!isWord) break
    if (hidden >= 0) {
      pieces.push({ from: hidden, to: i, text: separate ? ' ' : '', isLookAlike: false })
      hidden = -1
    }
    seen = true
    const alike = lookAlike(point)
    if (kind === INDICATOR) indicators++
    if (kind === FORM || kind === INDICATOR) pieces.push({ from: i, to: i + size, text: form, isLookAlike: false })
    else if (alike !== undefined) pieces.push({ from: i, to: i + size, text: alike, isLookAlike: true })
    // A look-alike counts for neither side: it is what is in question.
    if (alike === undefined) {
      if (kind !== NONE || (isAsciiWord(point) && point > 57) || latinLetter.test(character)) latin++
      else if (letter.test(character)) foreign++
    }
    i += size
  }
  const maps = foreign === 0 ? latin > 0 || mapsWhole : latin > foreign
  flush(edits, text, maps, indicators)
  return i > start ? i : i + 1
}

function flush(edits: Edits, text: string, maps: boolean, indicators: number): void {
  let from = -1
  let to = -1
  let out = ''
  let same = true
  const close = () => {
    if (from >= 0) edits.add(from, to, out, same ? 'same' : 'block')
    from = -1
  }
  for (const piece of pieces) {
    if (piece.isLookAlike && !maps) continue
    // Two regional indicators are a flag.
    if (indicators > 0 && indicators < 3 && piece.to - piece.from === 2 && isIndicator(text, piece.from)) continue
    const fits = piece.text.length === piece.to - piece.from
    if (from < 0 || piece.from !== to || fits !== same) {
      close()
      from = piece.from
      out = ''
      same = fits
    } else if (!fits) {
      // Characters that change their length are traced one by one.
      close()
      from = piece.from
      out = ''
    }
    out += piece.text
    to = piece.to
  }
  close()
}

function isIndicator(text: string, at: number): boolean {
  const point = text.codePointAt(at)!
  return point >= 0x1f1e6 && point < 0x1f200
}

/**
 * Whether a word made of look-alikes alone is to be read as Latin: in an English text, or in one whose foreign letters
 * all look like Latin ones, which no real sentence of Russian or Greek does.
 */
function latinDominates(text: string): boolean {
  let latin = 0
  let similar = 0
  let foreign = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 128) {
      if (isAsciiWord(code) && code > 57) latin++
    } else if (lookAlike(code) !== undefined) similar++
    else if (code >= 0x370 && code < 0xd800) foreign++
  }
  return latin > similar + foreign || similar > foreign * 8
}
