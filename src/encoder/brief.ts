/**
 * Cuts a text for the encoder with the first letters of each run of noise: a hash or a picture in base64 falls into a
 * piece for every second letter, which fill windows, say nothing, and part the words around them. The rows of training hold
 * next to none, so that Python cuts them whole.
 */
import { noiseRuns } from '../text/opaque.js'
import { signsOf } from '../text/signs.js'
import type { Cut, Pieces } from './pieces.js'

/** UTF-16 units of a run that are kept: they show that there is one. */
const kept = 6

/** @param continues whether the text goes on in the middle of a word @returns pieces with their places in the whole text */
export function cutBriefly(pieces: Pieces, text: string, continues: boolean): Cut {
  const { tokens } = signsOf(text).places
  const noise = tokens.length === 0 ? tokens : noiseRuns(text, tokens)
  if (noise.length === 0) return pieces.cut(text, continues)
  /** Where stretches begin that were kept: in what is cut, and in the text. */
  const begins: [number, number][] = []
  let brief = ''
  let from = 0
  for (let i = 0; i <= noise.length; i += 2) {
    const to = i < noise.length ? noise[i]! + kept : text.length
    begins.push([brief.length, from])
    brief += text.slice(from, to)
    from = noise[i + 1] ?? to
  }
  const { ids, starts } = pieces.cut(brief, continues)
  let at = 0
  for (let i = 0; i < starts.length; i++) {
    while (at + 1 < begins.length && begins[at + 1]![0] <= starts[i]!) at++
    const [there, here] = begins[at]!
    starts[i] = starts[i]! - there + here
  }
  return { ids, starts }
}
