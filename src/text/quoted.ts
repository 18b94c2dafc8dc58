/**
 * Finds what a text quotes: a document, a mail, results of a search, which somebody else wrote, between the words of the
 * person who asks about it. Only the shape of the text tells: empty lines, fences, tags, labels, quotation marks. Linear
 * in the text.
 */
import type { Span } from './fold.js'

/** A paragraph, or a separator by itself. */
interface Block extends Span {
  isSeparator: boolean
}

/** UTF-16 units; what is shorter holds no order. */
const shortest = 60
/** UTF-16 units of a paragraph or a quotation that counts because of a colon, a label or quotation marks. */
const shortestMarked = 80
/** UTF-16 units. A longer paragraph at an end of a text is no mere request. */
const longestRequest = 300

/** Lines that stand around what is quoted: fences, rules, tags by themselves, and labels such as `Context:`. */
const separators = [
  /^\s*(?:`{3}|~{3}|"{3}|'{3})/,
  /^\s*([-=*_#])\1{2,}\s*$/,
  /^\s*<\/?[\p{L}_][^<>]{0,80}>\s*$/u,
  /^[\s#*]*[\p{L}\p{N}][\p{L}\p{N} ]{0,40}\**[:：]\**\s*$/u
]
/** Begins a first paragraph that is quoted: a tag, the sign of a quoted line, a short label. */
const opening = /^\s*(?:<[\p{L}_][^<>]{0,80}>|>|[\p{L}\p{N}][\p{L}\p{N} ]{0,40}[:：]\s)/u
const colonAtEnd = /[:：]\s*$/
/** Its marks do not occur within a quotation, so that no stretch of a text is looked at twice. */
const quotations = /"[^"\n]+"|“[^“”]+”|«[^«»]+»|„[^„“”]+[“”]|「[^「」]+」/g

/**
 * The stretches that a text may quote, none overlapping another. The paragraphs at its ends may be a request of its
 * author, and count only where their length, a label or a colon says otherwise.
 */
export function quotedIn(text: string): Span[] {
  const blocks = blocksOf(text)
  let first = isQuotedFirst(text, blocks) ? 0 : 1
  let last = isQuotedLast(text, blocks) ? blocks.length - 1 : blocks.length - 2
  while (first <= last && blocks[first]!.isSeparator) first++
  while (first <= last && blocks[last]!.isSeparator) last--
  const start = blocks[first]?.start ?? 0
  const end = first <= last ? blocks[last]!.end : start
  const found = end - start < shortest ? [] : [{ start, end }]
  for (const { 0: quotation, index } of text.matchAll(quotations)) {
    const isApart = found.length === 0 || index + quotation.length <= start || index >= end
    if (isApart && quotation.length >= shortestMarked) found.push({ start: index, end: index + quotation.length })
  }
  return found
}

function isQuotedFirst(text: string, blocks: readonly Block[]): boolean {
  const [block] = blocks
  if (block === undefined || blocks.length === 1) return false
  const length = block.end - block.start
  return length >= longestRequest || (length >= shortestMarked && opening.test(text.slice(block.start, block.end)))
}

function isQuotedLast(text: string, blocks: readonly Block[]): boolean {
  const block = blocks.at(-1)
  const before = blocks.at(-2)
  if (block === undefined || before === undefined) return false
  const length = block.end - block.start
  if (length >= longestRequest) return true
  return length >= shortestMarked && colonAtEnd.test(text.slice(before.start, before.end))
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
