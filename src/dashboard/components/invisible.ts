/** Characters that a reader cannot see, or that move what a reader sees: named, so that they are shown as words. */

const names: Readonly<Record<number, string>> = {
  173: 'soft hyphen',
  847: 'grapheme joiner',
  1564: 'arabic letter mark',
  4447: 'hangul filler',
  4448: 'hangul filler',
  6068: 'khmer inherent vowel',
  6069: 'khmer inherent vowel',
  6158: 'mongolian separator',
  8203: 'zero width space',
  8204: 'zero width non-joiner',
  8205: 'zero width joiner',
  8206: 'left to right',
  8207: 'right to left',
  8232: 'line separator',
  8233: 'paragraph separator',
  8234: 'embed left to right',
  8235: 'embed right to left',
  8236: 'end of direction',
  8237: 'force left to right',
  8238: 'force right to left',
  8288: 'word joiner',
  8289: 'function application',
  8290: 'invisible times',
  8291: 'invisible separator',
  8292: 'invisible plus',
  8294: 'isolate left to right',
  8295: 'isolate right to left',
  8296: 'isolate',
  8297: 'end of isolate',
  10240: 'blank braille',
  12644: 'hangul filler',
  65279: 'byte order mark',
  65440: 'hangul filler'
}

/** Format and control characters, variation selectors, blanks with letters' properties, unpaired surrogates. */
const unseen =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself
  /[\p{Cf}\p{Cs}\p{Variation_Selector}\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u2800\u3164\uffa0\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u

export interface Invisible {
  /** UTF-16 offset. */
  at: number
  /** UTF-16 units. */
  length: number
  label: string
}

/** Every invisible or misleading character of a text, with its name. Joiners inside emoji are left out. */
export function invisibles(text: string): Invisible[] {
  const found: Invisible[] = []
  let at = 0
  let before = ''
  for (const character of text) {
    // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself
    const joined = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f#*0-9]/u.test(before)
    const inEmoji = joined && /[\u200d\ufe0e\ufe0f]/.test(character)
    if (unseen.test(character) && !inEmoji) found.push({ at, length: character.length, label: labelOf(character) })
    before = character
    at += character.length
  }
  return found
}

function labelOf(character: string): string {
  const code = character.codePointAt(0)!
  // Tag characters are invisible copies of ASCII: show the character that they stand for.
  if (code >= 0xe0020 && code <= 0xe007e) return `tag ${String.fromCodePoint(code - 0xe0000)}`
  return names[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
