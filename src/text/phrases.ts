/**
 * Finds many phrases in one pass over a folded text. Words are looked up by hash, and phrases are followed as rows of
 * words. Phrases in scripts without spaces begin and end anywhere and have an automaton over characters. The cost is
 * linear in the text and flat in the number of phrases.
 */
import { type Automaton, compileAutomaton } from './automaton.js'
import { isUnspaced } from './characters.js'
import { type FoldedText, HitList, type Pattern } from './hit-list.js'
import { PhraseTree } from './phrase-tree.js'
import { Vocabulary } from './vocabulary.js'

export class Phrases {
  readonly #vocabulary: Vocabulary
  readonly #tree: PhraseTree
  readonly #unspaced: Automaton | undefined
  readonly #ofWords = new HitList()
  readonly #ofCharacters = new HitList()

  /** Built by `phraseSteps`. */
  constructor({ vocabulary, tree, unspaced }: PhraseParts) {
    this.#vocabulary = vocabulary
    this.#tree = tree
    this.#unspaced = unspaced
  }

  /** Adds every occurrence of every phrase, overlapping ones too, in order of their ends. */
  scan(folded: FoldedText, found: HitList): void {
    if (this.#unspaced === undefined || !folded.hasUnspaced) {
      this.#scanWords(folded, found)
      return
    }
    this.#ofWords.count = 0
    this.#ofCharacters.count = 0
    this.#scanWords(folded, this.#ofWords)
    this.#unspaced.scan(folded, this.#ofCharacters)
    found.merge(this.#ofWords, this.#ofCharacters)
  }

  /** The folded offset at which the longest phrase begins that the text scanned last may still go on with, or -1. */
  get underWay(): number {
    return this.#tree.oldest
  }

  #scanWords({ view, units, spaces, words }: FoldedText, found: HitList): void {
    const vocabulary = this.#vocabulary
    const tree = this.#tree
    const numbers = vocabulary.found
    tree.restart()
    let end = spaces[0]!
    for (let word = 0; word < words; word++) {
      const start = end + 1
      end = spaces[word + 1]!
      const count = vocabulary.find(view, units, start, end)
      if (count > 0) tree.advance(numbers, count, start, end, found)
      else tree.restart()
    }
  }
}

interface PhraseParts {
  vocabulary: Vocabulary
  tree: PhraseTree
  unspaced: Automaton | undefined
}

/**
 * Compiles step by step, so that requests are served between steps; `atOnce` runs all steps.
 * @throws RangeError where a phrase has no letter or digit: it would match everywhere
 */
export function* phraseSteps(patterns: readonly Pattern[]): Generator<void, Phrases> {
  const words = new Map<string, number>()
  const beginnings = new Map<string, number>()
  const number = (map: Map<string, number>, word: string) => {
    const known = map.get(word)
    if (known !== undefined) return known
    const next = words.size + beginnings.size
    map.set(word, next)
    return next
  }
  const rows: { row: number[]; id: number }[] = []
  const unspaced: Pattern[] = []
  for (const [i, pattern] of patterns.entries()) {
    if (i % patternsPerStep === 0) yield
    const anyEnding = pattern.phrase.endsWith('*')
    const phrase = (anyEnding ? pattern.phrase.slice(0, -1) : pattern.phrase).trim()
    if (phrase === '') throw new RangeError('a phrase needs at least one letter or digit')
    if ([...phrase].some((character) => isUnspaced(character.codePointAt(0)!))) {
      unspaced.push(pattern)
      continue
    }
    const parts = phrase.split(' ')
    const row = parts.map((word, i) => number(anyEnding && i === parts.length - 1 ? beginnings : words, word))
    rows.push({ row, id: pattern.id })
  }
  yield
  const vocabulary = new Vocabulary(words, beginnings)
  yield
  const tree = new PhraseTree(rows, words.size + beginnings.size)
  yield
  return new Phrases({ vocabulary, tree, unspaced: unspaced.length > 0 ? compileAutomaton(unspaced) : undefined })
}

/** About a millisecond. */
const patternsPerStep = 500

/** Runs steps to their end. */
export function atOnce<T>(steps: Generator<void, T>): T {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}
