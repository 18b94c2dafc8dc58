/** Ways to write the path of a request that some router, proxy or framework takes for the same path. */

const hex = (character: string, upper: boolean) => {
  const code = character.charCodeAt(0).toString(16).padStart(2, '0')
  return `%${upper ? code.toUpperCase() : code}`
}

/** What can stand in the place of a slash, or beside it. */
const slashes = [
  '//',
  '///',
  '/./',
  '/.//',
  '/%2e/',
  '/%2E%2e/x/',
  '/x/../',
  '/x/%2e%2e/',
  '/;/',
  '/;a=b/',
  '\\',
  '/\\',
  '%2f',
  '%2F',
  '%5c',
  '%252f',
  '/%00/',
  '/%20/',
  '/ /',
  '/\t/',
  '%c0%af',
  '%e0%80%af',
  '\xc0\xaf',
  '/\u00a0/',
  '/%ef%bc%8f/'
]
const before = [
  '/',
  '//',
  '/./',
  '/../',
  '/x/../',
  '/%2e%2e/',
  '/.',
  '/;',
  '\\',
  '%2f',
  '/%2f',
  '/v1/../',
  '/v1beta/..',
  '/api/../',
  'http://gateway',
  'https://gateway',
  'http://gateway:80',
  'http://u:p@gateway',
  '//gateway',
  'gateway',
  '',
  '*',
  '/*',
  '/guards/../',
  '/docs/static/..',
  '/docs/static/%2e%2e',
  '/dashboard/..',
  '/dashboard/%2e%2e'
]
const after = [
  '/',
  '//',
  '/.',
  '/..',
  '/%2e',
  '/x/..',
  '.',
  '..',
  ';',
  ';x',
  ';x=1',
  '%',
  '%00',
  '%20',
  '%09',
  '%0a',
  '%0d%0a',
  '%23',
  '%3f',
  '%3b',
  '%2f',
  '%5c',
  '\\',
  '\t',
  '\x0b',
  '\x7f',
  '\xa0',
  '\xff',
  '~',
  '#',
  '#x',
  '&x=1',
  '&',
  '.json',
  '.html',
  '/index.html',
  '::$DATA',
  '%c0%80',
  '%u002f',
  '+',
  '!',
  '*',
  '()',
  "'",
  '"',
  '<',
  '|',
  '^',
  '`',
  '{',
  '}',
  '$',
  '@',
  ','
]

/** Every spelling once, none of them the canonical one. */
export function* spellingsOf(path: string): Generator<string> {
  const seen = new Set([path])
  for (const spelling of all(path)) {
    if (seen.has(spelling)) continue
    seen.add(spelling)
    yield spelling
  }
}

function* all(path: string): Generator<string> {
  for (const text of before) yield text + path
  for (const text of after) yield path + text
  for (const [i, character] of [...path].entries()) {
    const with_ = (text: string) => path.slice(0, i) + text + path.slice(i + 1)
    if (character === '/') {
      if (i > 0) for (const slash of slashes) yield with_(slash)
      continue
    }
    yield with_(hex(character, true))
    yield with_(hex(character, false))
    yield with_(`%25${character.charCodeAt(0).toString(16)}`)
    yield with_(`%u00${character.charCodeAt(0).toString(16)}`)
    // Full-width forms, which NFKC folds, as UTF-8 bytes and percent-encoded.
    const wide = Buffer.from(String.fromCodePoint(character.charCodeAt(0) + 0xfee0))
    yield with_(wide.toString('latin1'))
    yield with_([...wide].map((byte) => hex(String.fromCharCode(byte), false)).join(''))
    if (/[a-z]/.test(character)) yield with_(character.toUpperCase())
    yield `${path.slice(0, i)}%00${path.slice(i)}`
    yield `${path.slice(0, i)}\u00ad${path.slice(i)}`
  }
  yield path.toUpperCase()
  yield [...path].map((each) => (each === '/' ? each : hex(each, false))).join('')
  yield [...path].map((each) => hex(each, true)).join('')
  yield encodeURIComponent(path)
  yield path.slice(1)
  yield path.split('/').reverse().join('/')
}
