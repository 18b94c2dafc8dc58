/** Ways to disguise a text, each with the layers that may reveal it. */
import { domainToASCII } from 'node:url'

export interface Disguise {
  name: string
  /** Steps of a layer of which one must show, as in `src/text/view.ts`. */
  layers: readonly string[]
  hide(text: string): string
  /** What comes out is printable ASCII, so that anything can be encoded around it. */
  ascii: boolean
}

const bytes = (text: string) => [...Buffer.from(text)]
const points = (text: string, of: (code: number) => number) =>
  [...text].map((c) => String.fromCodePoint(of(c.codePointAt(0)!))).join('')
const isSmall = (code: number) => code >= 97 && code <= 122
const letters = (start: number) => (text: string) => points(text, (code) => (isSmall(code) ? start + code - 97 : code))
const mapped = (table: string) => (text: string) => text.replace(/[a-z]/g, (c) => [...table][c.charCodeAt(0) - 97]!)
const turn = (text: string) => [...text].reverse().join('')
const perWord =
  (of: (word: string) => string, gap = ' ') =>
  (text: string) =>
    text.split(' ').map(of).join(gap)
const shift = (by: number) => (text: string) =>
  points(text, (code) => (isSmall(code) ? ((code - 97 + by) % 26) + 97 : code))
const numbers =
  (radix: number, gap: string, size = 0, before = '') =>
  (text: string) =>
    bytes(text)
      .map((byte) => before + byte.toString(radix).padStart(size, '0'))
      .join(gap)
const leet: Readonly<Record<string, string>> = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7', l: '1' }

function base32(text: string): string {
  const bits = bytes(text)
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
  const digits = bits.match(/.{1,5}/g)!.map((five) => Number.parseInt(five.padEnd(5, '0'), 2))
  const out = digits.map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(digit)).join('')
  return out.padEnd(Math.ceil(out.length / 8) * 8, '=')
}

function base85(text: string, digits: string): string {
  const data = bytes(text)
  let out = ''
  for (let i = 0; i < data.length; i += 4) {
    const size = Math.min(4, data.length - i)
    let value = [0, 1, 2, 3].reduce((sum, k) => sum * 256 + (data[i + k] ?? 0), 0)
    let group = ''
    for (let k = 0; k < 5; k++) {
      group = digits.charAt(value % 85) + group
      value = Math.floor(value / 85)
    }
    out += group.slice(0, size + 1)
  }
  return out
}

const printable = Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join('')
const rfc1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'

const morseLetters =
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'.split(
    ' '
  )
const morse = (gap: string) =>
  perWord((word) => [...word].map((c) => morseLetters[c.charCodeAt(0) - 97]).join(' '), gap)

const natoNames =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu'.split(
    ' '
  )
const nato = (gap: string) => perWord((word) => [...word].map((c) => natoNames[c.charCodeAt(0) - 97]).join(' '), gap)

function pigLatin(word: string): string {
  const [, head, tail] = /^([^aeiouy]*)(.*)$/.exec(word)!
  return `${tail}${head}ay`
}

const ascii = (name: string, layers: string, hide: (text: string) => string): Disguise => ({
  name,
  layers: layers.split(' '),
  hide,
  ascii: true
})
const wide = (name: string, layers: string, hide: (text: string) => string): Disguise => ({
  ...ascii(name, layers, hide),
  ascii: false
})

/** What can be put around any text. */
export const wrappers: readonly Disguise[] = [
  ascii('base64', 'base64', (text) => Buffer.from(text).toString('base64')),
  ascii('base64, URL-safe', 'base64', (text) => Buffer.from(text).toString('base64url')),
  ascii('base32', 'base32', base32),
  ascii('Ascii85', 'base85', (text) => `<~${base85(text, printable)}~>`),
  ascii('base85', 'base85', (text) => base85(text, rfc1924)),
  ascii('hexadecimal', 'hex', (text) => Buffer.from(text).toString('hex')),
  ascii('hexadecimal with colons', 'hex', numbers(16, ':', 2)),
  ascii('binary', 'binary', numbers(2, ' ', 8)),
  ascii('percent encoding', 'url', numbers(16, '', 2, '%')),
  ascii('HTML entities', 'html', (text) => [...text].map((c) => `&#${c.codePointAt(0)};`).join('')),
  ascii('quoted-printable', 'quoted-printable', (text) => numbers(16, '', 2, '=')(text).toUpperCase())
]

export const disguises: readonly Disguise[] = [
  ...wrappers,
  ascii('percent encoding, twice', 'url', numbers(16, '', 2, '%25')),
  ascii('hexadecimal in groups', 'hex', (text) =>
    Buffer.from(text)
      .toString('hex')
      .replace(/.{4}(?=.)/g, '$& ')
  ),
  ascii('hexadecimal with 0x', 'hex', numbers(16, ', ', 2, '0x')),
  ascii('decimal', 'decimal', numbers(10, ' ')),
  ascii('octal', 'octal', numbers(8, ' ')),
  ascii('code points', 'codepoint', numbers(16, ' ', 4, 'U+')),
  ascii('JSON escapes', 'escape', numbers(16, '', 4, '\\u')),
  ascii('byte escapes', 'escape', numbers(16, '', 2, '\\x')),
  ascii('HTML entities in hexadecimal, without semicolons', 'html', numbers(10, '', 0, '&#')),
  ascii('a data URL', 'base64', (text) => `data:text/plain;base64,${Buffer.from(text).toString('base64')}`),
  ascii('soft line breaks', 'quoted-printable', (text) => text.replace(/(\w)(\w)/g, '$1=\n$2')),
  ascii('Morse', 'morse', morse(' / ')),
  ascii('Morse by lines', 'morse', morse('\n')),
  ascii('NATO spelling', 'nato', nato(' / ')),
  ascii('ROT13', 'rot13', shift(13)),
  ascii('Caesar by 3', 'caesar', shift(3)),
  ascii('Caesar by 5', 'caesar', shift(5)),
  ascii('Caesar by 19', 'caesar', shift(19)),
  ascii('atbash', 'atbash', (text) => points(text, (code) => (isSmall(code) ? 219 - code : code))),
  ascii('ROT47', 'rot47', (text) => points(text, (code) => (code === 32 ? 32 : 33 + ((code - 33 + 47) % 94)))),
  ascii('pig Latin', 'pig-latin', perWord(pigLatin)),
  ascii('backwards', 'reversed', turn),
  ascii('words backwards', 'reversed', perWord(turn)),
  ascii('leet', 'leet', (text) => text.replace(/[aeiostl]/g, (c) => leet[c]!)),
  ascii(
    'letters apart',
    'spaced',
    perWord((word) => [...word].join(' '), '  ')
  ),
  ascii(
    'letters apart by dots',
    'spaced',
    perWord((word) => [...word].join('.'))
  ),
  ascii('letters apart without gaps', 'spaced', (text) => [...text.replaceAll(' ', '')].join(' ')),
  ascii(
    'letters on lines',
    'spaced',
    perWord((word) => [...word].join('\n'), '\n\n')
  ),
  ascii(
    'leet apart',
    'leet',
    perWord((word) => [...word].map((c) => leet[c] ?? c).join(' '), '  ')
  ),
  ascii('broken at line ends', 'spaced', (text) => text.replace(/([a-z]{2})(?=[a-z])/g, '$1-\n')),
  ascii('run together', 'split', (text) => text.replaceAll(' ', '')),
  ascii('capitals for gaps', 'split', (text) => text.replace(/ (.)/g, (_, c: string) => c.toUpperCase())),
  wide('Morse in bullets', 'morse', (text) => morse('   ')(text).replaceAll('.', '•').replaceAll('-', '−')),
  wide('Braille', 'braille', mapped('⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵')),
  wide('upside down', 'upside-down', (text) => turn(mapped('ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎz')(text))),
  wide('a right-to-left override', 'bidi reversed', (text) => `\u202e${turn(text)}\u202c`),
  wide('full-width letters', 'unicode', letters(0xff41)),
  wide('mathematical letters', 'unicode', letters(0x1d41a)),
  wide('letters in circles', 'unicode', letters(0x24d0)),
  wide('letters in squares', 'unicode', letters(0x1f170)),
  wide('letters in brackets', 'unicode', letters(0x249c)),
  wide('flags', 'unicode', (text) => perWord((word) => letters(0x1f1e6)(word))(text)),
  wide('small capitals', 'unicode', mapped('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀsᴛᴜᴠᴡxʏᴢ')),
  wide('superscripts', 'unicode', mapped('ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻ')),
  wide('Cyrillic look-alikes', 'unicode', (text) =>
    text.replace(/[aeocpxi]/g, (c) => 'аеосрхі'['aeocpxi'.indexOf(c)]!)
  ),
  wide('zero-width spaces', 'unicode', (text) => [...text].join('\u200b')),
  wide('zero-width spaces for spaces', 'plain', (text) => text.replaceAll(' ', '\u200b')),
  wide('soft hyphens', 'unicode', (text) => text.replace(/([a-z])(?=[a-z])/g, '$1\u00ad')),
  wide('piled accents', 'plain unicode', (text) => text.replace(/[a-z]/g, '$&\u0337\u035c')),
  wide('tags', 'hidden', (text) => points(text, (code) => 0xe0000 + code)),
  wide('variation selectors', 'hidden', (text) => points(text, (code) => 0xe0100 + code - 16)),
  wide('invisible bits', 'hidden', (text) =>
    numbers(2, '', 8)(text).replaceAll('0', '\u2062').replaceAll('1', '\u2064')
  ),
  wide('punycode', 'punycode', (text) =>
    text.replace(/[a-z]*[aeo][a-z]*/g, (word) =>
      domainToASCII(word.replace(/[aeo]/, (c) => ({ a: 'á', e: 'é', o: 'ó' })[c]!))
    )
  )
]
