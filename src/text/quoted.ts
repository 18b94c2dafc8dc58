/**
 * Finds what a text quotes: a document, a mail, results of a search, which somebody else wrote, between the words of the
 * person who asks about it. Only the shape of the text tells: empty lines, fences, tags, labels, quotation marks. Linear
 * in the text.
 */
import type { Span } from './fold.js'
import { merged } from './spans.js'

/** A paragraph, or a separator by itself. */
interface Block extends Span {
  isSeparator: boolean
}

/** Letters of a Latin script; what is shorter is left to its author. */
const shortest = 60
/** The same of a paragraph or a quotation that counts because of a colon, a label or quotation marks. */
const shortestMarked = 80
/** The same. A longer paragraph at an end of a text is no mere request. */
const longestRequest = 300
/** Letters that say as much as this many Latin ones. */
const dense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
const density = 3

const label = String.raw`[\p{L}\p{N}\[][\p{L}\p{M}\p{N} \-_'’#.()\[\]]{0,40}`
/** Lines that stand around what is quoted: fences, rules, tags by themselves, and labels such as `Context:`. */
const separators = [
  /^\s*(?:`{3}|~{3}|"{3}|'{3})/,
  /^\s*([-=*_#])\1{2,}\s*$/,
  /^\s*<\/?[\p{L}_][^<>]{0,80}>\s*$/u,
  new RegExp(String.raw`^[\s#*]{0,8}${label}\*{0,2}[:：]\*{0,2}\s*$`, 'u')
]
/** Begins a paragraph that is quoted: a tag, the sign of a quoted line. */
const opening = /^\s*(?:<[\p{L}_][^<>]{0,80}>|>)/u
/** The same of a first paragraph: behind a label at the end there may be a question. */
const labelled = new RegExp(String.raw`^\s*${label}[:：]\s`, 'u')
const colonAtEnd = /[:：]\s*$/
/** What opens a quotation does not occur within it, so that no stretch of a text is looked at twice. */
const quotations = /(?<![\\\p{L}\p{N}])"(?:[^"\\\n]|\\.)+"|“[^“”]+”|«[^«»]+»|„[^„“”]+[“”]|「[^「」]+」/gu

/**
 * The stretches that a text may quote, none overlapping another. The paragraphs at its ends may be a request of its
 * author, and count only where their length, a label or a colon says otherwise.
 */
export function quotationsIn(text: string): Span[] {
  const blocks = blocksOf(text)
  const isAlone = blocks.length === 1
  let first = !isAlone && isMaterial(text, blocks[0], [opening, labelled]) ? 0 : 1
  let last = blocks.length - 1
  if (isAlone || !(isMaterial(text, blocks[last], [opening]) || followsColon(text, blocks))) last--
  while (first <= last && blocks[first]!.isSeparator) first++
  while (first <= last && blocks[last]!.isSeparator) last--
  const found = first <= last ? [{ start: blocks[first]!.start, end: blocks[last]!.end }] : []
  for (const { 0: quotation, index } of text.matchAll(quotations)) {
    if (lengthOf(quotation) >= shortestMarked) found.push({ start: index, end: index + quotation.length })
  }
  return merged(found, -1).filter(({ start, end }) => lengthOf(text.slice(start, end)) >= shortest)
}

/** Whether a paragraph at an end of a text is no mere request. @param signs that it is quoted */
function isMaterial(text: string, block: Block | undefined, signs: readonly RegExp[]): boolean {
  const words = block === undefined ? '' : text.slice(block.start, block.end)
  const length = lengthOf(words)
  return length >= longestRequest || (length >= shortestMarked && signs.some((sign) => sign.test(words)))
}

/** Whether the paragraph before the last one announces it. */
function followsColon(text: string, blocks: readonly Block[]): boolean {
  const [before, block] = blocks.slice(-2)
  if (before === undefined || block === undefined) return false
  const isLong = lengthOf(text.slice(block.start, block.end)) >= shortestMarked
  return isLong && colonAtEnd.test(text.slice(before.start, before.end))
}

function lengthOf(words: string): number {
  return words.length + (density - 1) * (words.match(dense)?.length ?? 0)
}

/** Paragraphs, and separators by themselves. A text without empty lines has its lines as paragraphs. */
function blocksOf(text: string): Block[] {
  const lines = linesOf(text)
  const hasGaps = lines.some(({ isBlank }) => isBlank)
  const blocks: Block[] = []
  let open: Block | undefined
  for (const { start, end, isBlank } of lines) {
    const isSeparator = !isBlank && separators.some((separator) => separator.test(text.slice(start, end)))
    if (isBlank || isSeparator) open = undefined
    if (isBlank) continue
    if (open !== undefined) open.end = end
    else {
      const block = { start, end, isSeparator }
      blocks.push(block)
      if (hasGaps && !isSeparator) open = block
    }
  }
  return blocks
}

/** The lines between the first and the last that say something. */
function linesOf(text: string): (Span & { isBlank: boolean })[] {
  const lines: (Span & { isBlank: boolean })[] = []
  let start = text.length - text.trimStart().length
  const all = text.trimEnd().length
  while (start < all) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 || newline > all ? all : newline
    lines.push({ start, end, isBlank: text.slice(start, end).trim() === '' })
    start = end + 1
  }
  return lines
}
