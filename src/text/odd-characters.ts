/**
 * Properties of characters for the `unicode` reading: invisible, stacked on another, a form of letters, or a
 * look-alike. They follow the Unicode properties of the running engine.
 */
import { lookAlike } from './confusables.js'

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
/** Marks of no script of its own, vowel points of Arabic and Hebrew, and the Arabic tatweel, which only stretches. */
const stackedMark = /[\p{Script=Inherited}\u0591-\u05c7\u064b-\u065f\u0670\u0640]/u
const mark = /\p{M}/u
const letter = /\p{L}/u
const latinLetter = /\p{Script=Latin}/u
const number = /\p{N}/u
const latinOrNumber = /[\p{Script=Latin}\p{N}]/u

/** Longer forms are whole phrases of Arabic; they would make a text eighteen times as long. */
const longestForm = 3

export const NONE = 0
export const INVISIBLE = 1
export const MARK = 2
const FORM = 3
export const INDICATOR = 4

export interface Answer {
  kind: number
  /** The text of a compatibility form, or the Latin letter that it looks like. */
  text: string
  alike: boolean
  isWord: boolean
  /** 1 for Latin, 2 for a letter of another script, 0 for neither and for look-alikes. */
  script: number
}

/** Answers per code point, filled as characters are met. */
const known: (Answer | undefined)[] = new Array(65536)
const knownAstral = new Map<number, Answer>()

export function ask(point: number): Answer {
  let answer = point < 65536 ? known[point] : knownAstral.get(point)
  if (answer === undefined) {
    answer = describe(point)
    if (point < 65536) known[point] = answer
    else knownAstral.set(point, answer)
  }
  return answer
}

/** Letters that only text on its head has, beside those that look like others: see `ciphers/upside-down.ts`. */
const turned = new Set([0x254, 0x1d77])

/**
 * Whether the `unicode` reading changes neither this character nor its surroundings. The first half of a pair counts
 * for both.
 */
export function isPlain(text: string, i: number): boolean {
  const point = text.codePointAt(i)!
  if ((point >= 0x2800 && point < 0x2900) || turned.has(point)) return false
  const { kind, alike } = ask(point)
  return kind === NONE && !alike
}

function describe(point: number): Answer {
  const character = String.fromCodePoint(point)
  const { kind, text } = decide(point, character)
  const isLetter = letter.test(character)
  const alike = kind === NONE ? lookAlike(point) : undefined
  const isLatin = kind === FORM || kind === INDICATOR || latinLetter.test(character)
  return {
    kind,
    text: alike ?? text,
    alike: alike !== undefined,
    isWord: kind === FORM || kind === INDICATOR || isLetter || number.test(character) || mark.test(character),
    script: alike !== undefined ? 0 : isLatin ? 1 : isLetter ? 2 : 0
  }
}

function decide(point: number, character: string): { kind: number; text: string } {
  const nothing = { kind: NONE, text: '' }
  if (invisible.test(character) || point === 0x2800 || point === 0x115f || point === 0x3164) {
    return point === 10 || point === 13 || point === 9 ? nothing : { kind: INVISIBLE, text: '' }
  }
  if (mark.test(character)) return stackedMark.test(character) ? { kind: MARK, text: '' } : nothing
  if (point === 0x640) return { kind: MARK, text: '' }
  const enclosed = enclosedLetter(point)
  if (enclosed !== undefined) return { kind: point >= 0x1f1e6 ? INDICATOR : FORM, text: enclosed }
  const form = character.normalize('NFKC')
  const readable = form !== character && form.length <= longestForm && (letter.test(form) || number.test(form))
  return readable && !isOwnLetter(point, form) ? { kind: FORM, text: form } : nothing
}

/**
 * Letters of scripts beside Latin that NFKC takes apart, though people write nothing else: the am of Thai and Lao, letters
 * with a dot in Bengali, the letters of Korean by themselves.
 */
function isOwnLetter(point: number, form: string): boolean {
  return (point < 0x2000 || (point >= 0x3130 && point < 0x3190)) && !latinOrNumber.test(form)
}

/** Letters in filled circles and squares, and regional indicators, which NFKC keeps. */
function enclosedLetter(point: number): string | undefined {
  for (const start of [0x1f150, 0x1f170, 0x1f1e6]) {
    if (point >= start && point < start + 26) return String.fromCharCode(97 + point - start)
  }
  return undefined
}
