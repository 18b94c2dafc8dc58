/** Numbers of phrases, which the phrase tree reports as its hits. */
import { foldPhrase } from '../../text/fold.js'
import type { Pattern } from '../../text/hit-list.js'

/** Numbers phrases in their matched form, folded and with the `*` of any ending: equal forms share a number. */
export class PhraseIds {
  readonly #ids = new Map<string, number>()

  get size(): number {
    return this.#ids.size
  }

  idOf(phrase: string): number {
    const folded = foldPhrase(phrase) + (phrase.endsWith('*') ? '*' : '')
    const known = this.#ids.get(folded)
    if (known !== undefined) return known
    this.#ids.set(folded, this.#ids.size)
    return this.#ids.size - 1
  }

  phrases(): IterableIterator<string> {
    return this.#ids.keys()
  }

  patterns(): Pattern[] {
    return [...this.#ids].map(([phrase, id]) => ({ phrase, id }))
  }
}
