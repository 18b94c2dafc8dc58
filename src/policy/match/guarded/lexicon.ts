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
  /** Index of a subject, or -1. */
  topic: number
}

export const bitOf = Object.freeze(Object.fromEntries(wordKinds.map((kind, i) => [kind, 1 << i]))) as Readonly<
  Record<WordKind, number>
>

export class Lexicon {
  readonly #phrases: Phrases
  /** Per phrase its kinds, and the subjects that it belongs to. */
  readonly #kinds: readonly number[]
  readonly #topics: readonly (readonly number[])[]
  readonly #found = new HitList()
  readonly #folder = new Folder()

  /** Built by `lexiconSteps`. */
  constructor(phrases: Phrases, kinds: readonly number[], topics: readonly (readonly number[])[]) {
    this.#phrases = phrases
    this.#kinds = kinds
    this.#topics = topics
  }

  /** In order of their ends. */
  places(text: string, folder: Folder = this.#folder.fold(text)): Place[] {
    const found = this.#found
    found.count = 0
    this.#phrases.scan(folder, found)
    const places: Place[] = []
    for (let hit = 0; hit < found.count; hit++) {
      const id = found.id[hit]!
      const span = folder.span(found.from[hit]!, found.to[hit]!)
      const kinds = this.#kinds[id]!
      if (kinds !== 0) places.push({ ...span, kinds, topic: -1 })
      for (const topic of this.#topics[id]!) places.push({ ...span, kinds: 0, topic })
    }
    return places
  }
}

export function* lexiconSteps({ lists, topics }: GuardedWords): Generator<void, Lexicon> {
  const ids = new PhraseIds()
  const kinds: number[] = []
  const subjects: number[][] = []
  const idOf = (phrase: string) => {
    const id = ids.idOf(phrase)
    kinds[id] ??= 0
    subjects[id] ??= []
    return id
  }
  for (const kind of wordKinds) {
    for (const phrase of lists[kind]) kinds[idOf(phrase)]! |= bitOf[kind]
  }
  for (const [topic, list] of topics.entries()) for (const phrase of list) subjects[idOf(phrase)]!.push(topic)
  yield
  const phrases = yield* phraseSteps(ids.patterns())
  return new Lexicon(phrases, kinds, subjects)
}
