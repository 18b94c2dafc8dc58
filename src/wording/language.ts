/**
 * Detects the language of a text by its script and commonest words, and parses the languages that a client accepts. It
 * never guesses: where two languages are close, none is returned.
 */
import { englishWords } from '../text/english.js'
import { wordsByLanguage } from '../text/languages.js'

/** UTF-16 units that are examined. */
const maxUnits = 2000
/** Words of English to use; the other languages have some hundred each. */
const englishCount = 500
/** Least ratio between the best language and the next. */
const lead = 1.5
const leastWeight = 1.5

/** Scripts that one language is written in, where their letters are most of a text. */
const scripts: readonly (readonly [RegExp, string])[] = [
  [/\p{Script=Hangul}/gu, 'ko'],
  [/\p{Script=Devanagari}/gu, 'hi'],
  [/\p{Script=Greek}/gu, 'el'],
  [/\p{Script=Hebrew}/gu, 'he'],
  [/\p{Script=Thai}/gu, 'th'],
  [/\p{Script=Bengali}/gu, 'bn'],
  [/\p{Script=Tamil}/gu, 'ta'],
  [/\p{Script=Georgian}/gu, 'ka'],
  [/\p{Script=Armenian}/gu, 'hy']
]

const russian = new Set(
  'и в не на я что как это он с а по но его к у мне меня мой ты вы все так за бы от было для или если есть мы они когда где кто почему хочу можно нужно больше жить только очень себя'.split(
    ' '
  )
)
const ukrainian = new Set(
  'і в не на я що як це він з а по але його до у мені мене мій ти ви все так за від було для або якщо є ми вони коли де хто чому хочу можна треба та щоб більше жити тільки дуже себе'.split(
    ' '
  )
)

/** Letters that few others of these languages have, and what each word that holds one adds. */
const ownLetters: readonly (readonly [RegExp, string, number])[] = [
  [/ß/u, 'german', 0.8],
  [/[äöü]/u, 'german', 0.4],
  [/ñ/u, 'spanish', 0.8],
  [/[ãõ]/u, 'portuguese', 0.6],
  [/[łąęśźżćń]/u, 'polish', 0.8],
  [/[ğış]/u, 'turkish', 0.8],
  [/[đơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]/u, 'vietnamese', 0.8],
  [/[èêëœùû]/u, 'french', 0.4]
]

const codes: Readonly<Record<string, string>> = {
  english: 'en',
  german: 'de',
  french: 'fr',
  spanish: 'es',
  italian: 'it',
  portuguese: 'pt',
  dutch: 'nl',
  polish: 'pl',
  turkish: 'tr',
  vietnamese: 'vi',
  indonesian: 'id',
  tagalog: 'tl'
}

/** The languages in whose lists a folded word stands. */
const languagesOf = new Map<string, string[]>()
for (const [language, words] of Object.entries({ english: englishWords.slice(0, englishCount), ...wordsByLanguage })) {
  for (const word of new Set(words)) languagesOf.set(word, [...(languagesOf.get(word) ?? []), language])
}

/** @returns an ISO 639 code; undefined where the text does not tell */
export function languageOf(given: string): string | undefined {
  const text = given.slice(0, maxUnits).normalize('NFC').toLowerCase()
  const letters = count(text, /\p{L}/gu)
  if (letters < 2) return undefined
  const most = (pattern: RegExp) => count(text, pattern) * 2 > letters
  const han = count(text, /\p{Script=Han}/gu)
  const kana = count(text, /[\p{Script=Hiragana}\p{Script=Katakana}]/gu)
  if ((han + kana) * 2 > letters) return kana > 0 ? 'ja' : 'zh'
  if (most(/\p{Script=Arabic}/gu)) return ofArabicScript(text)
  if (most(/\p{Script=Cyrillic}/gu)) return ofCyrillic(text)
  const script = scripts.find(([pattern]) => most(pattern))
  if (script !== undefined) return script[1]
  return most(/\p{Script=Latin}/gu) ? ofLatin(text) : undefined
}

function count(text: string, pattern: RegExp): number {
  let found = 0
  for (const _ of text.matchAll(pattern)) found++
  return found
}

function ofArabicScript(text: string): string {
  if (/[ٹڈڑے]/.test(text)) return 'ur'
  return /[پچژگکی]/.test(text) ? 'fa' : 'ar'
}

function ofCyrillic(text: string): string | undefined {
  if (/[ђјљњћџўәғқңөұүһѓќ]/.test(text)) return undefined
  if (/[іїєґ]/.test(text)) return 'uk'
  if (/[ыэё]/.test(text)) return 'ru'
  const words = text.match(/\p{L}+/gu) ?? []
  const inRussian = words.filter((word) => russian.has(word) && !ukrainian.has(word)).length
  const inUkrainian = words.filter((word) => ukrainian.has(word) && !russian.has(word)).length
  if (inRussian === inUkrainian) return undefined
  return inRussian > inUkrainian ? 'ru' : 'uk'
}

function ofLatin(text: string): string | undefined {
  const weights = new Map<string, number>()
  const add = (language: string, weight: number) => weights.set(language, (weights.get(language) ?? 0) + weight)
  for (const word of new Set(text.match(/[\p{L}\p{M}]+/gu) ?? [])) {
    const names = languagesOf.get(folded(word)) ?? []
    for (const name of names) add(name, 1 / names.length)
    for (const [letter, name, weight] of ownLetters) if (letter.test(word)) add(name, weight)
  }
  if (/[¿¡]/.test(text)) add('spanish', 2)
  const [first, second] = [...weights].sort(([, a], [, b]) => b - a)
  if (first === undefined || first[1] < leastWeight || first[1] < lead * (second?.[1] ?? 0)) return undefined
  return codes[first[0]]
}

/** As the lists of words are written: without accents. */
function folded(word: string): string {
  const plain = word.normalize('NFD').replace(/\p{M}/gu, '')
  return plain.replaceAll('đ', 'd').replaceAll('ł', 'l').replaceAll('ı', 'i').replaceAll('ß', 'ss')
}

export interface Asked {
  language: string
  /** ISO 3166 code, where the client names one. */
  region: string | undefined
}

/**
 * The accepted languages of a client (RFC 9110, section 12.5.4), most preferred first. Unreadable entries are ignored.
 */
export function acceptedLanguages(header: string | undefined): Asked[] {
  if (header === undefined) return []
  const found: (Asked & { weight: number })[] = []
  for (const entry of header.slice(0, 200).split(',').slice(0, 10)) {
    const match = /^\s*([A-Za-z]{2,3})((?:-[A-Za-z0-9]{1,8})*)\s*(?:;\s*q=(0(?:\.\d{1,3})?|1(?:\.0{1,3})?))?\s*$/.exec(
      entry
    )
    const weight = Number(match?.[3] ?? 1)
    if (match === null || weight === 0) continue
    const region = /-([A-Za-z]{2})(?:-|$)/.exec(match[2]!)?.[1]?.toUpperCase()
    found.push({ language: match[1]!.toLowerCase(), region, weight })
  }
  return found.sort((a, b) => b.weight - a.weight).map(({ language, region }) => ({ language, region }))
}
