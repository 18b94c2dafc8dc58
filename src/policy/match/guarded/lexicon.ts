/** The words of `guarded:` compiled, and their places in a text. */
import { Folder } from '../../../text/fold.js'
import { HitList } from '../../../text/hit-list.js'
import { type Phrases, phraseSteps } from '../../../text/phrases.js'
import { type GuardedWords, type WordKind, wordKinds } from '../../constitution/lexicons.js'
import { PhraseIds } from '../phrase-ids.js'

/** One phrase in a text; offsets are UTF-16 units of it. */
export interface Place {
  start: number
  end: number
  /** Bits of `bitOf`. */
  kinds: number
}

export const bitOf = Object.freeze(Object.fromEntries(wordKinds.map((kind, i) => [kind, 1 << i]))) as Readonly<
  Record<WordKind, number>
>

export class Lexicon {
  readonly #phrases: Phrases
  /** By the phrase's number. */
  readonly #kinds: readonly number[]
  readonly #found = new HitList()
  readonly #folder = new Folder()

  /** Built by `lexiconSteps`. */
  constructor(phrases: Phrases, kinds: readonly number[]) {
    this.#phrases = phrases
    this.#kinds = kinds
  }

  /** In order of their ends. */
  places(text: string, folder: Folder = this.#folder.fold(text)): Place[] {
    const found = this.#found
    found.count = 0
    this.#phrases.scan(folder, found)
    const places: Place[] = []
    for (let hit = 0; hit < found.count; hit++) {
      places.push({ ...folder.span(found.from[hit]!, found.to[hit]!), kinds: this.#kinds[found.id[hit]!]! })
    }
    return places
  }
}

export function* lexiconSteps(words: GuardedWords): Generator<void, Lexicon> {
  const ids = new PhraseIds()
  const kinds: number[] = []
  for (const kind of wordKinds) {
    for (const phrase of words[kind]) {
      const id = ids.idOf(phrase)
      kinds[id] = (kinds[id] ?? 0) | bitOf[kind]
    }
  }
  yield
  return new Lexicon(yield* phraseSteps(ids.patterns()), kinds)
}
