/**
 * Reads a page of a PDF by the places of its letters. A file may draw the letters of a sentence in any order: whoever sees the
 * page reads the sentence, and whoever reads the file in its own order finds loose letters.
 */
import { type Matrix, times } from './pdf-pictures.js'

/** Of a glyph what the place of the next one takes. */
export interface Advance {
  unicode: string
  /** In thousandths of the size. */
  width: number
  isSpace: boolean
}

/** Letters that stand beside each other as they were drawn. Lengths are in points. */
interface Stretch {
  text: string
  /** Its number among those of the page, in the file's own order. */
  index: number
  /** Where it begins and ends along its line, and which line that is, from the top down. */
  from: number
  to: number
  line: number
  size: number
}

/** Shares of the size of letters: what is nearer than these belongs to one line, to one word, to one column. */
const sameLine = 0.4
const sameWord = 0.2
const sameColumn = 0.9
/** Letters that stand by themselves are read as one line up to here. */
const spreadOut = 3
/** By how much what stands between words is wider than what stands between such letters. */
const wider = 1.4
/** The share of its own width within which a repeated text is drawn again to look bold. */
const twice = 0.5
/** Lines that follow each other are this far apart, in sizes of letters. */
const raised = 0.9
const nextLine = 2.5

/** Follows the operators of a page that place text (ISO 32000-2, 9.4.4), as pdf.js hands them out. */
export class PlacedText {
  /** By what hides them: invisible text must not stand between visible letters. */
  readonly #stretches = new Map<string, Stretch[]>()
  #matrix: ArrayLike<number> = [1, 0, 0, 1, 0, 0]
  /** Where the line began, and where the next letter stands, in the space of the matrix. */
  #line = { x: 0, y: 0 }
  #x = 0
  #leading = 0
  #letterSpacing = 0
  #wordSpacing = 0
  #widened = 1
  #rise = 0

  begin(): void {
    this.setMatrix([1, 0, 0, 1, 0, 0])
  }

  setMatrix(matrix: ArrayLike<number>): void {
    this.#matrix = matrix
    this.#line = { x: 0, y: 0 }
    this.#x = 0
  }

  move(x: number, y: number): void {
    this.#line = { x: this.#line.x + x, y: this.#line.y + y }
    this.#x = this.#line.x
  }

  nextLine(): void {
    this.move(0, -this.#leading)
  }

  setLeading(leading: number): void {
    this.#leading = leading
  }

  setSpacing(of: 'letters' | 'words', width: number): void {
    if (of === 'letters') this.#letterSpacing = width
    else this.#wordSpacing = width
  }

  /** @param percent 100: as wide as the font says */
  setWidth(percent: number): void {
    this.#widened = percent / 100
  }

  setRise(rise: number): void {
    this.#rise = rise
  }

  /**
   * @param glyphs with numbers between them: thousandths of the size by which the next one moves back
   * @param size of the font
   * @param page from the place of the drawing to the page
   * @param hidden names what hides the text; empty where it is visible
   */
  show(glyphs: readonly (Advance | number | null)[], size: number, page: Matrix, hidden: string): void {
    const [a, b, c, d, x0, y0] = times(page, this.#matrix)
    const scale = Math.hypot(a, b) || 1
    const y = this.#line.y + this.#rise
    // A negative size turns the letters upside down: they are read from the other side.
    const side = size < 0 ? -1 : 1
    // Along the direction of the text, whichever way it is turned, and across it, from the top down.
    const along = (x: number) => (side * ((x0 + x * a + y * c) * a + (y0 + x * b + y * d) * b)) / scale
    const across = (side * ((x0 + y * c) * b - (y0 + y * d) * a)) / scale
    const height = Math.abs(size) * scale
    const stretches = this.#stretches.get(hidden) ?? []
    this.#stretches.set(hidden, stretches)
    let last: Stretch | undefined
    for (const glyph of glyphs) {
      if (glyph === null) continue
      if (typeof glyph === 'number') {
        this.#x -= (glyph / 1000) * size * this.#widened
        continue
      }
      const from = along(this.#x)
      const spacing = this.#letterSpacing + (glyph.isSpace ? this.#wordSpacing : 0)
      const width = (glyph.width / 1000) * size * this.#widened
      this.#x += width + spacing * this.#widened
      if (height === 0 || glyph.unicode.trim() === '') continue
      const to = along(this.#x - spacing * this.#widened)
      const gap = last === undefined ? undefined : from - last.to
      if (last !== undefined && gap! > -sameWord * height && gap! < sameColumn * height) {
        last.text += gap! > sameWord * height ? ` ${glyph.unicode}` : glyph.unicode
        last.to = to
        continue
      }
      last = { text: glyph.unicode, index: stretches.length, from, to, line: across, size: height }
      stretches.push(last)
    }
  }

  /**
   * @returns the lines whose parts do not follow each other in the file, as they are seen, and all lines where one of a
   *   column was drawn before the line above it; empty where all follow, as in the files of most programs. Takes n log n
   *   of the number of stretches.
   */
  otherwise(): string {
    const told: string[] = []
    for (const stretches of this.#stretches.values()) {
      const lines = linesOf(stretches).map(runsOf)
      const areAll = lines.some((runs, i) => i > 0 && isAhead(runs, lines[i - 1]!))
      for (const runs of lines) if (areAll || !isInOrder(runs)) told.push(runs.map(textOf).join('  '))
    }
    return told.join('\n')
  }
}

/** Whether a line of one column was drawn before the line above it. */
function isAhead(runs: readonly Stretch[][], above: readonly Stretch[][]): boolean {
  const [own, upper] = [runs[0]![0]!, above[0]![0]!]
  if (runs.length > 1 || above.length > 1 || own.index > upper.index) return false
  const apart = own.line - upper.line
  // Raised letters, such as numbers of notes, stand nearer than a line.
  const isNext = apart > raised * Math.max(own.size, upper.size) && apart < nextLine * Math.min(own.size, upper.size)
  return isNext && own.from < above[0]!.at(-1)!.to && upper.from < runs[0]!.at(-1)!.to
}

function isInOrder(runs: readonly Stretch[][]): boolean {
  return runs.every((run, i) => {
    if (!follows(run)) return false
    const last = runs[i - 1]?.[0]
    return last === undefined || last.index < run[0]!.index || isLeftward.test(run[0]!.text)
  })
}

function linesOf(stretches: readonly Stretch[]): Stretch[][] {
  const lines: Stretch[][] = []
  let last: Stretch | undefined
  for (const stretch of [...stretches].sort((one, other) => one.line - other.line)) {
    const isSame = last !== undefined && stretch.line - last.line < sameLine * Math.min(last.size, stretch.size)
    if (isSame) lines.at(-1)!.push(stretch)
    else lines.push([stretch])
    last = stretch
  }
  return lines.map((line) => line.sort((one, other) => one.from - other.from))
}

/** Neighbours of one column. */
function runsOf(line: readonly Stretch[]): Stretch[][] {
  const runs: Stretch[][] = []
  let last: Stretch | undefined
  for (const stretch of line) {
    if (last !== undefined && stretch.text === last.text && stretch.from - last.from < twice * (last.to - last.from))
      continue
    const reach = last !== undefined && areLetters(last, stretch) ? spreadOut : sameColumn
    if (last !== undefined && stretch.from - last.to < reach * stretch.size) runs.at(-1)!.push(stretch)
    else runs.push([stretch])
    last = stretch
  }
  return runs
}

function areLetters(one: Stretch, other: Stretch): boolean {
  return one.text.length === 1 && other.text.length === 1
}

/** Languages that are written to the left are drawn from either end. */
const isLeftward = /^[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]/u

function follows(run: readonly Stretch[]): boolean {
  return run.every((stretch, i) => {
    const last = run[i - 1]
    if (last === undefined) return true
    return stretch.index === last.index + 1 || (isLeftward.test(stretch.text) && stretch.index === last.index - 1)
  })
}

function textOf(run: readonly Stretch[]): string {
  const pairs = run.flatMap((stretch, i) =>
    i > 0 && areLetters(run[i - 1]!, stretch) ? [[run[i - 1]!, stretch] as const] : []
  )
  const pitch = pairs.reduce((least, [one, other]) => Math.min(least, other.from - one.from), Number.POSITIVE_INFINITY)
  const isSpread = pairs.every(([one, other]) => other.from - one.to > sameWord * other.size)
  let said = ''
  let last: Stretch | undefined
  for (const stretch of run) {
    if (last !== undefined && stretch.from - last.to > sameWord * stretch.size) {
      said += isSpread && areLetters(last, stretch) && stretch.from - last.from > wider * pitch ? '  ' : ' '
    }
    said += stretch.text
    last = stretch
  }
  return said
}
