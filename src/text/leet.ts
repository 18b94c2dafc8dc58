/** Letters written as digits and signs: `k1ll`, `h4te`, `@ss`. */
import { isUnspaced } from './characters.js'
import type { KnownWords } from './known-words.js'
import type { Stretches } from './places.js'
import { Edits } from './rewrite.js'

/** Reading of `1` and `|` in unknown words: by their neighbours, always l, or always i. */
export type OneReading = 'neighbours' | 'l' | 'i'
export const oneReadings: readonly OneReading[] = ['neighbours', 'l', 'i']

/** What digits and signs stand for; `1` and `|` have several readings. */
export const letterOf: Readonly<Record<string, string>> = {
  '0': 'o',
  '2': 'z',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '6': 'g',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'i',
  '+': 't'
}

/** Per ASCII code: 1 a letter, 2 a digit, 4 a sign that stands for a letter. */
const kinds = new Uint8Array(128)
for (let code = 97; code < 123; code++) {
  kinds[code] = 1
  kinds[code - 32] = 1
}
for (let code = 48; code < 58; code++) kinds[code] = 2
for (const sign of '@$!|+') kinds[sign.charCodeAt(0)] = 4

const longest = 64

/** Ordinary words of a number and letters: ordinals, units, times of day. */
const measure =
  /^\d+(?:st|nd|rd|th|s|[kmgt]i?b?|d|am|pm|px|pt|em|rem|kg|mg|ml|cm|mm|km|min|sec|ms|h|hr|hrs|hz|khz|mhz|ghz|x|w|v|a|c|f|e|l|p|y|yo|yr|yrs|bit|fps|kb|mph|bn)$/i

/**
 * Changes for the words that mix letters with signs. Readings differ only in `1` and `|`.
 * @param mixed where they may stand
 * @param throughout see `isLeetThroughout`
 */
export function leetEdits(
  text: string,
  mixed: Stretches,
  throughout: boolean,
  one: OneReading,
  words: KnownWords
): Edits {
  const edits = new Edits()
  for (let s = 0; s < mixed.length; s += 2) {
    const end = mixed[s + 1]!
    for (let i = mixed[s]!; i < end; ) {
      if (kindOf(text.charCodeAt(i)) === 0) {
        i++
        continue
      }
      const from = i
      let seen = 0
      for (; i < end; i++) {
        const kind = kindOf(text.charCodeAt(i))
        if (kind === 0) break
        seen |= kind
      }
      if ((seen & 1) === 0 || seen === 1) continue
      addWord(text, from, i, one, words, edits)
    }
  }
  const all =
    edits.size === 0
      ? edits
      : edits.merged(shortWordEdits(text, edits, one, words)).merged(contractionEdits(text, one, words))
  return throughout ? all.merged(remainingEdits(text, one, words)) : all
}

/** How far from a disguised word short ones are looked for, in units. */
const near = 16
const short = /(?<![\w@$])(?=[a-z]*[\d@$])[a-z\d@$]{1,8}(?![\w@$])/gi

/** Two or three signs, or digits alone, are leet only beside words that are: `t0`, `1n`, `70`. */
function shortWordEdits(text: string, changed: Edits, one: OneReading, words: KnownWords): Edits {
  const strong = changed.where((i) => words.has(changed.text[i]!))
  const edits = new Edits()
  const look = (from: number, to: number) => {
    for (const { 0: word, index } of text.slice(from, to).matchAll(short)) {
      const letters = read(word, one, words)
      const isWhole = (index > 0 || isGap(text, from - 1)) && (from + index + word.length < to || isGap(text, to))
      if (isWhole && (/^[ai]$/.test(letters) || words.has(letters))) {
        edits.add(from + index, from + index + word.length, letters, 'same')
      }
    }
  }
  let done = 0
  for (let k = 0; k <= strong.size; k++) {
    const next = k < strong.size ? strong.from[k]! : Math.min(text.length, done + near)
    if (k > 0 && next - done > 2 * near) {
      look(done, done + near)
      done += near
    }
    look(k === 0 ? Math.max(0, next - near) : Math.max(done, next - 2 * near), next)
    if (k < strong.size) done = strong.to[k]!
  }
  return edits
}

/** Endings after an apostrophe in English. */
const contractions = new Set(['s', 't', 'm', 'd', 're', 've', 'll'])
const contracted = /(?<=[A-Za-z\d@$]['\u2019])[a-z]?[\d$@][a-z\d]?(?![\w@$])/gi

/** Endings behind an apostrophe, in a text in which other words are leet: `user'5`, `you'r3`. */
function contractionEdits(text: string, one: OneReading, words: KnownWords): Edits {
  const edits = new Edits()
  for (const { 0: ending, index } of text.matchAll(contracted)) {
    const letters = read(ending, one, words).toLowerCase()
    if (contractions.has(letters)) edits.add(index, index + ending.length, letters, 'same')
  }
  return edits
}

/** Fewer words show no habit. */
const fewestWords = 4

/** Whether one word in three mixes letters and digits, and is no hexadecimal: then the others with digits are leet too, whatever the language. */
export function isLeetThroughout(text: string): boolean {
  let mixed = 0
  forEachWithDigit(text, (word) => {
    if (/[^\da-f@$]/i.test(word) && !measure.test(word)) mixed++
  })
  if (mixed < fewestWords) return false
  let words = 1
  for (let i = text.indexOf(' '); i >= 0; i = text.indexOf(' ', i + 1)) words++
  return mixed * 3 >= words
}

function remainingEdits(text: string, one: OneReading, words: KnownWords): Edits {
  const edits = new Edits()
  forEachWithDigit(text, (word, from) => edits.add(from, from + word.length, read(word, one, words), 'same'))
  return edits
}

/** In characters: longer ones are no words. */
const longestRemaining = 24
const letter = /\p{L}/u
const everyLetter = /\p{L}/gu
const fromDigit = /[\p{L}\d@$]*/uy

/**
 * Visits the words of letters of any script, digits, `@` and `$` that hold a digit: looks at digits and around them alone. In
 * scripts without spaces a number stands between letters as a matter of course: words with no other letters are left out.
 */
function forEachWithDigit(text: string, visit: (word: string, from: number) => void): void {
  const digit = /\d/g
  let end = 0
  for (let found = digit.exec(text); found !== null; found = digit.exec(text)) {
    let from = found.index
    while (from > end && isOfWord(text, from - 1)) from--
    fromDigit.lastIndex = found.index
    end = found.index + fromDigit.exec(text)![0].length
    digit.lastIndex = end
    const word = text.slice(from, end)
    if (word.length < 2 || (word.length > longestRemaining && [...word].length > longestRemaining)) continue
    if (!isOfUnspaced(word)) visit(word, from)
  }
}

/** Whether its letters, of which it has some, are all of scripts without spaces. */
function isOfUnspaced(word: string): boolean {
  const letters = word.match(everyLetter)
  return letters?.every((each) => isUnspaced(each.codePointAt(0)!)) === true
}

/** Whether the unit at `i` belongs to such a word; of a pair, either half. */
function isOfWord(text: string, i: number): boolean {
  const code = text.charCodeAt(i)
  if (code < 128) return (kinds[code]! & 3) !== 0 || code === 64 || code === 36
  if (code < 0xd800 || code >= 0xe000) return letter.test(text[i]!)
  const point = text.codePointAt(code < 0xdc00 ? i : i - 1)
  return point !== undefined && point > 0xffff && letter.test(String.fromCodePoint(point))
}

function isGap(text: string, i: number): boolean {
  return !/[\w@$]/.test(text.charAt(i))
}

function kindOf(code: number): number {
  return code < 128 ? kinds[code]! : 0
}

function addWord(text: string, first: number, last: number, one: OneReading, words: KnownWords, edits: Edits): void {
  let from = first
  let to = last
  // At the ends of a word `!`, `+` and `|` are what they are elsewhere.
  while (to > from && isPunctuation(text.charCodeAt(to - 1))) to--
  while (from < to && isPunctuation(text.charCodeAt(from))) from++
  const size = to - from
  if (size < 2 || size > longest) return
  const word = text.slice(from, to)
  const letters = read(word, one, words)
  // A known word of some length is one however many of its letters are digits.
  const isKnown = size > 3 && letters !== word && /[a-z]/i.test(word) && words.has(letters)
  if (isKnown || isDisguised(word, text.charCodeAt(to))) edits.add(from, to, letters, 'same')
}

function isPunctuation(code: number): boolean {
  return code === 33 || code === 43 || code === 124
}

function isDisguised(word: string, next: number): boolean {
  let letters = 0
  let digits = 0
  let signs = 0
  for (let i = 0; i < word.length; i++) {
    const kind = kindOf(word.charCodeAt(i))
    if (kind === 1) letters++
    else if (kind === 2) digits++
    else signs++
  }
  if (letters === 0 || digits + signs === 0) return false
  if (digits > letters + 1 || measure.test(word)) return false
  // An address: its domain goes on after the dot.
  if (next === 46 && word.includes('@')) return false
  // A name with a number at its end (`covid19`, `v2`): leet seldom ends so, and has more than one letter.
  return !(signs === 0 && (/^[a-z]+\d{2,}$/i.test(word) || /^[a-z]\d$/i.test(word) || /^\d{2,}[a-z]+$/i.test(word)))
}

/** Of a word with more signs of two meanings only one reading is tried. */
const mostTried = 4

function read(word: string, one: OneReading, words: KnownWords): string {
  const ones = word.match(/[1|]/g)?.length ?? 0
  if (ones > 0 && ones <= mostTried) {
    for (let choice = 0; choice < 1 << ones; choice++) {
      const letters = spell(word, (_, k) => ((choice >> k) & 1 ? 'l' : 'i'))
      if (words.has(letters)) return letters
    }
  }
  return spell(word, (before) => (one === 'neighbours' ? byNeighbours(before) : one))
}

/** @param ofOne the letter for the one at number `k`, behind the letters read so far */
function spell(word: string, ofOne: (before: string, k: number) => string): string {
  let out = ''
  let k = 0
  for (let i = 0; i < word.length; i++) {
    const sign = word[i]!
    out += sign === '1' || sign === '|' ? ofOne(out, k++) : (letterOf[sign] ?? sign)
  }
  return out
}

/** After a vowel more often l (`he1p`), after a consonant or at the start i (`k1ll`). */
function byNeighbours(before: string): string {
  return /[aeiou]$/i.test(before)
    ? 'l'
    : before.endsWith('l') || before === '' || !/[aeiou]/i.test(before.slice(-1))
      ? 'i'
      : 'l'
}
