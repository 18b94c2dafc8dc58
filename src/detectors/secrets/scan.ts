/**
 * Scans for all forms of tokens in one pass over their literal texts, then checks the pieces around each. The end of
 * each run is cached, so that a text that repeats the beginning of a token costs no more than another.
 */
import { LiteralScanner } from '../../text/literals.js'
import { UnitReader } from '../../text/units.js'
import { alphabetCount, compileForm, type Form, isIn, type Piece, wordBit } from './form.js'

/** @param index of the form, @param body where what follows the first literal begins */
export type Report = (index: number, start: number, end: number, body: number) => void

export class FormScanner {
  readonly #forms: readonly Form[]
  readonly #literals: LiteralScanner
  readonly #reader = new UnitReader()
  /** The run of each alphabet that was looked at last. */
  readonly #runFrom = new Int32Array(alphabetCount)
  readonly #runTo = new Int32Array(alphabetCount)
  #units: Uint16Array = new Uint16Array(0)
  #from = 0
  #to = 0

  /** @throws RangeError as `compileForm` does */
  constructor(forms: readonly string[]) {
    this.#forms = forms.map(compileForm)
    const anchors = this.#forms.map(({ pieces, anchor }) => (pieces[anchor] as { literal: string }).literal)
    this.#literals = new LiteralScanner(anchors)
  }

  /** Reads the text whose parts are scanned next. */
  open(text: string): void {
    this.#units = this.#reader.read(text)
  }

  /** Every token in [from, to) of the open text, overlapping ones too. */
  scan(from: number, to: number, report: Report): void {
    this.#from = from
    this.#to = to
    this.#runFrom.fill(0)
    this.#runTo.fill(0)
    this.#literals.scan(this.#units, from, to, (index, end) => this.#match(index, end, report))
  }

  #match(index: number, anchorEnd: number, report: Report): void {
    const { pieces, anchor } = this.#forms[index]!
    const start = this.#back(pieces, anchor, anchorEnd - (pieces[anchor] as { literal: string }).literal.length)
    if (start < 0) return
    let at = anchorEnd
    let body = anchor === 0 ? anchorEnd : start
    for (let i = anchor + 1; i < pieces.length; i++) {
      const piece = pieces[i]!
      at = 'literal' in piece ? this.#literal(piece.literal, at) : this.#run(piece, at)
      if (at < 0) return
    }
    // A continuing run is not this token.
    if (at < this.#to && this.#goesOn(pieces[pieces.length - 1]!, at)) return
    const first = pieces[0]!
    if (anchor !== 0 && 'literal' in first) body = start + first.literal.length
    report(index, start, at, body)
  }

  #goesOn(last: Piece, at: number): boolean {
    const code = this.#units[at]!
    return isIn(wordBit, code) || (!('literal' in last) && isIn(last.alphabet, code))
  }

  /** @returns where the token begins of which an anchor begins at `at`, or -1 */
  #back(pieces: readonly Piece[], anchor: number, at: number): number {
    let start = at
    let edge = wordBit
    for (let i = anchor - 1; i >= 0; i--) {
      const piece = pieces[i]!
      if ('literal' in piece) {
        start -= piece.literal.length
        if (start < this.#from || this.#literal(piece.literal, start) < 0) return -1
      } else {
        const least = Math.max(this.#from, start - piece.most)
        const end = start
        while (start > least && isIn(piece.alphabet, this.#units[start - 1]!)) start--
        if (end - start < piece.fewest) return -1
        edge = piece.alphabet
      }
    }
    if (start === this.#from) return start
    const before = this.#units[start - 1]!
    return isIn(wordBit, before) || (anchor > 0 && isIn(edge, before)) ? -1 : start
  }

  /** @returns where the literal ends that begins at `at`, or -1 */
  #literal(literal: string, at: number): number {
    if (at + literal.length > this.#to) return -1
    for (let i = 0; i < literal.length; i++) if (this.#units[at + i] !== literal.charCodeAt(i)) return -1
    return at + literal.length
  }

  /** @returns where the run ends that begins at `at`, or -1 */
  #run({ alphabet, fewest, most }: Exclude<Piece, { literal: string }>, at: number): number {
    if (at < this.#runFrom[alphabet]! || at >= this.#runTo[alphabet]!) {
      let end = at
      while (end < this.#to && isIn(alphabet, this.#units[end]!)) end++
      this.#runFrom[alphabet] = at
      this.#runTo[alphabet] = end
    }
    const size = Math.min(most, this.#runTo[alphabet]! - at)
    return size < fewest ? -1 : at + size
  }
}
