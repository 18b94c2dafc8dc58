/**
 * Characters written as escapes: `%6b` (RFC 3986), `&#107;` (HTML), `\u006b` and `\x6b` (programming languages), `\00006b`
 * (CSS), `\N{LATIN SMALL LETTER K}` (Python).
 */
import { isUtf8 } from 'node:buffer'
import { Edits } from '../rewrite.js'

/** Runs of percent-encoded bytes, as UTF-8; a byte that is none becomes U+FFFD. */
export function percentEdits(text: string): Edits {
  const edits = new Edits()
  for (let i = text.indexOf('%'); i >= 0; i = text.indexOf('%', i)) {
    const bytes: number[] = []
    let end = i
    while (text.charCodeAt(end) === 37) {
      const byte = hexValue(text, end + 1, 2)
      if (byte < 0) break
      bytes.push(byte)
      end += 3
    }
    if (bytes.length === 0) {
      i++
      continue
    }
    edits.add(i, end, Buffer.from(bytes).toString('utf8'))
    i = end
  }
  return edits
}

/** `\uXXXX`, `\u{X…}`, `\UXXXXXXXX`, `\xXX`, CSS's six digits, the octal `\153`, and `\N{…}`. */
export function escapeEdits(text: string): Edits {
  const edits = new Edits()
  // Runs of bytes are looked at once.
  let runEnd = 0
  for (let i = text.indexOf('\\'); i >= 0; i = text.indexOf('\\', i + 1)) {
    const sign = text.charCodeAt(i + 1)
    if (sign === 120 && i >= runEnd) {
      const run = byteRun(text, i)
      runEnd = run.end
      if (run.text !== undefined) {
        edits.add(i, runEnd, run.text)
        i = runEnd - 1
        continue
      }
    }
    const isBrace = sign === 117 && text.charCodeAt(i + 2) === 123
    let value = -1
    let end = i
    if (isBrace) {
      const close = text.slice(i + 3, i + 11).indexOf('}')
      if (close > 0) {
        value = hexValue(text, i + 3, close)
        end = i + 4 + close
      }
    } else if (sign === 78) {
      const name = /^\{([A-Z][A-Z -]*)\}/.exec(text.slice(i + 2, i + 4 + longestName))
      value = name === null ? -1 : pointOf(name[1]!)
      end = i + 2 + (name?.[0].length ?? 0)
    } else if (sign === 48 && text.startsWith('000', i + 2) && hexValue(text, i + 5, 2) >= 0) {
      value = hexValue(text, i + 5, 2)
      end = i + 7
    } else if (sign >= 48 && sign <= 51) {
      const octal = /^[0-3]?[0-7]{2}/.exec(text.slice(i + 1, i + 4))?.[0] ?? ''
      if (octal.length > 1) value = Number.parseInt(octal, 8)
      end = i + 1 + octal.length
    } else {
      const size = sign === 117 ? 4 : sign === 85 ? 8 : sign === 120 ? 2 : 0
      if (size > 0) value = hexValue(text, i + 2, size)
      end = i + 2 + size
    }
    if (value < 0 || value > 0x10ffff) continue
    edits.add(i, end, String.fromCodePoint(value))
    i = end - 1
  }
  return edits
}

/**
 * A run of `\xXX`, which is how languages print the bytes of a string. `text` where it is UTF-8 beyond ASCII; elsewhere each
 * escape is a character of Latin-1 by itself.
 */
function byteRun(text: string, from: number): { text: string | undefined; end: number } {
  const bytes: number[] = []
  let end = from
  let beyond = false
  while (text.charCodeAt(end) === 92 && text.charCodeAt(end + 1) === 120) {
    const byte = hexValue(text, end + 2, 2)
    if (byte < 0) break
    beyond ||= byte >= 0x80
    bytes.push(byte)
    end += 4
  }
  const run = Buffer.from(bytes)
  return { text: beyond && isUtf8(run) ? run.toString('utf8') : undefined, end }
}

const longestName = 28
const pointNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    SPACE: ' ',
    'NO-BREAK SPACE': ' ',
    'FULL STOP': '.',
    COMMA: ',',
    'QUESTION MARK': '?',
    'EXCLAMATION MARK': '!',
    COLON: ':',
    APOSTROPHE: "'",
    'QUOTATION MARK': '"',
    'HYPHEN-MINUS': '-',
    SOLIDUS: '/'
  })
)
const digitNames = 'ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE'.split(' ')

/** The character with this name in Unicode, if it is one of ASCII that words are made of; otherwise -1. */
function pointOf(name: string): number {
  const letter = /^LATIN (SMALL|CAPITAL) LETTER ([A-Z])$/.exec(name)
  if (letter !== null) return letter[2]!.charCodeAt(0) | (letter[1] === 'SMALL' ? 32 : 0)
  const digit = name.startsWith('DIGIT ') ? digitNames.indexOf(name.slice(6)) : -1
  return digit >= 0 ? 48 + digit : (pointNames.get(name)?.charCodeAt(0) ?? -1)
}

const named: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    shy: '',
    zwj: '',
    zwnj: '',
    lrm: '',
    rlm: '',
    ensp: ' ',
    emsp: ' ',
    thinsp: ' ',
    hyphen: '-',
    dash: '-',
    ndash: '-',
    mdash: '-',
    lsquo: "'",
    rsquo: "'",
    ldquo: '"',
    rdquo: '"',
    hellip: '…',
    sol: '/',
    bsol: '\\',
    colon: ':',
    semi: ';',
    comma: ',',
    period: '.',
    excl: '!',
    quest: '?',
    lpar: '(',
    rpar: ')',
    lsqb: '[',
    rsqb: ']',
    lowbar: '_',
    equals: '=',
    plus: '+',
    commat: '@',
    num: '#',
    dollar: '$',
    percnt: '%',
    ast: '*',
    Tab: '\t',
    NewLine: '\n',
    auml: 'ä',
    ouml: 'ö',
    uuml: 'ü',
    Auml: 'Ä',
    Ouml: 'Ö',
    Uuml: 'Ü',
    szlig: 'ß',
    eacute: 'é',
    egrave: 'è',
    agrave: 'à',
    aacute: 'á',
    iacute: 'í',
    oacute: 'ó',
    uacute: 'ú',
    ntilde: 'ñ',
    ccedil: 'ç',
    ecirc: 'ê',
    acirc: 'â'
  })
)

/** HTML entities: decimal, hexadecimal, and the names in use. */
export function entityEdits(text: string): Edits {
  const edits = new Edits()
  const entity = /&(?:#0{0,32}(\d{1,7})|#[xX]0{0,32}([\da-fA-F]{1,6})|([A-Za-z]{2,8}));?/y
  for (let i = text.indexOf('&'); i >= 0; i = text.indexOf('&', i + 1)) {
    entity.lastIndex = i
    const body = entity.exec(text)
    if (body === null) continue
    const [whole, decimal, hex, name] = body
    let value: string | undefined
    if (name !== undefined) value = whole.endsWith(';') ? named.get(name) : undefined
    else {
      const point = decimal !== undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex!, 16)
      if (point > 0 && point <= 0x10ffff) value = String.fromCodePoint(point)
    }
    if (value === undefined) continue
    edits.add(i, i + whole.length, value)
    i += whole.length - 1
  }
  return edits
}

/** The value of `size` hexadecimal digits at `at`, or -1. */
function hexValue(text: string, at: number, size: number): number {
  let value = 0
  for (let i = at; i < at + size; i++) {
    const code = text.charCodeAt(i)
    const lower = code | 32
    const digit = code >= 48 && code <= 57 ? code - 48 : lower >= 97 && lower <= 102 ? lower - 87 : -1
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}
