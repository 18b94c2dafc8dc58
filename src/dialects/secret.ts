/** Finds a secret that no client may see, in decoded values: whole, escaped again, or split over pieces. */
import type { Json } from '../base/chat.js'

const escaped = /\\(?:u([0-9a-fA-F]{4})|(.))/g

/** JSON in JSON in JSON. */
const mostLayers = 3

export class Secret {
  readonly #text: string
  /** The failure function of Knuth, Morris and Pratt. */
  readonly #fallback: Uint32Array

  constructor(text: string) {
    this.#text = text
    this.#fallback = new Uint32Array(text.length)
    for (let i = 1, found = 0; i < text.length; i++) {
      while (found > 0 && text[i] !== text[found]) found = this.#fallback[found - 1]!
      if (text[i] === text[found]) found++
      this.#fallback[i] = found
    }
  }

  get length(): number {
    return this.#text.length
  }

  /** The earliest possible start from an index of a text on; the text's length where there is none. */
  mayBegin(text: string, from: number): number {
    return indexIn(text, this.#text[0] ?? '', from)
  }

  /** The matched length after a further unit, with `found` matched before. */
  after(found: number, unit: number): number {
    let k = found
    while (k > 0 && this.#text.charCodeAt(k) !== unit) k = this.#fallback[k - 1]!
    return this.#text.charCodeAt(k) === unit ? k + 1 : k
  }

  isIn(text: string): boolean {
    if (text.includes(this.#text)) return true
    let read = text
    for (let layer = 0; layer < mostLayers && read.includes('\\'); layer++) {
      read = read.replace(escaped, (_, code: string | undefined, plain: string) =>
        code === undefined ? plain : String.fromCharCode(Number.parseInt(code, 16))
      )
      if (read.includes(this.#text)) return true
    }
    return false
  }

  /** Whether a leaf or key of a value contains it. Depth is bounded by the strict reader. */
  isWithin(value: Json): boolean {
    if (typeof value === 'string') return this.isIn(value)
    if (typeof value !== 'object' || value === null) return false
    if (Array.isArray(value)) return value.some((each) => this.isWithin(each))
    return Object.keys(value).some((name) => this.isIn(name) || this.isWithin(value[name]!))
  }

  /** Whether consecutive texts spell it out. */
  isAcross(texts: Iterable<string>): boolean {
    const reader = new SecretReader(this)
    for (const text of texts) if (reader.isFoundIn(text)) return true
    return false
  }
}

function indexIn(text: string, unit: string, from: number): number {
  const index = text.indexOf(unit, from)
  return index === -1 ? text.length : index
}

/** Reads a text that comes in pieces, as it stands and with one layer of escapes undone. */
export class SecretReader {
  readonly #secret: Secret
  #plain = 0
  #unescaped = 0
  /** Of an escaped: 0 for none, 1 after its backslash, from 2 on its hexadecimal digits. */
  #step = 0
  #code = 0

  constructor(secret: Secret) {
    this.#secret = secret
  }

  /** The length that the pieces have spelled out so far. */
  get found(): number {
    return Math.max(this.#plain, this.#unescaped)
  }

  isFoundIn(piece: string): boolean {
    const { length } = this.#secret
    let begin = -1
    let slash = -1
    for (let i = 0; i < piece.length; i++) {
      if (this.found === 0 && this.#step === 0) {
        // Nothing between here and the first unit of it, or an escape, can be part of it.
        if (begin < i) begin = this.#secret.mayBegin(piece, i)
        if (slash < i) slash = indexIn(piece, '\\', i)
        i = Math.min(begin, slash)
        if (i === piece.length) return false
      }
      const unit = piece.charCodeAt(i)
      this.#plain = this.#secret.after(this.#plain, unit)
      const meant = this.#unescape(unit)
      if (meant !== undefined) this.#unescaped = this.#secret.after(this.#unescaped, meant)
      if (this.#plain === length || this.#unescaped === length) return true
    }
    return false
  }

  /** @returns undefined within an escaped */
  #unescape(unit: number): number | undefined {
    if (this.#step === 0) {
      if (unit !== 92) return unit
      this.#step = 1
      return undefined
    }
    if (this.#step === 1) {
      this.#step = unit === 117 ? 2 : 0
      this.#code = 0
      return unit === 117 ? undefined : unit
    }
    const digit = Number.parseInt(String.fromCharCode(unit), 16)
    this.#code = this.#code * 16 + (Number.isNaN(digit) ? 0 : digit)
    if (this.#step++ < 5) return undefined
    this.#step = 0
    return this.#code
  }
}
