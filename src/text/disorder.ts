/** Finds scrambled words at the end of an unfinished text, which may be the beginning of encoded text. */
import { isAsciiLetter } from './characters.js'
import { endings, type KnownWords, shortestStem } from './known-words.js'
import { fitOf, gainOf } from './letter-pairs.js'

/** Sixty letters as bits take this long, in UTF-16 units. */
const longestEncoded = 600
/** Longest text in substituted letters: unknown words that are spelt like words. */
const longestSpelt = 160
/** So many ordinary words in a row end it. */
const ordinaryRun = 3
const longestEnding = [...endings].reduce((most, { length }) => Math.max(most, length), 0)

/**
 * So many words in a row of so many letters and more are language, known or not, if their letters follow one another well
 * enough (hundredths of a nat a letter) and clearly worse when rotated or turned round. Nine such stretches in ten do in a
 * dozen languages; where letters are shifted, mirrored or turned one in 1,000 follow each other so well, and of
 * those none was clearly worse when rotated or turned.
 */
const stretch = 6
const fewestLetters = 24
const leastFit = -330
const mostGain = -30
/** The last words of such a stretch may be the first in disorder. */
const lastOfStretch = 3

/** Words of one letter, bullets and dashes, which tell nothing about their neighbours. */
const small: ReadonlySet<number> = new Set([...'aAiI&-*–—•'].map((each) => each.charCodeAt(0)))

/**
 * The start of the scrambled words at the end of a text.
 * @param cut the start of the last word, which may continue and is ignored
 * @returns `cut` where there are none
 */
export function disorderStart(text: string, cut: number, known: KnownWords): number {
  const least = Math.max(0, cut - longestEncoded)
  const leastSpelt = cut - longestSpelt
  let start = cut
  let ordinary = 0
  let end = cut
  // From the last word on: where it ends, and where disorder starts as far as it.
  const ends: number[] = []
  const starts: number[] = []
  while (end > least && ordinary < ordinaryRun) {
    while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--
    let from = end
    while (from > 0 && !isSpace(text.charCodeAt(from - 1))) from--
    if (from === end) break
    if (isOrdinary(text, from, end, known)) {
      ordinary++
    } else if (end - from > 1 || !small.has(text.charCodeAt(from))) {
      ordinary = 0
      if (from >= leastSpelt || !isSpelt(text, from, end)) start = from
    }
    ends.push(end)
    starts.push(start)
    const last = ends.length - stretch
    if (start < cut && last >= 0 && isLanguage(text.slice(from, ends[last]))) return starts[last + lastOfStretch - 1]!
    end = from
  }
  return start
}

/** Letters alone, with the signs of prose around them; Pig Latin is language by its letters. */
const spelt = /^(?:["'“‘(¿¡«]{0,2}\p{L}[\p{L}\p{M}'’-]{0,23}[.,;:!?…)"'”’»]{0,3}\s+)+$/u
const pig = /ay[^\p{L}]/gu

function isLanguage(words: string): boolean {
  const prose = `${words} `
  if (!spelt.test(prose) || words.replace(/[^\p{L}]/gu, '').length < fewestLetters) return false
  if ((prose.match(pig)?.length ?? 0) > 1 || fitOf(words, 0, words.length) < leastFit) return false
  return gainOf(words, 0, words.length, 'rotated') <= mostGain && gainOf(words, 0, words.length, 'turned') <= mostGain
}

/** A known word or a form of one, whatever signs stand around it. */
function isOrdinary(text: string, from: number, to: number, known: KnownWords): boolean {
  let start = from
  let end = to
  while (start < end && !isAsciiLetter(text.charCodeAt(start))) start++
  while (end > start && !isAsciiLetter(text.charCodeAt(end - 1))) end--
  return end - start > 1 && (known.hasAt(text, start, end) || isForm(text, start, end, known))
}

function isForm(text: string, start: number, end: number, known: KnownWords): boolean {
  for (let stem = end - 1; stem >= start + shortestStem && stem >= end - longestEnding; stem--) {
    if (endings.has(text.slice(stem, end).toLowerCase()) && known.hasAt(text, start, stem)) return true
  }
  return false
}

/** Letters with signs around them. */
function isSpelt(text: string, from: number, to: number): boolean {
  for (let i = from + 1; i < to - 1; i++) {
    const code = text.charCodeAt(i)
    if (!isAsciiLetter(code) && code < 128 && code !== 39 && code !== 45) return false
  }
  return to - from > 1
}

/** As `\s`. */
export function isSpace(code: number): boolean {
  if (code < 0x80) return code === 32 || (code >= 9 && code <= 13)
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  )
}
