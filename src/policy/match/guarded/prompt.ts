/**
 * Finds the guarded content of one system prompt: secret values, facts about people, forbidden subjects and acts, and
 * the prompt itself. It reads sentence by sentence in linear time, and skips sentences that it does not understand.
 */
import { KnownWords } from '../../../text/known-words.js'
import { type Sentence, sentencesOf } from '../../../text/sentences.js'
import { bitOf, type Lexicon, type Place } from './lexicon.js'

export interface Topic {
  /** Words, two thirds of which must occur; undefined: the words of a subject. */
  words: readonly string[] | undefined
  /** Index of a subject, or -1. */
  subject: number
  /** True where doing it is forbidden, not speaking of it. */
  isAct: boolean
}

/** The guarded content of one prompt. */
export interface PromptReading {
  /** `passes`: texts that may be answered only to a speaker of the value. */
  secrets: { names: string[]; values: string[]; passes: string[] } | undefined
  /** People whose facts are secret, by their names where the prompt has them; undefined: none. */
  people: string[] | undefined
  topics: Topic[]
  /** Sentences of the prompt that no answer may repeat; empty: the prompt itself is not secret. */
  instructions: string[]
}

/** Bounds on the guarded items of one prompt. */
const mostValues = 32
const mostNames = 64
const mostTopics = 48
const mostInstructions = 48
const longestValue = 200

const { forbids, tells, discusses, does, secrets, persons, facts, instructions, generic, ends } = bitOf
const verbs = tells | discusses | does

interface Read {
  sentence: Sentence
  text: string
  /** Offsets within the sentence. */
  places: Place[]
  kinds: number
  values: string[]
}

export function readPrompt(text: string, lexicon: Lexicon): PromptReading {
  const reads = sentencesOf(text).map((sentence): Read => {
    const own = text.slice(sentence.start, sentence.end)
    const places = lexicon.places(own)
    const kinds = places.reduce((all, place) => all | place.kinds, 0)
    return { sentence, text: own, places, kinds, values: kinds & secrets ? valuesIn(own, places) : [] }
  })
  const reading: PromptReading = { secrets: undefined, people: undefined, topics: [], instructions: [] }
  const names = new Set<string>()
  const values = new Set<string>()
  let keepsItself = false
  for (const [i, read] of reads.entries()) {
    if ((read.kinds & forbids) === 0 || (read.kinds & verbs) === 0) continue
    const object = objectOf(read)
    if (read.kinds & tells && isAboutPeople(read)) reading.people ??= peopleIn(text)
    if ((read.kinds & tells) === 0) {
      reading.topics.push(...topicsOf(read, object))
    } else if (read.kinds & secrets) {
      for (const name of namesIn(read)) names.add(name)
      for (const value of quotedIn(read.text)) values.add(value)
    } else if (isAboutPeople(read)) {
      // Noted above.
    } else if (read.kinds & instructions && !(pointsBack.test(read.text) && reads[i - 1]?.values.length)) {
      keepsItself = true
    } else if (isReference(read, object, reads[i - 1])) {
      const before = reads[i - 1]!
      for (const name of namesIn(before)) names.add(name)
      for (const value of [...quotedIn(before.text), ...before.values]) values.add(value)
      const stated = stateIn(before.text)
      if (before.values.length === 0 && stated !== undefined) {
        names.add(stated.name)
        values.add(stated.value)
      }
    } else {
      reading.topics.push(...topicsOf(read, object))
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
  reading.topics = reading.topics.slice(0, mostTopics)
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

/** Whether it concerns facts about people, not products: "the user's address", "private information". */
function isAboutPeople({ kinds }: Read): boolean {
  return (kinds & persons) !== 0 && (kinds & facts) !== 0
}

/** Names as the prompt writes them, in pairs of capitalised words or as values of `name`. */
function peopleIn(text: string): string[] {
  const names = new Set<string>()
  for (const [, first, last] of text.matchAll(/(?<![\p{L}.])(\p{Lu}\p{Ll}{1,20})\s(\p{Lu}\p{Ll}{1,20})(?!\p{L})/gu)) {
    names.add(`${first} ${last}`)
    if (!KnownWords.english.has(first!.toLowerCase())) names.add(first!)
  }
  for (const [, name] of text.matchAll(/"(?:full_?)?name"\s{0,4}:\s{0,4}"([^"\n]{2,60})"/gi)) names.add(name!)
  return [...names].slice(0, mostNames)
}

const pointsBack = /\b(?:say|tell|reveal|share|give|disclose|show|repeat|mention|spell|utter)\s{1,3}(?:it|them)\b/i

/** "Do not tell it to anyone": refers to the sentence before. */
function isReference({ text, values, kinds }: Read, object: string, before: Read | undefined): boolean {
  if (before === undefined || values.length > 0 || kinds & discusses) return false
  if (before.values.length > 0) return true
  return contentOf(object).length === 0 && isEnglish(text)
}

/** The object of the forbidding verb: after the verb, or else before it. */
function objectOf({ text, places }: Read): string {
  const verb = places.find(({ kinds }) => kinds & verbs)!
  const stop = places.find(({ kinds, start }) => start >= verb.end && kinds & ends)
  const after = text.slice(verb.end, stop?.start)
  const without = blank(after, places, verb.end)
  return contentOf(without).length > 0 ? without : blank(text.slice(0, verb.start), places, 0)
}

/** The stretch with words that name nothing blanked out. @param from its offset in the sentence */
function blank(stretch: string, places: readonly Place[], from: number): string {
  let clear = stretch
  for (const { kinds, start, end } of places) {
    if ((kinds & (forbids | verbs | generic)) === 0 || start < from || end > from + stretch.length) continue
    const width = end - start
    // Blanks keep the subjects around a removed word apart.
    clear = clear.slice(0, start - from) + ' '.repeat(width) + clear.slice(end - from)
  }
  return clear
}

/** Only a part of the named subject is forbidden. */
const isPartly = /\b(?:other|another|own|unless|except|without|outside|beyond|unrelated|before|until)\b/i

const joints =
  /[,;:/()\n"“”«»]|\s(?:or|and|like|such as|including|e\.g\.|related to|about|on|regarding|concerning|with|for|in|to|by|from|the|a|an)\s/giu

function topicsOf({ text, places, kinds }: Read, object: string): Topic[] {
  const isAct = (kinds & discusses) === 0 && (kinds & tells) === 0
  const verb = places.find(({ kinds }) => kinds & verbs)!
  const clause = clauseAround(text, verb)
  const stop = places.find(({ kinds, start }) => start >= verb.end && kinds & ends)?.start ?? text.length
  const topics: Topic[] = []
  for (const { topic, start, end } of places) {
    if (topic >= 0 && start >= clause && end <= stop) topics.push({ words: undefined, subject: topic, isAct })
  }
  // The list of words without meaning of their own is English only.
  const rest = text.slice(verb.end, stop)
  if (!isEnglish(text) || isPartly.test(rest)) {
    return topics
  }
  const spaced = object.replace(/\s/g, '  ')
  for (const stretch of spaced.split(joints)) {
    const words = contentOf(stretch)
    if (words.length > 0 && words.length <= 4) topics.push({ words, subject: -1, isAct })
  }
  return topics
}

function clauseAround(text: string, { start }: Place): number {
  return Math.max(0, text.slice(0, start).search(/[,;:、，،][^,;:、，،]*$/u))
}

const particles: ReadonlySet<string> = new Set('of the an and or in on to for by with from at as'.split(' '))

function contentOf(text: string): string[] {
  return [...text.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu)]
    .map(([word]) => word.toLowerCase().replace(/['’]s?$/, ''))
    .filter((word) => word.length > 1 && !particles.has(word))
}

/** Whether a sentence is English, by its commonest words. */
function isEnglish(text: string): boolean {
  const words = contentOf(text)
  const known = words.filter((word) => KnownWords.english.has(word))
  return known.length * 10 >= words.length * 4
}
