/** All rows as numbers: the rows of the two feature tables that each word of each text brings with it. */

import { mostFeatures, pairFeature, START, skipFeature, Words, wordFeatures } from '../../src/classifier/features.js'
import { WIDTH } from '../../src/classifier/lanes.js'
import { FeatureTable } from '../../src/classifier/table.js'
import { Folder } from '../../src/text/fold.js'
import type { TrainingRow } from '../rows.js'
import { Counter } from './counter.js'
import { targetsOf } from './targets.js'

export interface Sizes {
  /** Places of the table of words and of the table of pairs, as powers of two. */
  wordBits: number
  pairBits: number
}

export interface Dataset {
  rows: readonly TrainingRow[]
  wordTable: FeatureTable
  pairTable: FeatureTable
  /** Words of row `i`: from `start[i]` to `start[i + 1]`. */
  start: Int32Array
  /** By word: which distinct word it is, and its rows in the table of pairs (-1: none). */
  word: Int32Array
  pair: Int32Array
  skip: Int32Array
  /** By word: of the first two of a passage, the row of what says that it opens so. */
  opening: Int32Array
  /** Breaks of row `i` (see `Passages`): from `breakStart[i]` to `breakStart[i + 1]`. */
  breakStart: Int32Array
  breaks: Int32Array
  /**
   * Rows in the table of words of distinct word `w`: `features` from `featureStart[w]` to `featureStart[w + 1]`. The first
   * is the word itself, -1 where the table does not hold it.
   */
  featureStart: Int32Array
  features: Int32Array
  /** By row and lane. */
  value: Int8Array
  weight: Float32Array
}

/** A text is trained on up to this many words. */
const mostWords = 1200

interface Scan {
  start: Int32Array
  breakStart: Int32Array
  breaks: Int32Array
  hash: Int32Array
  word: Int32Array
  /** Features of each distinct word, by hash. */
  distinct: Int32Array[]
}

/** @param known the tables of a model that is there already, instead of new ones */
export function buildDataset(
  rows: readonly TrainingRow[],
  sizes: Sizes,
  known?: Pick<Dataset, 'wordTable' | 'pairTable'>
): Dataset {
  const sourceNumber = new Map<string, number>()
  const numberOf = (source: string) => {
    if (!sourceNumber.has(source)) sourceNumber.set(source, sourceNumber.size)
    return sourceNumber.get(source)!
  }
  const { start, breakStart, breaks, hash, word, distinct } = scan(rows)
  const wordCounter = new Counter()
  const pairCounter = new Counter(22)
  const seen = new Int32Array(distinct.length).fill(-1)
  for (let row = 0; row < rows.length; row++) {
    const source = numberOf(rows[row]!.source)
    const first = start[row]!
    for (let i = first; i < start[row + 1]!; i++) {
      pairCounter.add(pairFeature(i > first ? hash[i - 1]! : START, hash[i]!), source)
      if (i > first) pairCounter.add(skipFeature(i > first + 1 ? hash[i - 2]! : START, hash[i]!), source)
      if (seen[word[i]!] === row) continue
      seen[word[i]!] = row
      for (const feature of distinct[word[i]!]!) wordCounter.add(feature, source)
    }
    for (const [, feature] of openings(breaks, breakStart, row, first, start[row + 1]!, hash))
      pairCounter.add(feature, source)
  }
  const wordTable = known?.wordTable ?? tableOf(wordCounter.ranked(3), sizes.wordBits)
  const pairTable = known?.pairTable ?? tableOf(pairCounter.ranked(3), sizes.pairBits)

  const rowsOf = distinct.map((features) =>
    features.map((feature) => wordTable.find(feature)).filter((r, i) => i === 0 || r >= 0)
  )
  const featureStart = new Int32Array(distinct.length + 1)
  for (const [w, list] of rowsOf.entries()) featureStart[w + 1] = featureStart[w]! + list.length
  const features = new Int32Array(featureStart[distinct.length]!)
  for (const [w, list] of rowsOf.entries()) features.set(list, featureStart[w]!)

  const pair = new Int32Array(word.length).fill(-1)
  const skip = new Int32Array(word.length).fill(-1)
  const opening = new Int32Array(word.length).fill(-1)
  const value = new Int8Array(rows.length * WIDTH)
  const weight = new Float32Array(rows.length * WIDTH)
  for (let row = 0; row < rows.length; row++) {
    const first = start[row]!
    for (let i = first; i < start[row + 1]!; i++) {
      pair[i] = pairTable.find(pairFeature(i > first ? hash[i - 1]! : START, hash[i]!))
      if (i > first) skip[i] = pairTable.find(skipFeature(i > first + 1 ? hash[i - 2]! : START, hash[i]!))
    }
    for (const [at, feature] of openings(breaks, breakStart, row, first, start[row + 1]!, hash))
      opening[at] = pairTable.find(feature)
    const targets = targetsOf(rows[row]!)
    value.set(targets.value, row * WIDTH)
    weight.set(targets.weight, row * WIDTH)
  }
  return {
    rows,
    wordTable,
    pairTable,
    start,
    word,
    pair,
    skip,
    opening,
    breakStart,
    breaks,
    featureStart,
    features,
    value,
    weight
  }
}

/** What says how a passage opens: the word that it stands at, and the feature. */
function* openings(
  breaks: Int32Array,
  breakStart: Int32Array,
  row: number,
  first: number,
  end: number,
  hash: Int32Array
): Generator<[at: number, feature: number]> {
  for (let b = breakStart[row]!; b < breakStart[row + 1]!; b++) {
    const at = first + (breaks[b]! >> 2)
    yield [at, pairFeature(START, hash[at]!)]
    if (at + 1 < end) yield [at + 1, skipFeature(START, hash[at + 1]!)]
  }
}

function scan(rows: readonly TrainingRow[]): Scan {
  const folder = new Folder()
  const words = new Words()
  const out = new Int32Array(mostFeatures)
  const known = new Map<number, number>()
  const distinct: Int32Array[] = []
  const start = new Int32Array(rows.length + 1)
  const breakStart = new Int32Array(rows.length + 1)
  let breaks = new Int32Array(1 << 18)
  let breakCount = 0
  let hash = new Int32Array(1 << 20)
  let word = new Int32Array(1 << 20)
  let n = 0
  for (const [row, { text }] of rows.entries()) {
    const folded = folder.fold(text)
    words.read(folded, text)
    const count = Math.min(words.count, mostWords)
    if (n + count > hash.length) {
      hash = grown(hash)
      word = grown(word)
    }
    for (let i = 0; i < count; i++) {
      const h = words.hash[i]!
      let number = known.get(h)
      if (number === undefined) {
        number = distinct.length
        known.set(h, number)
        const features = wordFeatures(folded.units, words.from[i]!, words.to[i]!, h, out)
        distinct.push(out.slice(0, features))
      }
      hash[n] = h
      word[n++] = number
    }
    start[row + 1] = n
    const { passages } = words
    if (breakCount + passages.count > breaks.length) breaks = grown(breaks)
    for (let b = 0; b < passages.count && passages.breaks[b]! >> 2 < count; b++)
      breaks[breakCount++] = passages.breaks[b]!
    breakStart[row + 1] = breakCount
  }
  return {
    start,
    breakStart,
    breaks: breaks.slice(0, breakCount),
    hash: hash.slice(0, n),
    word: word.slice(0, n),
    distinct
  }
}

function grown(list: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(list.length * 2)
  larger.set(list)
  return larger
}

/** Features beyond what the table holds are left out, the rarest first. */
function tableOf(ranked: readonly number[], bits: number): FeatureTable {
  const table = new FeatureTable(new Uint16Array(1 << bits))
  for (const feature of ranked) table.add(feature)
  return table
}
