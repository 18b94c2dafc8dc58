/**
 * Words set apart by marks that nobody reads: tags, emphasis and links within and around them, colours of terminals, pieces
 * of strings, and a few words a line. A model reads `bo<b>mb</b>` and one word a line as it reads a sentence; readers of
 * words, which learnt from sentences, do not.
 */
import { isLetter, SPACE } from './characters.js'
import { Edits } from './rewrite.js'

/** Tags after which a new word begins; others may stand within one. */
const apart =
  /^<\/?(?:br|p|div|li|ul|ol|td|th|tr|table|h\d|hr|dd|dt|option|section|article|header|footer|blockquote|pre)\b/i

/**
 * One mark. A line's end is one with the marker of the line that follows: of a list, a number, a quotation or a table. The
 * bounds on what a mark may hold keep the search linear.
 */
const mark =
  /<\/?[a-z][^<>\n]{0,160}>|\u001b\[[\d;]{0,16}[a-z]|\*{1,3}|~~|`{1,2}|\[(?=[^[\]\n]{1,80}\]\()|\]\([^()\s]{0,300}\)|(["'])\s?\+\s?\1|\n[\s|>]*(?:(?:[-*+•·]|\d{1,3}\s?[.):|])[\s|]+)?/giu

/** Fewer marks in a series are ordinary, except within a word. */
const fewest = 3
/** UTF-16 units from one mark of a series to the next: some seven words. */
const farthest = 40

/** Marks with nothing between them. */
interface Run {
  from: number
  to: number
  /** Whether a new word begins after it. */
  parts: boolean
  isLine: boolean
}

export function layoutEdits(text: string): Edits {
  const edits = new Edits()
  const series: Run[] = []
  const close = () => {
    for (const { from, to, parts } of series) {
      const isWithin = !parts && isLetter(text.charCodeAt(from - 1)) && isLetter(text.charCodeAt(to))
      if (series.length >= fewest || isWithin) edits.add(from, to, parts ? ' ' : '')
    }
    series.length = 0
  }
  for (const { 0: found, index } of text.matchAll(mark)) {
    const to = index + found.length
    const isLine = found[0] === '\n'
    const parts = isLine || apart.test(found)
    const last = series.at(-1)
    if (last?.to === index) {
      last.to = to
      last.parts ||= parts
      last.isLine ||= isLine
      continue
    }
    const run = { from: index, to, parts, isLine }
    if (last !== undefined && !isNext(text, last, run)) close()
    series.push(run)
  }
  close()
  return edits
}

/** Whether a few words, and nothing else, stand between two runs. */
function isNext(text: string, before: Run, run: Run): boolean {
  if (run.from - before.to > farthest) return false
  const isLines = before.isLine || run.isLine
  let letters = 0
  let others = 0
  for (let i = before.to; i < run.from; i++) {
    const code = text.charCodeAt(i)
    if (isLetter(code)) letters++
    else if (code > SPACE) others++
    // Lines of code and of settings are none of words.
    if (isLines && code < 128 && !isLetter(code) && !isOfProse(code)) return false
  }
  return letters > 0 || others === 0
}

const prose = new Set([...' \t\r\'’,.!?-|"0123456789'].map((char) => char.charCodeAt(0)))
const isOfProse = (code: number) => prose.has(code)
