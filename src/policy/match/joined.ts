/**
 * Joins texts that a model reads as one. Only the surroundings of each boundary are joined, since text within one part
 * was judged there. So the number of boundaries bounds the cost, which never exceeds that of the texts themselves.
 */
import type { ChatPart } from '../../base/chat.js'

/** A stretch of one part within a joined text. */
export interface Piece {
  /** Index into the parts; below 0 for an earlier turn of the session. */
  part: number
  /** Offset in the part's text of the stretch's first character. */
  offset: number
  /** Range in the joined text. */
  start: number
  end: number
}

export interface JoinedText {
  text: string
  pieces: readonly Piece[]
}

/** UTF-16 units kept on each side of a boundary: the longest phrase and the widest window of ordinary words. */
const reach = 320
/** An unbroken run, such as an encoded payload, is kept whole up to this many units more. */
const runReach = 2048
/** The most that is kept on one side of a boundary. */
export const mostReach = reach + runReach

export interface Member {
  part: number
  text: string
}

export function membersOf(run: readonly number[], parts: readonly ChatPart[]): Member[] {
  return run.map((part) => ({ part, text: parts[part]!.text }))
}

/** Joined without a space, for a word cut in two, and with one, for words sent one by one. */
export const separators = ['', ' '] as const

export function joinTexts(members: readonly Member[], separator: string): JoinedText[] {
  const joined: JoinedText[] = []
  const texts = members.filter(({ text }) => text !== '')
  let text = ''
  let pieces: Piece[] = []
  /** Whether every boundary so far separates its texts without an added space. */
  let isApart = true
  let before = ''

  function append(member: Member, from: number, to: number): void {
    if (pieces.length > 0) {
      isApart &&= areApart(before, member.text)
      text += separator
    }
    before = member.text
    const start = text.length
    text += member.text.slice(from, to)
    pieces.push({ part: member.part, offset: from, start, end: text.length })
  }
  function close(): void {
    if (pieces.length > 1 && !(separator === '' && isApart)) joined.push({ text, pieces })
    isApart = true
    text = ''
    pieces = []
  }

  for (const [i, member] of texts.entries()) {
    const head = i === 0 ? 0 : headEnd(member.text)
    const tail = i === texts.length - 1 ? member.text.length : tailStart(member.text)
    if (head >= tail) {
      append(member, 0, member.text.length)
      continue
    }
    if (head > 0) append(member, 0, head)
    close()
    if (tail < member.text.length) append(member, tail, member.text.length)
  }
  close()
  return joined
}

/**
 * Whether a space between two texts makes no difference: where one of them has it already, or one ends a sentence and
 * the other begins with a capital letter.
 */
function areApart(before: string, after: string): boolean {
  const last = before.charCodeAt(before.length - 1)
  const first = after.charCodeAt(0)
  if (isSpace(last) || isSpace(first)) return true
  const ends = last === 0x2e || last === 0x21 || last === 0x3f
  const isWord = isLetter(before.charCodeAt(before.length - 2)) && isLetter(after.charCodeAt(1))
  return ends && isWord && first >= 0x41 && first <= 0x5a
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

/**
 * Upper bound of the UTF-16 units that `joinTexts` makes for both separators, without making them.
 * @param run indexes into the parts
 */
export function joinedUnits(run: readonly number[], parts: readonly { readonly text: string }[]): number {
  let units = 0
  for (let i = 0; i < run.length; i++) {
    const { text } = parts[run[i]!]!
    const head = i === 0 ? 0 : headEnd(text)
    const tail = i === run.length - 1 ? text.length : tailStart(text)
    units += head >= tail ? text.length : head + text.length - tail
  }
  return separators.length * (units + run.length)
}

function headEnd(text: string): number {
  let end = Math.min(text.length, reach)
  const most = Math.min(text.length, end + runReach)
  while (end < most && !isSpace(text.charCodeAt(end))) end++
  return end
}

function tailStart(text: string): number {
  let start = Math.max(0, text.length - reach)
  const least = Math.max(0, start - runReach)
  while (start > least && !isSpace(text.charCodeAt(start - 1))) start--
  return start
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}

/** The piece that holds an offset; an offset on a separator belongs to the piece after it. */
export function pieceAt(pieces: readonly Piece[], offset: number): number {
  let low = 0
  let high = pieces.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (pieces[middle]!.end > offset) high = middle
    else low = middle + 1
  }
  return low
}
