/**
 * Derives from a pattern's source the literals of which a matching text must contain one. Searching for literals costs
 * a thousandth of a run of the linear-time engine, and rules most texts out.
 */

/** Whether a pattern can match in a text at all. */
export type Screen = (text: string) => boolean

/**
 * @param source RE2 syntax, matched without regard to case. @returns undefined where no literal is required, or the
 * syntax is not supported here
 */
export function screenOf(source: string): Screen | undefined {
  const reader = new SourceReader(source)
  const literals = reader.alternatives()
  if (literals === undefined || !reader.isAtEnd || literals.length > mostLiterals) return undefined
  const distinct = [...new Set(literals)]
  if (!distinct.some(hasCase)) {
    return (text) => distinct.some((literal) => text.includes(literal))
  }
  // The flags fold case as RE2 does: by Unicode's simple folding.
  const any = new RegExp(distinct.map((literal) => literal.replace(/[\^$\\.*+?()[\]{}|/]/g, '\\$&')).join('|'), 'iu')
  return (text) => any.test(text)
}

const mostLiterals = 64

function hasCase(literal: string): boolean {
  return literal.toLowerCase() !== literal.toUpperCase()
}

/** Any match holds one of these. */
type Literals = readonly string[] | undefined

/** One element of a sequence: a literal character, or the literals that it requires. */
type Element = { character: string } | { literals: Literals }

/** Parses the known syntax; at any other syntax it stops before the end, and no literal is required. */
class SourceReader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  get isAtEnd(): boolean {
    return this.#at === this.#source.length
  }

  alternatives(): Literals {
    const literals: string[] = []
    let isRequired = true
    do {
      const branch = this.#sequence()
      if (branch === undefined) isRequired = false
      else literals.push(...branch)
    } while (this.#take('|'))
    return isRequired ? literals : undefined
  }

  /** The rarest literals that a sequence requires. */
  #sequence(): Literals {
    let best: Literals
    let run = ''
    const consider = (literals: Literals) => {
      if (literals !== undefined && (best === undefined || rarity(literals) > rarity(best))) best = literals
    }
    for (let element = this.#element(); element !== undefined; element = this.#element()) {
      const least = this.#repetition()
      if ('character' in element && least === undefined) {
        run += element.character
        continue
      }
      if (run !== '') consider([run])
      run = ''
      if (least !== 0) consider('character' in element ? [element.character] : element.literals)
    }
    if (run !== '') consider([run])
    return best
  }

  #element(): Element | undefined {
    const next = this.#source[this.#at]
    if (next === undefined || next === '|' || next === ')') return undefined
    if (next === '(') return this.#group()
    if (next === '[') return this.#class()
    if (next === '\\') return this.#escape()
    // A surrogate pair is not supported, since a quantifier would apply to its second unit only.
    if ('*+?'.includes(next) || /[\ud800-\udfff]/.test(next)) return undefined
    this.#at++
    return '.^$'.includes(next) ? { literals: undefined } : { character: next }
  }

  #group(): Element | undefined {
    const start = this.#at
    this.#at += this.#source.startsWith('(?:', start) ? 3 : 1
    if (this.#source[this.#at] === '?') return this.#refuse(start)
    const literals = this.alternatives()
    return this.#take(')') ? { literals } : this.#refuse(start)
  }

  /** A class of signs requires one of them; one with ranges, letters of a kind, or a negation requires nothing. */
  #class(): Element | undefined {
    const match = /^\[(\^?)((?:\\[^a-zA-Z0-9]|[^\\\][^-])(?:\\[^a-zA-Z0-9]|[^\\\][-])*)\]/.exec(
      this.#source.slice(this.#at)
    )
    if (match !== null) {
      this.#at += match[0].length
      const members = match[2]!.replace(/\\(.)/gs, '$1')
      return { literals: match[1] === '' ? [...members] : undefined }
    }
    const other = /^\[\^?\]?(?:\\[^pPQ]|\[:\^?[a-z]+:\]|[^\\\][])*\]/.exec(this.#source.slice(this.#at))
    if (other === null) return this.#refuse(this.#at)
    this.#at += other[0].length
    return { literals: undefined }
  }

  #escape(): Element | undefined {
    const escaped = this.#source[this.#at + 1] ?? ''
    const isKnown = /^[\p{P}\p{S} ]$/u.test(escaped) || 'sSdDwWbB'.includes(escaped) || escaped === 'n'
    if (escaped === '' || !isKnown) return this.#refuse(this.#at)
    this.#at += 2
    if (escaped === 'n') return { character: '\n' }
    return 'sSdDwWbB'.includes(escaped) ? { literals: undefined } : { character: escaped }
  }

  /** The least number of repetitions of the last element; undefined without a quantifier. */
  #repetition(): number | undefined {
    const match = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at))
    if (match === null) return undefined
    this.#at += match[0].length
    return match[1] === undefined ? Number(match[0].startsWith('+')) : Number(match[1])
  }

  #take(character: string): boolean {
    if (this.#source[this.#at] !== character) return false
    this.#at++
    return true
  }

  /** Goes back, so that the end is never reached. */
  #refuse(at: number): undefined {
    this.#at = at
    return undefined
  }
}

/** Signs are rarer in prose than words, long words than short ones. */
function rarity(literals: readonly string[]): number {
  return Math.min(...literals.map((literal) => literal.length + (/[\p{L}\p{N}\s]/u.test(literal) ? 0 : 100)))
}
