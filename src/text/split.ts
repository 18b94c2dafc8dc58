/**
 * Splits joined words: those in one case (`howtopickalock`) at known words, others at their capitals
 * (`howToPickALock`).
 */
import { isUnspaced } from './characters.js'
import { endings, type KnownWords, shortestStem } from './known-words.js'
import type { Stretches } from './places.js'
import { Edits } from './rewrite.js'
import { longestKnownWord, shippedWordCosts } from './word-costs.js'
import { nextHash, startHash } from './word-hash.js'

/** A shorter run is one word. */
const shortestRun = 12
/** Identifiers have two words or three; sentences have more. */
const fewestWords = 4
/** Letters of a run that may be one word. */
const longestWord = 24
/** Longest run; a longer one is split piece by piece. */
const longestRun = 2_048

/** @param chunks stretches without white space in which they may occur */
export function splitEdits(text: string, chunks: Stretches, words: KnownWords): Edits {
  const edits = new Edits()
  for (let s = 0; s < chunks.length; s += 2) {
    const end = chunks[s + 1]!
    for (let i = chunks[s]!; i < end; ) {
      const from = i
      let capitals = 0
      let isAscii = true
      for (; i < end; i++) {
        const code = text.charCodeAt(i)
        if (code >= 65 && code <= 90) capitals++
        else if (code >= 128 && isLetter(code)) isAscii = false
        else if (code < 97 || code > 122) break
      }
      if (i - from >= shortestRun) {
        const mayBeName = isAscii && capitals >= fewestWords - 1 && capitals * 2 < i - from
        const isSplit = mayBeName && splitAtCapitals(text, from, i, words, edits)
        if (!isSplit)
          for (let at = from; at < i; at += longestRun)
            splitAtWords(text, at, Math.min(i, at + longestRun), words, edits)
      }
      i = Math.max(i, from + 1)
    }
  }
  return edits
}

/** By UTF-16 unit: 1 for a letter or mark of a script that divides its words, 2 for any other, 0 for one not asked about yet. */
const kinds = new Uint8Array(65536)

function isLetter(code: number): boolean {
  kinds[code] ||= /[\p{L}\p{M}]/u.test(String.fromCharCode(code)) && !isUnspaced(code) ? 1 : 2
  return kinds[code] === 1
}

/**
 * Words of which some are known; an acronym is one word.
 * @returns false where the capitals are those of names and of sentences that run together
 */
function splitAtCapitals(text: string, from: number, to: number, words: KnownWords, edits: Edits): boolean {
  const parts = text.slice(from, to).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []
  const known = parts.filter((part) => part.length === 1 || words.has(part)).length
  if (parts.length < fewestWords || known * 3 < parts.length * 2) return false
  addGaps(
    from,
    parts.map(({ length }) => length),
    edits
  )
  return true
}

const least = new Float64Array(longestRun + 1)
const lengths = new Uint8Array(longestRun + 1)
const isKnown = new Uint8Array(longestRun + 1)
const lower = new Uint16Array(longestRun)

/** Costs of a letter in no known word, and of an ending after a known one: see `WordCosts` and `KnownWords`. */
const costOfLetter = 14
const costOfEnding = 3

/**
 * Cost of a letter on average, over which a run that may be one word is one. Of runs of 12 to 16 letters in English sentences
 * without gaps one in six costs more, of those up to 24 one in twenty; of long words as people write them nearly three in four.
 */
const mostCost = 4.5

/** Shorter words stand by chance in any long one. */
const shortestTelling = 3

/** The split into known words that costs least (Viterbi's algorithm), taken where nearly all letters fall in words. */
function splitAtWords(text: string, from: number, to: number, words: KnownWords, edits: Edits): void {
  const size = to - from
  least.fill(Number.POSITIVE_INFINITY, 1, size + 1)
  least[0] = 0
  readLower(text, from, size)
  for (let i = 0; i < size; i++) {
    const before = least[i]!
    relax(i, 1, before + costOfLetter, 0)
    relaxTerms(text, from + i, i, { size, words })
    relaxWords(i, size)
  }
  const parts: number[] = []
  let known = 0
  let telling = 0
  let count = 0
  let strange = false
  for (let i = size; i > 0; i -= lengths[i]!) {
    // Letters in no word, side by side, are one part.
    if (strange && isKnown[i] === 0) {
      parts[parts.length - 1]!++
      continue
    }
    parts.push(lengths[i]!)
    strange = isKnown[i] === 0
    if (strange) continue
    // Single letters stand everywhere.
    if (lengths[i] === 1) continue
    known += lengths[i]!
    if (lengths[i]! >= shortestTelling) telling += lengths[i]!
    count++
  }
  if (!isSentence(size, { letters: known, telling, count })) return
  // A long word falls into `in`, `at`, `or` and the like, or into rare ones (`pro cras tin ation`).
  if (size <= longestWord && (telling * 5 < size * 3 || least[size]! > size * mostCost)) return
  addGaps(from, parts.reverse(), edits)
}

interface Split {
  /** Letters in known words, and in those that tell something. */
  letters: number
  telling: number
  /** Known words. */
  count: number
}

/** Whether a split is of several words run together, and not of a long one that holds some by chance. */
function isSentence(size: number, { letters, telling, count }: Split): boolean {
  if (letters * 5 < size * 3) return false
  // Three words must be long ones.
  if (count === fewestWords - 1) return telling === letters && letters >= count * 4
  return count >= fewestWords && letters * 2 >= count * 5
}

/** Words that people write. */
function relaxWords(i: number, size: number): void {
  const costs = shippedWordCosts()
  const before = least[i]!
  const end = Math.min(size, i + longestKnownWord)
  let hash = startHash
  for (let k = i; k < end; k++) {
    hash = nextHash(hash, lower[k]!)
    const cost = costs.of(hash)
    if (cost !== 0) relax(i, k - i + 1, before + cost, 1)
  }
}

/** Words of a policy, and its beginnings of words, with the endings that they may take. */
function relaxTerms(text: string, at: number, i: number, { size, words }: { size: number; words: KnownWords }): void {
  const before = least[i]!
  let node = 0
  for (let length = 1; length <= longestWord && i + length <= size; length++) {
    node = words.step(node, text.charCodeAt(at + length - 1))
    if (node === 0) return
    const cost = words.costOf(node)
    if (cost === 0) continue
    relax(i, length, before + cost, 1)
    if (length < shortestStem) continue
    for (const ending of endings) {
      if (i + length + ending.length <= size && text.startsWith(ending, at + length)) {
        relax(i, length + ending.length, before + cost + costOfEnding, 1)
      }
    }
  }
}

/** The units of the run in lower case, where that is one unit as well. */
function readLower(text: string, from: number, size: number): void {
  const run = text.slice(from, from + size)
  const small = run.toLowerCase()
  const same = small.length === size ? small : run
  for (let i = 0; i < size; i++) lower[i] = same.charCodeAt(i)
}

function relax(i: number, length: number, cost: number, known: 0 | 1): void {
  if (cost >= least[i + length]!) return
  least[i + length] = cost
  lengths[i + length] = length
  isKnown[i + length] = known
}

function addGaps(from: number, parts: readonly number[], edits: Edits): void {
  let at = from
  for (const length of parts.slice(0, -1)) {
    at += length
    edits.add(at, at, ' ')
  }
}
