/**
 * One line of the tables of national numbers. To add one: a line in the file of its continent, with its shape and its check
 * digits as its issuer documents them; `test/bench/quality/shapes/people.mjs` makes numbers to look for.
 */
export interface National {
  readonly kind: string
  /** Separators included; with the flag `g`. */
  readonly shape: RegExp
  /** @param id the match without separators, in upper case, @param match as it is written */
  readonly valid: (id: string, match: string) => boolean
  /** 0..1 */
  readonly confidence: number
  /**
   * Words and phrases, one of which must stand before a shape that is too common alone: in lower case, separated by
   * bars; `*` for any ending.
   */
  readonly near?: string
  /**
   * For shapes without such a word: patterns that every match contains, digits as 9 and letters as A, separated by
   * bars.
   */
  readonly sign?: string
}

export const always = () => true

/** `edge(…)`: not within a longer number or word. */
export const edge = (shape: string, flags = 'g') => new RegExp(`(?<![\\w.-])(?:${shape})(?![\\w-]|\\.\\d)`, flags)

/** Eleven, thirteen … digits, in groups or not. */
export const grouped = (...sizes: readonly number[]) => edge(sizes.map((size) => `\\d{${size}}`).join('[ .-]?'))
