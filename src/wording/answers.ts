/**
 * Interprets a person's answer to a clarification question: one of its options, by number or by words of any shipped
 * language, and nothing else. Any other content makes an answer unclear, so that nothing can be smuggled in it.
 */
import { type OptionName, shippedLanguages, shippedTexts } from './shipped.js'
import { nameOf } from './topics.js'

/** Longest answer, UTF-16 units. */
const maxAnswer = 120

type Meaning = OptionName | 'yes' | 'no' | 'filler'

/** By phrase, its meanings in all languages. */
let dictionary: Map<string, Set<Meaning>> | undefined
let longest = 0

/** Scripts that are written without spaces, or join endings to words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fc]/u

/**
 * @param topics the options that were offered, in their order, without the last
 * @returns the topic; undefined where the answer is another, none, or more than one
 */
export function understood(answer: string, topics: readonly string[]): string | undefined {
  if (answer.length > maxAnswer) return undefined
  const text = plain(answer)
  if (text === '') return undefined
  const byNumber = numberOf(text)
  if (byNumber !== undefined) return topics[byNumber - 1]
  const own = topics.find((topic) => plain(topic) === text)
  if (own !== undefined) return own
  const said = meanings(text)
  if (said === undefined) return undefined
  // Yes and no answer a question that has one topic only.
  if (said.has('yes') || said.has('no'))
    return said.size === 1 && said.has('yes') && topics.length === 1 ? topics[0] : undefined
  const named = topics.filter((topic) => said.has(nameOf(topic) ?? 'other') && nameOf(topic) !== undefined)
  return said.size === 1 && named.length === 1 ? named[0] : undefined
}

/** Letters and digits of any script with single spaces; digits as ASCII has them. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Nd}/gu, digitOf)
    .replace(/[\u2019\u02bc`´]/g, "'")
    .replace(/\p{Mn}+/gu, (marks) => (/[\u064b-\u0652]/.test(marks) ? '' : marks))
    .replace(/[^\p{L}\p{M}\p{Nd}']+/gu, ' ')
    .trim()
}

/** Digits of every script are consecutive from zero. */
function digitOf(character: string): string {
  const code = character.codePointAt(0)!
  let zero = code
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && (zero - 1) % 16 !== 15) zero--
  return String((code - zero) % 10)
}

/** `2`, `no. 2`, `option 2`, `2番`, `第2个`: one digit among filler words. */
function numberOf(text: string): number | undefined {
  const numbers = text.match(/\d+/g)
  if (numbers?.length !== 1 || numbers[0]!.length > 1) return undefined
  const rest = text.replace(/\d/, ' ').replace(/ +/g, ' ').trim()
  if (rest !== '' && rest !== 'no' && rest !== 'nr' && rest !== 'n') {
    const said = meanings(rest)
    if (said === undefined || said.size > 0) return undefined
  }
  return Number(numbers[0])
}

/** @returns the meanings of a text's phrases, without fillers; undefined where a word is unknown */
function meanings(text: string): Set<Meaning> | undefined {
  const phrases = dictionaryOf()
  const found = new Set<Meaning>()
  let at = 0
  while (at < text.length) {
    if (text[at] === ' ') {
      at++
      continue
    }
    const phrase = longestAt(phrases, text, at)
    if (phrase === undefined) return undefined
    const all = phrases.get(phrase)!
    // A word that is an option in one language and a filler in another counts as the option.
    const said = [...all].filter((meaning) => meaning !== 'filler')
    if (said.length > 1) return undefined
    if (said[0] !== undefined) found.add(said[0])
    at += phrase.length
  }
  return found
}

function longestAt(phrases: ReadonlyMap<string, unknown>, text: string, at: number): string | undefined {
  for (let length = Math.min(longest, text.length - at); length > 0; length--) {
    const phrase = text.slice(at, at + length)
    if (phrases.has(phrase) && isWhole(text, at + length)) return phrase
  }
  return undefined
}

function isWhole(text: string, end: number): boolean {
  return end === text.length || text[end] === ' ' || (unspaced.test(text[end - 1]!) && unspaced.test(text[end]!))
}

function dictionaryOf(): ReadonlyMap<string, Set<Meaning>> {
  if (dictionary !== undefined) return dictionary
  const all = new Map<string, Set<Meaning>>()
  const add = (phrase: string, meaning: Meaning) => {
    const key = plain(phrase)
    const meanings = all.get(key)
    if (meanings === undefined) all.set(key, new Set([meaning]))
    else meanings.add(meaning)
    longest = Math.max(longest, key.length)
  }
  for (const language of shippedLanguages) {
    const { options, words, fillers } = shippedTexts(language)!
    for (const name of Object.keys(options) as OptionName[]) add(options[name], name)
    for (const name of Object.keys(words) as (OptionName | 'yes' | 'no')[])
      for (const word of words[name]) add(word, name)
    for (const filler of fillers) add(filler, 'filler')
  }
  dictionary = all
  return all
}
