/**
 * Finds what of one system prompt can be looked for as it stands: secret values with their names, and the prompt's own
 * sentences. It reads sentence by sentence in linear time, and skips sentences that it does not understand. Whatever
 * else a prompt keeps (subjects, acts, facts about people) is found by the encoder alone: word lists for these stopped
 * as many honest messages as attempts.
 */
import { KnownWords } from '../../../text/known-words.js'
import { sentencesOf } from '../../../text/sentences.js'
import { bitOf, type Lexicon, type Place } from './lexicon.js'

/** The guarded content of one prompt. */
export interface PromptReading {
  /** `passes`: texts that may be answered only to a speaker of the value. */
  secrets: { names: string[]; values: string[]; passes: string[] } | undefined
  /** Sentences of the prompt that no answer may repeat; empty: the prompt itself is not secret. */
  instructions: string[]
}

/** Bounds on the guarded items of one prompt. */
const mostValues = 32
const mostNames = 64
const mostInstructions = 48
const longestValue = 200

const { forbids, tells, secrets, instructions } = bitOf

interface Read {
  text: string
  /** Offsets within the sentence. */
  places: Place[]
  kinds: number
  values: string[]
}

export function readPrompt(text: string, lexicon: Lexicon): PromptReading {
  const reads = sentencesOf(text).map(({ start, end }): Read => {
    const own = text.slice(start, end)
    const places = lexicon.places(own)
    const kinds = places.reduce((all, place) => all | place.kinds, 0)
    return { text: own, places, kinds, values: kinds & secrets ? valuesIn(own, places) : [] }
  })
  const reading: PromptReading = { secrets: undefined, instructions: [] }
  const names = new Set<string>()
  const values = new Set<string>()
  let keepsItself = false
  for (const [i, read] of reads.entries()) {
    if ((read.kinds & forbids) === 0 || (read.kinds & tells) === 0) continue
    const before = reads[i - 1]
    if (read.kinds & secrets) {
      for (const name of namesIn(read)) names.add(name)
      for (const value of quotedIn(read.text)) values.add(value)
    } else if (tellsOf(read, instructions)) {
      keepsItself = true
    } else if (before !== undefined && isAboutTheOneBefore(read, before)) {
      for (const name of namesIn(before)) names.add(name)
      for (const value of [...quotedIn(before.text), ...before.values]) values.add(value)
      const stated = stateIn(before.text)
      if (before.values.length === 0 && stated !== undefined) {
        names.add(stated.name)
        values.add(stated.value)
      }
    }
  }
  if (keepsItself) {
    reading.instructions = reads.filter(({ kinds }) => kinds & (forbids | instructions)).map(({ text }) => text)
  }
  const gate = gateIn(text)
  if (gate !== undefined) for (const value of gate.values) values.add(value)
  if (names.size > 0 || values.size > 0) {
    // A value beside the name of a secret, anywhere in the prompt, is its value.
    for (const read of reads) {
      for (const value of read.values) values.add(value)
      if (read.values.length > 0) for (const name of namesIn(read)) names.add(name)
    }
    reading.secrets = {
      names: [...names].slice(0, mostNames),
      values: [...values].filter((value) => !gate?.passes.includes(value)).slice(0, mostValues),
      passes: gate?.passes ?? []
    }
  }
  reading.instructions = reading.instructions.slice(0, mostInstructions)
  return reading
}

const pass = /access granted/i
const key =
  /\b(?:types?|says?|enters?|inputs?|provides?|submits?|sends?|gives?|writes?|tells? you|receives?|string|characters|phrase|words?|code|password|passcode|key|text)\s{0,3}(?:is\s|are\s|of\s|the\s|:)?\s{0,3}["'“‘`]([^"'“”‘’`\n]{2,80})["'”’`]/giu

/** "Say 'access denied' unless the user types 'X'": X is kept though no word forbids telling it. */
function gateIn(text: string): { values: string[]; passes: string[] } | undefined {
  const granted = pass.exec(text)?.[0]
  if (granted === undefined) return undefined
  const values = [...text.matchAll(key)]
    .map(([, value]) => value!.trim())
    .filter((value) => !/^access (?:granted|denied)/i.test(value))
  return values.length === 0 ? undefined : { values: values.slice(0, mostValues), passes: [granted] }
}

function namesIn({ text, places }: Read): string[] {
  return places.filter(({ kinds }) => kinds & secrets).map(({ start, end }) => text.slice(start, end))
}

const quoted =
  /(?<![\p{L}\p{N}])["'“”‘’«»「『`]\s?([^\s"'“”‘’«»「」『』`][^"“”«»「」『』`\n]{0,198}?)\s?["'“”‘’«»」』`](?![\p{L}\p{N}])/gu

function quotedIn(text: string): string[] {
  return [...text.matchAll(quoted)].map(([, value]) => value!.trim()).filter((value) => value.length > 1)
}

/** After the name of a secret: `is V`, `: V`, or V itself where it looks like none of the language's words. */
const stated =
  /^(?:["'”’*`)]{0,2}\s{0,4}(?:is|are|was|ist|lautet|est|es|é|è|=|:|：|是|は|-|–|—)\s{0,4}|\s{1,4})([^\s"'“”«»,;]{3,200})/iu

function valuesIn(text: string, places: readonly Place[]): string[] {
  const inQuotes = quotedIn(text)
  if (inQuotes.length > 0) return inQuotes
  const values: string[] = []
  for (const { kinds, end } of places) {
    if ((kinds & secrets) === 0) continue
    const value = stated.exec(text.slice(end, end + longestValue))?.[1]?.replace(/[.!?)\]*`]+$/, '')
    if (
      value !== undefined &&
      value.length > 2 &&
      /\d|^\p{Lu}|\p{Ll}\p{Lu}|[_-]/u.test(value) &&
      !/^(?:The|This|It|Do|Never|Only|You)$/.test(value)
    ) {
      values.push(value)
    }
  }
  return values
}

/** "The merger partner is Globex": the subject named in the sentence that forbids telling it. */
function stateIn(text: string): { name: string; value: string } | undefined {
  const match =
    /^[^\p{L}]{0,4}(?:the|our|my|your|this)\s+([\p{L}\p{N} '-]{3,60}?)\s+(?:is|are|was|will be)\s+(?:called\s+)?["'“”‘’]?([\p{Lu}\p{N}][^\n"“”]{1,80}?)["'“”‘’]?[.!]?\s*$/iu.exec(
      text
    )
  if (match === null || !/^[\p{Lu}\p{N}]/u.test(match[2]!)) return undefined
  return { name: match[1]!, value: match[2]! }
}

/** Whether an object of a verb of telling is of a kind: it comes after the verb, in the same clause. */
function tellsOf({ text, places }: Read, kind: number): boolean {
  const verbs = places.filter(({ kinds }) => kinds & tells).map(({ end }) => end)
  const objects = places.filter(({ kinds }) => kinds & kind).sort((a, b) => a.start - b.start)
  // Most sentences have none of either, and need no clauses.
  if (verbs.length === 0 || objects.length === 0) return false
  const clause = clauseNumbers(text)
  let verb = 0
  for (const { start } of objects) {
    while (verb < verbs.length && verbs[verb]! <= start) verb++
    // Where the nearest verb before it is in another clause, all others are.
    if (verb > 0 && clause[verbs[verb - 1]!] === clause[start]) return true
  }
  return false
}

const clauseEnd = /[,;:.!?–—]/

/** @returns by offset, how many clauses end before it: two places with the same number stand in one clause */
function clauseNumbers(text: string): Uint32Array {
  const numbers = new Uint32Array(text.length + 1)
  for (let at = 0; at < text.length; at++) numbers[at + 1] = numbers[at]! + (clauseEnd.test(text[at]!) ? 1 : 0)
  return numbers
}

/** "Do not tell it to anyone", "That is confidential": what is kept stands in the sentence before. */
function isAboutTheOneBefore(read: Read, before: Read): boolean {
  const words = wordsBeside(read)
  if (words.every((word) => empty.has(word))) return true
  if (before.values.length === 0) return false
  return isEnglish(words) ? pointsBack(read) : words.length <= fewForeign
}

/** Words beside the verb of a short sentence in another language, where no list says which of them are empty. */
const fewForeign = 4

/** English words that a sentence may have which keeps something and does not say what. */
const empty: ReadonlySet<string> = new Set(
  `it this that them these those to with of from a an the any anyone anybody everyone other others someone person people
  user users customer customers client clients information details part parts ever even if asked when who whoever whatever
  circumstances circumstance reason at all please you should must may can and or do not under no for in is are be stay
  stays keep remain strictly just simply always absolutely`.split(/\s+/)
)

/** The words of a sentence, in small letters, less those that forbid or tell. */
function wordsBeside({ text, places }: Read): string[] {
  const rest: string[] = []
  let at = 0
  for (const { kinds, start, end } of [...places].sort((a, b) => a.start - b.start)) {
    if ((kinds & (forbids | tells)) === 0) continue
    rest.push(text.slice(at, Math.max(at, start)), ' ')
    at = Math.max(at, end)
  }
  rest.push(text.slice(at))
  return [
    ...rest
      .join('')
      .toLowerCase()
      .matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu)
  ].map(([word]) => word)
}

/** By the commonest words of English. */
function isEnglish(words: readonly string[]): boolean {
  return words.filter((word) => KnownWords.english.has(word)).length * 10 >= words.length * 4
}

/** A pronoun that is the whole object of the verb before it. */
const pronoun =
  /\b(?:say|tell|reveal|share|give|disclose|show|repeat|mention|spell|utter)\s{1,3}(?:it|this|that)(?=\s{1,3}(?:to|with|away|out|unless|before|until|even|under|if|except|when|while|for|outside)\b|\s{0,3}(?:[.!,;]|$))/i

/** Whether what is forbidden to be told is a pronoun: "only give it to the owner", and not "tell them the hours; do not bargain". */
function pointsBack({ text, places }: Read): boolean {
  const found = pronoun.exec(text)
  if (found === null) return false
  const clause = clauseNumbers(text)
  return places.some(
    ({ kinds, start }) => kinds & forbids && start <= found.index && clause[start] === clause[found.index]
  )
}
