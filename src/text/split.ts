/**
 * Splits joined words: those in one case (`howtopickalock`) at known words, others at their capitals
 * (`howToPickALock`).
 */
import { endings, type KnownWords, shortestStem } from './known-words.js'
import type { Stretches } from './places.js'
import { Edits } from './rewrite.js'

/** A shorter run is one word. */
const shortestRun = 12
/** Identifiers have two words or three; sentences have more. */
const fewestWords = 4
/** Letters in one word. */
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
      for (; i < end; i++) {
        const code = text.charCodeAt(i)
        if (code >= 65 && code <= 90) capitals++
        else if (code < 97 || code > 122) break
      }
      if (i - from >= shortestRun) {
        const isSplit =
          capitals >= fewestWords - 1 && capitals * 2 < i - from && splitAtCapitals(text, from, i, words, edits)
        if (!isSplit)
          for (let at = from; at < i; at += longestRun)
            splitAtWords(text, at, Math.min(i, at + longestRun), words, edits)
      }
      i = Math.max(i, from + 1)
    }
  }
  return edits
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

/** Costs of `a` and `i`, of a letter in no known word, and of an ending after a known one: see `KnownWords`. */
const costOfSingle = 4
const costOfLetter = 14
const costOfEnding = 3

/** Shorter words stand by chance in any long one. */
const shortestTelling = 3

/** The split into known words that costs least (Viterbi's algorithm), taken where nearly all letters fall in words. */
function splitAtWords(text: string, from: number, to: number, words: KnownWords, edits: Edits): void {
  const size = to - from
  least.fill(Number.POSITIVE_INFINITY, 1, size + 1)
  least[0] = 0
  for (let i = 0; i < size; i++) {
    const before = least[i]!
    relax(i, 1, before + costOfLetter, 0)
    let node = 0
    for (let k = i; k < size && k - i < longestWord; k++) {
      const code = text.charCodeAt(from + k)
      node = words.step(node, code)
      const length = k - i + 1
      if (length === 1 && ((code | 32) === 97 || (code | 32) === 105)) relax(i, 1, before + costOfSingle, 1)
      if (node === 0) break
      const cost = words.costOf(node)
      if (cost === 0) continue
      relax(i, length, before + cost, 1)
      if (length < shortestStem) continue
      for (const ending of endings) {
        if (k + ending.length < size && text.startsWith(ending, from + k + 1)) {
          relax(i, length + ending.length, before + cost + costOfEnding, 1)
        }
      }
    }
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
  if (!isSentence(size, known, count)) return
  // A long word of English falls into `in`, `at`, `or` and the like: where one is no longer, most letters stand in longer words.
  if (size <= longestWord && telling * 5 < size * 3) return
  addGaps(from, parts.reverse(), edits)
}

/** Whether so many letters in so many known words are several words run together, and no long one that holds some by chance. */
function isSentence(size: number, letters: number, count: number): boolean {
  if (letters * 5 < size * 3) return false
  // Three words must be long ones.
  return count >= fewestWords ? letters * 2 >= count * 5 : count === fewestWords - 1 && letters >= count * 4
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
