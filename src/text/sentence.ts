/** Finds the ends of sentences, and the last word and sentence of an unfinished text. */

/** A sentence that has no end by then is taken in pieces: the classifier's longest window has about as many units. */
const longestSentence = 800

/** Where the last word begins: it may go on. The end of the text where it ends with white space. */
export function lastWord(text: string): number {
  return wordStart(text, text.length)
}

/** Where the word begins that stands before `end`. */
export function wordStart(text: string, end: number): number {
  let at = end
  while (at > 0 && !/\s/.test(text[at - 1]!)) at--
  return at
}

/** A point after an initial or a title ends no sentence: "J. R. ", "Dr. ", "St. ". */
const shortened = /(?:^|[\s(])(?:\p{Lu}|\p{Lu}\p{L}{1,3})\.$/u
const longestShortened = 8

/** The start of the last sentence, ignoring initials: no unfinished name can begin before it. */
export function nameStart(text: string): number {
  for (let at = text.length; at > 0; ) {
    const start = sentenceStart(text.slice(0, at))
    const before = text.slice(Math.max(0, start - longestShortened), start).trimEnd()
    if (start === 0 || text.length - start > longestSentence || !shortened.test(before)) return start
    at = start - 1
  }
  return 0
}

/** The start of the last sentence. */
export function sentenceStart(text: string): number {
  const least = Math.max(0, text.length - longestSentence)
  for (let i = text.length - 1; i > least; i--) {
    const before = text[i - 1]!
    if (before === '\n' || /[。！？]/.test(before)) return i
    if (/\s/.test(text[i]!) && /[.!?…:;]["')\]]*$/.test(text.slice(Math.max(0, i - 4), i))) return i + 1
  }
  return least
}

/**
 * A stop, what closes behind it, and white space before what begins a sentence: a capital, a digit, a quote, a letter of a
 * script without capitals. A full stop of Chinese or Japanese, or an empty line, ends one whatever follows. A small letter
 * goes on with a sentence: abbreviations, and stops put between the words of a request.
 */
const ending = /[.!?…।॥۔؟]["'”’»)\]]*\s+(?=["'“‘«([¿¡]*[\p{Lu}\p{Lo}\p{Nd}])|[。！？]|\n[ \t\r]*\n/gu

/** Where sentences end, in UTF-16 units: just after the sign that ends each. Linear. */
export function sentenceEnds(text: string): number[] {
  const ends: number[] = []
  for (const { index } of text.matchAll(ending)) ends.push(index + 1)
  return ends
}
