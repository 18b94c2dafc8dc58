/**
 * Which stretches of a text are scored. A text scores what its strongest stretch scores, so an attack inside a long
 * harmless text scores as it would alone. Three lengths of window, since an insult is a few words and a persona is pages.
 */

/** Every window starts at a multiple of this many words: sums are kept for these places only. */
export const stride = 8
/** In words; each step is a multiple of the stride. */
const scales = [
  { length: 16, step: 8 },
  { length: 48, step: 16 },
  { length: 160, step: 40 }
] as const
/** Texts up to this many words are also scored as a whole. */
export const longest = 160

/** A text of no more words than this has no surroundings: "how do I shoot someone" is a gamer's question too. */
export const fewWords = 8
/** The same of a request in another language: what is asked for has fewer double meanings there, for the training rows at least. */
export const fewForeignWords = 3

/** Longer texts are walked in segments of this many words; each begins with the last `longest` words of the one before. */
export const segment = 4096
export const segmentStep = segment - longest

/**
 * A short text, and a window of a long one, are each judged by their own measure (a bias for each class): of many
 * windows one is always a little odd.
 */
export const classes = 9

/** @param visit is given the first word, the word after the last, and the class */
export function forEachWindow(count: number, visit: (from: number, to: number, kind: number) => void): void {
  if (count === 0) return
  if (count <= longest) visit(0, count, wholeClass(count))
  for (let scale = 0; scale < scales.length; scale++) {
    const { length, step } = scales[scale]!
    if (length >= count) return
    for (let from = 0; ; from += step) {
      const to = Math.min(from + length, count)
      visit(from, to, 6 + scale)
      if (to === count) break
    }
  }
}

function wholeClass(count: number): number {
  if (count <= 8) return count <= 2 ? 0 : count <= 4 ? 1 : 2
  return count <= 16 ? 3 : count <= 48 ? 4 : 5
}

/** What the sum of a window's weights is multiplied with. */
export function scaleOf(count: number): number {
  return 1 / Math.sqrt(count)
}
