/** Reads sheets of Excel: rows of cells, most of which refer to the shared texts of the book. */
import { bounds, type HiddenKind, type Texts, Unread } from '../file.js'
import { readMarkup, type Vocabulary } from './markup.js'
import { attribute, readXml } from './xml.js'

/** The texts that cells refer to by their number. */
export function readStrings(bytes: Buffer): string[] {
  const strings: string[] = []
  let text = ''
  let phonetic = 0
  readXml(bytes, {
    open({ name }) {
      if (name === 'si') text = ''
      else if (name === 'rPh') phonetic++
    },
    text(each) {
      if (phonetic === 0) text += each
    },
    close(name) {
      if (name === 'si') strings.push(text)
      else if (name === 'rPh') phonetic--
    }
  })
  return strings
}

/**
 * Adds the cells in their rows with their shared texts, and all other texts of the part.
 * @throws Unread `too_large` where cells expand beyond a file's bound, `damaged` for an invalid reference
 */
export function readSheet(
  bytes: Buffer,
  strings: readonly string[],
  words: Vocabulary,
  out: Texts,
  where: string,
  hidden: HiddenKind | undefined
): void {
  const found: string[] = []
  let units = 0
  let isShared = false
  let isValue = false
  let value = ''
  const say = (text: string) => {
    units += text.length + 1
    if (units > bounds.units) throw new Unread('too_large')
    found.push(text)
  }
  readXml(bytes, {
    open(element) {
      if (element.name === 'c') isShared = attribute(element, 't') === 's'
      else if (element.name === 'v' || element.name === 't') {
        isValue = true
        value = ''
      }
    },
    text(text) {
      if (isValue) value += text
    },
    close(name) {
      if (name === 'v' || name === 't') {
        isValue = false
        if (!isShared || name === 't') say(value)
        else {
          const text = /^\d{1,9}$/.test(value.trim()) ? strings[Number(value)] : undefined
          if (text === undefined) throw new Unread('damaged')
          say(text)
        }
        say('\t')
      } else if (name === 'row') say('\n')
    }
  })
  out.add(found.join(''), where, hidden)
  // Formulas, comments, headers, footers and the rest; the numbers of shared texts in it are harmless.
  readMarkup(bytes, words, out, { where: `${where}&part=xml`, hidden })
}
