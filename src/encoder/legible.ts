/**
 * Normalises a text for the encoder, which has learnt from ordinary texts: removes invisible characters, and lowers
 * runs of words in capitals. Both would fall into meaningless pieces. `training/encoder/legible.py` does the same.
 */

/**
 * Soft hyphens, joiners, controls of direction, and selectors of a letter's variant. Selectors after anything else choose how an
 * emoji looks, and zero-width spaces are spaces to the tokenizer.
 */
const unseen =
  /(?:[\u00ad\u061c\u180e\u202a-\u202e\u2060-\u2064\u2066-\u206f]|\u034f)+|(?<=\p{L})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu

const word = /[\p{L}\p{M}\p{N}'’]+/gu
const small = /[\p{Ll}\p{Lo}\p{Lt}]/u
const capital = /\p{Lu}/gu
/** Least words of two or more capitals in a run: single names in capitals stay unchanged. */
const fewest = 4

export interface Legible {
  text: string
  /** By UTF-16 unit, its place in the original text; absent where nothing was removed. */
  places?: Uint32Array
}

/** Linear. */
export function legible(text: string): Legible {
  const seen = text.replace(unseen, '')
  if (seen.length === text.length) return { text: withoutShouting(text) }
  const places = new Uint32Array(seen.length + 1)
  let [from, at] = [0, 0]
  const keep = (to: number) => {
    while (from < to) places[at++] = from++
  }
  for (const { 0: found, index } of text.matchAll(unseen)) {
    keep(index)
    from = index + found.length
  }
  keep(text.length)
  places[at] = text.length
  return { text: withoutShouting(seen), places }
}

/** @returns a text of the same length */
function withoutShouting(text: string): string {
  let told = ''
  let at = 0
  // The current run, with start -1 where there is none.
  let [start, end, words] = [-1, 0, 0]
  const close = () => {
    if (words >= fewest) {
      // A sentence begins with a capital.
      told += text.slice(at, start + 1) + lowered(text.slice(start + 1, end))
      at = end
    }
    words = 0
    start = -1
  }
  for (const { 0: found, index } of text.matchAll(word)) {
    if (small.test(found)) {
      close()
      continue
    }
    const capitals = found.match(capital)?.length ?? 0
    if (capitals === 0) continue
    if (start === -1) start = index
    if (capitals > 1) words++
    end = index + found.length
  }
  close()
  return at === 0 ? text : told + text.slice(at)
}

/** By character, since some have a small letter of another length. */
function lowered(text: string): string {
  return text.replace(capital, (letter) => {
    const found = letter.toLowerCase()
    return found.length === letter.length ? found : letter
  })
}
