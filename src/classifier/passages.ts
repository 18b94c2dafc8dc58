/**
 * Finds the starts of sentences, lines and paragraphs: content hidden in a long text is mostly one of these, and scored
 * separately it scores as it would alone.
 */

/** How strong a break is before the word that it stands before. */
export const SENTENCE = 1
export const LINE = 2
export const PARAGRAPH = 3

/** Least words of a sentence; shorter ones join the next, so that abbreviations and list numbers end none. */
const fewestInSentence = 4
const fewestInLine = 3

/** Kinds of characters, as bits. */
const NEWLINE = 1
const SPACE = 2
/** May stand between the end of a sentence and the space after it. */
const CLOSING = 4
/**
 * Ends a sentence before a space; ends one in any case. Colons and commas are excluded, since a request continues
 * behind them.
 */
const MARK = 8
const FULL_MARK = 16

const kinds = new Uint8Array(65536)
kinds[10] = NEWLINE | SPACE
for (const code of [9, 11, 12, 13, 32, 0xa0, 0x3000]) kinds[code] = SPACE
for (const sign of '"\')]*_”’»') kinds[sign.charCodeAt(0)] = CLOSING
for (const sign of '.!?…') kinds[sign.charCodeAt(0)] = MARK
for (const sign of '。！？') kinds[sign.charCodeAt(0)] = FULL_MARK

/** Where the passages of one text begin, in order. Its array is reused. */
export class Passages {
  count = 0
  /** For each passage but the first `4 · its first word + how strong the break before it is`. */
  breaks = new Int32Array(256)

  /**
   * Linear.
   * @param source the text's units, `length` of them
   * @param words how many words it has
   * @param from where each begins in the folded text; for an emoji the one's complement of where in the text
   * @param offsets where in the text each folded unit stands
   */
  read(source: Uint16Array, length: number, words: number, from: Int32Array, offsets: Int32Array): this {
    this.count = 0
    let word = 1
    let last = 0
    for (let at = 0; at < length && word < words; ) {
      const kind = kinds[source[at++]!]!
      if (kind < MARK && (kind & NEWLINE) === 0) continue
      if (kind === MARK && !endsSentence(source, at, length)) continue
      // The end of a sentence that ends its line, and empty lines after it, are one break.
      let level = kind < MARK ? LINE : SENTENCE
      for (; at < length; at++) {
        const next = kinds[source[at]!]!
        if ((next & NEWLINE) !== 0) level = level < LINE ? LINE : PARAGRAPH
        else if ((next & (SPACE | CLOSING)) === 0) break
      }
      for (; word < words; word++) {
        const start = from[word]!
        if ((start < 0 ? ~start : offsets[start]!) >= at) break
      }
      if (word === words) break
      if (word - last < (level === SENTENCE ? fewestInSentence : fewestInLine)) continue
      this.#add(word * 4 + level)
      last = word
    }
    return this
  }

  #add(entry: number): void {
    if (this.count === this.breaks.length) {
      const longer = new Int32Array(this.count * 2)
      longer.set(this.breaks)
      this.breaks = longer
    }
    this.breaks[this.count++] = entry
  }
}

/** Whether white space comes after a sign, with few others in between. */
function endsSentence(source: Uint16Array, after: number, length: number): boolean {
  let next = after
  while (next < length && next < after + 3 && kinds[source[next]!] === CLOSING) next++
  return next >= length || (kinds[source[next]!]! & SPACE) !== 0
}
