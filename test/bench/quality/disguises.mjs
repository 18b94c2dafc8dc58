// Every disguise that the text views undo, applied to a text. Pure, and the same each time.

const letters = (text, change) =>
  Array.from(text, (character) => (/\p{L}/u.test(character) ? change(character) : character)).join('')
const between = (text, filler, every = 1) =>
  Array.from(text, (character, i) =>
    /\p{L}/u.test(character) && i % every === 0 ? character + filler(i) : character
  ).join('')
const words = (text, change) => text.replace(/\p{L}+/gu, change)
const bytes = (text) => Buffer.from(text, 'utf8')
const swap = (table) => (text) => letters(text, (character) => table[character] ?? character)

/** Cyrillic and Greek letters that look like Latin ones (Unicode's confusables.txt). */
const lookalikes = {
  a: 'а',
  c: 'с',
  e: 'е',
  i: 'і',
  j: 'ј',
  o: 'о',
  p: 'р',
  s: 'ѕ',
  x: 'х',
  y: 'у',
  A: 'Α',
  B: 'Β',
  E: 'Ε',
  H: 'Η',
  I: 'Ι',
  K: 'Κ',
  M: 'Μ',
  N: 'Ν',
  O: 'Ο',
  P: 'Ρ',
  T: 'Τ',
  X: 'Χ'
}
const leet = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7', A: '4', E: '3', I: '1', O: '0', S: '5', T: '7' }
const zeroWidth = ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff']
const marks = ['\u0301', '\u0323', '\u0336', '\u0308']
const morseCodes =
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'.split(
    ' '
  )
const morseDigits = '----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.'.split(' ')

export const base64 = (text) => bytes(text).toString('base64')
export const hex = (text) => bytes(text).toString('hex')
export const url = (text) =>
  Array.from(bytes(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
export const rot13 = (text) =>
  text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
export const reversed = (text) => Array.from(text).reverse().join('')

function base32(text) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = Array.from(bytes(text), (byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits
    .match(/.{1,5}/g)
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
  return digits.padEnd(Math.ceil(digits.length / 8) * 8, '=')
}

/** RFC 2045, every byte escaped, in lines of at most 76 characters. */
function quotedPrintable(text) {
  const escaped = Array.from(bytes(text), (byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`)
  const lines = []
  for (let i = 0; i < escaped.length; i += 25) lines.push(escaped.slice(i, i + 25).join(''))
  return lines.join('=\r\n')
}

/** As a keyer would send it: letters without their marks, of which International Morse code has few. */
function morse(text) {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll('đ', 'd')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9 \n]/g, '')
    .trim()
    .split(/\s+/)
    .map((word) =>
      Array.from(word, (sign) =>
        /\d/.test(sign) ? morseDigits[Number(sign)] : morseCodes[sign.charCodeAt(0) - 97]
      ).join(' ')
    )
    .join(' / ')
}

const tags = (text) =>
  Array.from(text, (character) =>
    character.codePointAt(0) < 127 ? String.fromCodePoint(0xe0000 + character.codePointAt(0)) : character
  ).join('')
/** Each byte as one of the 256 variation selectors, behind a visible sign. */
const selectors = (text) =>
  `\u{1f600}${Array.from(bytes(text), (byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16)).join('')}`

const isLatin = (script) => script === 'Latin'
const isAny = () => true
const isCased = (script) => script === 'Latin' || script === 'Cyrillic' || script === 'Greek'
const isAlphabetic = (script) => isCased(script)

/** `fits` says in which scripts the disguise is one that a reader or a model undoes. `nested` is how many lie in one another. */
export const disguises = [
  {
    name: 'zero-width characters',
    fits: isAny,
    apply: (text) => between(text, (i) => zeroWidth[i % zeroWidth.length])
  },
  { name: 'soft hyphens', fits: isAny, apply: (text) => between(text, () => '\u00ad') },
  { name: 'confusable letters', fits: isLatin, apply: swap(lookalikes) },
  {
    name: 'fullwidth letters',
    fits: isLatin,
    apply: (text) => text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))
  },
  {
    name: 'mathematical letters',
    fits: isLatin,
    apply: (text) =>
      text.replace(/[a-z]/gi, (letter) =>
        String.fromCodePoint(letter <= 'Z' ? 0x1d400 + letter.charCodeAt(0) - 65 : 0x1d41a + letter.charCodeAt(0) - 97)
      )
  },
  { name: 'combining marks', fits: isCased, apply: (text) => between(text, (i) => marks[i % marks.length]) },
  { name: 'tag characters', fits: isLatin, apply: (text) => `Hello. ${tags(text)}` },
  { name: 'variation selectors between', fits: isAny, apply: (text) => between(text, () => '\ufe0f') },
  { name: 'variation selectors as bytes', fits: isAny, apply: selectors },
  { name: 'bidi controls between', fits: isAny, apply: (text) => between(text, (i) => (i % 2 ? '\u202c' : '\u202d')) },
  { name: 'bidi override, reversed', fits: isLatin, apply: (text) => `\u202e${reversed(text)}\u202c` },
  { name: 'leetspeak', fits: isLatin, apply: swap(leet) },
  { name: 'upper case', fits: isCased, apply: (text) => text.toUpperCase() },
  {
    name: 'spaced letters',
    fits: isAlphabetic,
    apply: (text) =>
      text
        .split(/\s+/)
        .map((word) => Array.from(word).join(' '))
        .join('  ')
  },
  {
    name: 'spaced letters, words run together',
    fits: isAlphabetic,
    apply: (text) => Array.from(text.replace(/\s+/g, '')).join(' ')
  },
  {
    name: 'punctuated letters',
    fits: isAlphabetic,
    apply: (text) => words(text, (word) => Array.from(word).join('.'))
  },
  {
    name: 'hyphenated letters',
    fits: isAlphabetic,
    apply: (text) => words(text, (word) => Array.from(word).join('-'))
  },
  {
    name: 'repeated letters',
    fits: isAlphabetic,
    apply: (text) =>
      words(text, (word) => Array.from(word, (letter, i) => (i === 1 ? letter.repeat(4) : letter)).join(''))
  },
  { name: 'base64', fits: isAny, apply: base64 },
  {
    name: 'base64, in a sentence',
    fits: isAny,
    apply: (text) => `My note from yesterday: ${base64(text)}, as I wrote it down.`
  },
  { name: 'base64url', fits: isAny, apply: (text) => bytes(text).toString('base64url') },
  { name: 'base32', fits: isAny, apply: base32 },
  { name: 'hex', fits: isAny, apply: hex },
  { name: 'hex, spaced', fits: isAny, apply: (text) => hex(text).match(/../g).join(' ') },
  { name: 'backslash-x escapes', fits: isAny, apply: (text) => hex(text).replace(/../g, '\\x$&') },
  {
    name: 'backslash-u escapes',
    fits: isAny,
    apply: (text) =>
      Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
  },
  { name: 'URL encoding', fits: isAny, apply: url },
  {
    name: 'HTML entities, decimal',
    fits: isAny,
    apply: (text) => Array.from(text, (character) => `&#${character.codePointAt(0)};`).join('')
  },
  {
    name: 'HTML entities, hex',
    fits: isAny,
    apply: (text) => Array.from(text, (character) => `&#x${character.codePointAt(0).toString(16)};`).join('')
  },
  { name: 'quoted-printable', fits: isAny, apply: quotedPrintable },
  { name: 'ROT13', fits: isLatin, apply: rot13 },
  { name: 'Morse', fits: isLatin, apply: morse },
  { name: 'reversed', fits: isAny, apply: reversed },
  { name: 'reversed words', fits: isLatin, apply: (text) => words(text, reversed) },
  { name: 'nested: base64 of hex', fits: isAny, nested: 2, apply: (text) => base64(hex(text)) },
  { name: 'nested: base64 of ROT13', fits: isLatin, nested: 2, apply: (text) => base64(rot13(text)) },
  { name: 'nested: URL of base64', fits: isAny, nested: 2, apply: (text) => url(base64(text)) },
  {
    name: 'nested: zero-width in leetspeak',
    fits: isLatin,
    nested: 2,
    apply: (text) => between(swap(leet)(text), () => '\u200b')
  },
  { name: 'nested: base64 of reversed', fits: isAny, nested: 2, apply: (text) => base64(reversed(text)) },
  { name: 'nested: base64 of base64 of base64', fits: isAny, nested: 3, apply: (text) => base64(base64(base64(text))) },
  { name: 'nested: base64 of URL of hex', fits: isAny, nested: 3, apply: (text) => base64(url(hex(text))) },
  { name: 'nested: hex of base64 of ROT13', fits: isLatin, nested: 3, apply: (text) => hex(base64(rot13(text))) }
]
