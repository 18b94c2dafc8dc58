/**
 * Chooses the windows of a text to score. A text gets the score of its strongest window, so an attack inside a long
 * harmless text scores as it would alone: sentences, lines and paragraphs, and three lengths of window wherever they
 * begin, since an insult is a few words, a persona is pages, and nobody has to write in sentences.
 */
import { LINE, PARAGRAPH, SENTENCE } from './passages.js'

/** Sums are kept at the edges of blocks of at most so many words; no block goes across the beginning of a passage. */
export const stride = 8
/** In words. */
const scales = [
  { length: 16, step: 8 },
  { length: 48, step: 16 },
  { length: 160, step: 40 }
] as const
/** Texts up to this many words are also scored as a whole. */
export const longest = 160

/**
 * A window of at most this many words has no context: "how do I shoot someone" may be a gamer's question, and a heading
 * or list item of three words could be about anything.
 */
export const fewWords = 8
/** The same for other languages, where short requests are less ambiguous, at least in the training rows. */
export const fewForeignWords = 3

/** Longer texts are walked in segments of this many words; each begins with the last `longest` words of the one before. */
export const segment = 4096
export const segmentStep = segment - longest

/**
 * Short texts, windows of long ones, and passages have a bias of their own (one for each class), since one of many
 * windows always scores a little high.
 */
export const classes = 12
const scaleClasses = 6
const passageClasses = 9
/** By class, the most words of a window: of whole texts, of windows of a long one, of passages. */
export const mostWords: readonly number[] = [
  ...[2, 4, 8, 16, 48, longest],
  ...scales.map(({ length }) => length),
  ...[8, 16, longest]
]

/** A passage has at least three words, and a block less than eight only at the end of one. */
export const mostBlocks = segment / 2

/** Two sentences that follow each other are a window of their own up to this many words. */
const longestPair = 48

/** A segment of a text in blocks, and the blocks that its passages begin with. Its arrays are reused. */
export class Blocks {
  count = 0
  /** The word that each block begins with; then the number of words. */
  readonly edges = new Int32Array(mostBlocks + 1)
  passages = 0
  /** The first block of each passage, then the number of blocks; and how strong the break before it is. */
  readonly first = new Int32Array(mostBlocks + 1)
  readonly level = new Uint8Array(mostBlocks + 1)

  /**
   * @param breaks of the text (see `Passages`), of which those from index `next` to `after` are looked at
   * @param from the words [from, to) are the segment
   * @returns the index of the first break beyond the segment
   */
  cut(breaks: Int32Array, next: number, after: number, from: number, to: number): number {
    const { edges, first, level } = this
    while (next < after && breaks[next]! >> 2 <= from) next++
    let [count, passages] = [0, 0]
    first[passages] = 0
    level[passages++] = PARAGRAPH
    for (let word = from; word < to; ) {
      edges[count++] = word - from
      const passage = next < after ? breaks[next]! >> 2 : to
      const last = Math.min(word + stride, to)
      word = Math.min(passage, last)
      if (word !== passage || word === to) continue
      first[passages] = count
      level[passages++] = breaks[next++]! & 3
    }
    edges[count] = to - from
    first[passages] = count
    level[passages] = PARAGRAPH
    this.count = count
    this.passages = passages
    return next
  }
}

/** @param visit is given the first block, the block after the last, how many words are in between, and its class */
export function forEachWindow(
  blocks: Blocks,
  visit: (from: number, to: number, words: number, kind: number) => void
): void {
  const { count, edges } = blocks
  const words = edges[count]!
  if (words === 0) return
  if (words <= longest) visit(0, count, words, wholeClass(words))
  if (blocks.passages > 1) forEachPassage(blocks, visit)
  for (let scale = 0; scale < scales.length; scale++) {
    const { length, step } = scales[scale]!
    if (length >= words) return
    let to = 0
    for (let from = 0; ; from = nextStart(edges, from, step)) {
      while (to < count && edges[to + 1]! - edges[from]! <= length) to++
      visit(from, to, edges[to]! - edges[from]!, scaleClasses + scale)
      if (to === count) break
    }
  }
}

/** The last block that begins within a step. */
function nextStart(edges: Int32Array, from: number, step: number): number {
  let next = from + 1
  while (edges[next + 1]! - edges[from]! <= step) next++
  return next
}

/** Sentences, pairs of them, lines and paragraphs. */
function forEachPassage(
  { passages, first, level, edges }: Blocks,
  visit: (from: number, to: number, words: number, kind: number) => void
): void {
  let line = 0
  let paragraph = 0
  for (let i = 0; i < passages; i++) {
    const to = first[i + 1]!
    const end = edges[to]!
    const see = (from: number, most: number) => {
      const words = end - edges[from]!
      if (words <= most && (from > 0 || i + 1 < passages)) visit(from, to, words, passageClass(words))
    }
    see(first[i]!, longest)
    if (i > 0 && level[i] === SENTENCE) see(first[i - 1]!, longestPair)
    const next = level[i + 1]!
    if (next >= LINE && line < i) see(first[line]!, longest)
    if (next >= PARAGRAPH && paragraph < line) see(first[paragraph]!, longest)
    if (next >= LINE) line = i + 1
    if (next >= PARAGRAPH) paragraph = i + 1
  }
}

/** Whether the class is that of whole texts. */
export function isWholeText(kind: number): boolean {
  return kind < scaleClasses
}

/** Whether windows of a class show a language: whole texts, and the longest windows of longer ones. */
export function isWide(kind: number): boolean {
  return isWholeText(kind) || kind === scaleClasses + scales.length - 1
}

function passageClass(count: number): number {
  return passageClasses + (count <= 8 ? 0 : count <= 16 ? 1 : 2)
}

function wholeClass(count: number): number {
  if (count <= 8) return count <= 2 ? 0 : count <= 4 ? 1 : 2
  return count <= 16 ? 3 : count <= 48 ? 4 : 5
}

/** The score of a lane of whose windows none has one. */
export const noScore = -100

/** Factor for the sum of a window's weights. */
export function scaleOf(count: number): number {
  return 1 / Math.sqrt(count)
}
