/**
 * The `unicode` reading: the appearance of a text, in plain letters. Compatibility forms (full-width, mathematical,
 * circled) become letters by NFKC, look-alikes of other scripts become Latin, accents stacked on letters fall away, and
 * invisible characters between letters are removed.
 */
import { ask, INDICATOR, INVISIBLE, MARK, NONE } from './odd-characters.js'
import { Edits } from './rewrite.js'

/**
 * @param separate puts a space where an invisible character stood between letters, the other way such texts are read
 * @returns `hides`: whether there was such a character
 */
export function unicodeEdits(text: string, separate: boolean): { edits: Edits; hides: boolean } {
  const out = new Words(text, separate)
  const length = text.length
  let i = 0
  while (i < length) {
    const code = text.charCodeAt(i)
    if (code > 32 && code < 127) {
      // The usual case, quickly: a word of ASCII letters that nothing else touches.
      let end = i
      while (end < length && isAsciiWord(text.charCodeAt(end))) end++
      if (end === i || end === length || isOrdinary(text.charCodeAt(end))) {
        i = Math.max(end, i + 1)
        continue
      }
    } else if (code === 32 || code === 10) {
      i++
      continue
    }
    i = out.read(i)
  }
  return out
}

/** Printable ASCII, and the white space of texts. */
function isOrdinary(code: number): boolean {
  return (code >= 32 && code < 127) || code === 10 || code === 13 || code === 9
}

function isAsciiWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

function isApostrophe(code: number): boolean {
  return code === 39 || code === 0x2019
}

/** Reads word by word (letters, digits, and what hides between them) and notes the changes. */
class Words {
  readonly edits = new Edits()
  hides = false
  readonly #text: string
  readonly #separate: boolean
  readonly #mapsWhole: boolean
  #spellsInFlags: boolean | undefined
  #pending = 0
  readonly #from: number[] = []
  readonly #to: number[] = []
  readonly #as: string[] = []
  readonly #alike: boolean[] = []

  constructor(text: string, separate: boolean) {
    this.#text = text
    this.#separate = separate
    this.#mapsWhole = latinDominates(text)
  }

  /** @returns where the word at `start` ends; at least one further */
  read(start: number): number {
    const text = this.#text
    let latin = 0
    let foreign = 0
    let indicators = 0
    let hidden = -1
    let seen = false
    let i = start
    // An apostrophe belongs to the word on either side of it.
    const isPart = start > 0 && isApostrophe(text.charCodeAt(start - 1))
    while (i < text.length) {
      const point = text.codePointAt(i)!
      const after = i + (point > 0xffff ? 2 : 1)
      const { kind, text: form, alike, isWord, script } = ask(point)
      if (kind === INVISIBLE) {
        if ((seen || isPart) && hidden < 0) hidden = i
      } else if (kind === MARK) {
        if (seen) this.#note(i, after, '', false)
      } else if (!isWord) {
        if (seen && hidden >= 0 && isApostrophe(point)) this.#note(hidden, i, '', false)
        break
      } else {
        if (hidden >= 0) {
          this.#note(hidden, i, this.#separate ? ' ' : '', false)
          this.hides = true
          hidden = -1
        }
        seen = true
        if (kind === INDICATOR) indicators++
        if (kind !== NONE || alike) this.#note(i, after, form, alike)
        if (script === 1) latin++
        else if (script === 2) foreign++
      }
      i = after
    }
    if (this.#pending > 0) this.#flush(foreign === 0 ? latin > 0 || this.#mapsWhole : latin > foreign, indicators)
    return i > start ? i : i + 1
  }

  #hasSpeltFlags(): boolean {
    this.#spellsInFlags ??= /(?:\ud83c[\udde6-\uddff]){3}/.test(this.#text)
    return this.#spellsInFlags
  }

  #note(from: number, to: number, as: string, alike: boolean): void {
    const n = this.#pending++
    this.#from[n] = from
    this.#to[n] = to
    this.#as[n] = as
    this.#alike[n] = alike
  }

  /** Neighbours that keep their length are one change; characters that change theirs are traced one by one. */
  #flush(maps: boolean, indicators: number): void {
    let from = -1
    let to = -1
    let out = ''
    for (let n = 0; n < this.#pending; n++) {
      if (this.#alike[n] && !maps) continue
      const start = this.#from[n]!
      const end = this.#to[n]!
      const as = this.#as[n]!
      // Two regional indicators are a flag, unless others spell words.
      if (
        indicators > 0 &&
        indicators < 3 &&
        end - start === 2 &&
        ask(this.#text.codePointAt(start)!).kind === INDICATOR &&
        !this.#hasSpeltFlags()
      )
        continue
      if (from >= 0 && (start !== to || as.length !== end - start)) {
        this.edits.add(from, to, out, 'same')
        from = -1
      }
      if (as.length !== end - start) {
        this.edits.add(start, end, as)
        continue
      }
      if (from < 0) {
        from = start
        out = ''
      }
      out += as
      to = end
    }
    if (from >= 0) this.edits.add(from, to, out, 'same')
    this.#pending = 0
  }
}

/**
 * Whether a word made of look-alikes alone is to be read as Latin: in an English text, or in one whose foreign letters
 * all look like Latin ones, which no real sentence of Russian or Greek does.
 */
function latinDominates(text: string): boolean {
  let latin = 0
  let similar = 0
  let foreign = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 128) {
      if (isAsciiWord(code) && code > 57) latin++
    } else if (code < 0xd800) {
      const { alike, script } = ask(code)
      if (alike) similar++
      else if (script === 2) foreign++
    }
  }
  return latin > similar + foreign || similar > foreign * 8
}
