/** Finds places where a text asks for guarded content of a system prompt, or reveals it. */
import type { Folder } from '../../../text/fold.js'
import { HitList } from '../../../text/hit-list.js'
import type { Phrases } from '../../../text/phrases.js'
import { type Sentence, sentencesOf } from '../../../text/sentences.js'
import type { GuardedKind } from '../../constitution/lexicons.js'
import { bitOf, type Lexicon, type Place } from './lexicon.js'
import type { Topic } from './prompt.js'

/** The meaning of a phrase from the prompts. */
export type Own =
  | { kind: 'name' | 'person' | 'instructions' | 'pass' }
  | { kind: 'value'; isWord: boolean }
  | { kind: 'topic'; topic: number; word: number }

export interface Guarded {
  /** Digest of the prompts. */
  readonly key: string
  readonly hasSecrets: boolean
  readonly hasPeople: boolean
  readonly topics: readonly Topic[]
  /** The prompts' own words, names and values; undefined: none. */
  readonly phrases: Phrases | undefined
  /** By the phrase's number. */
  readonly own: readonly (readonly Own[])[]
}

/** Words around a guarded value that decide whether it counts as the value. */
export const valueReach = 12

/** Offsets are UTF-16 units of the text. */
export type GuardedVisit = (kind: GuardedKind, start: number, end: number) => void

interface OwnPlace {
  start: number
  end: number
  /** Index of its first word. */
  word: number
  own: readonly Own[]
}

/** Most UTF-16 units between a request and the guarded name. */
const nearest = 90
/** Longest sentence that counts as a question by its mark alone, in units. */
const shortQuestion = 48
/** Most words of a text that consists of little but the value. */
const fewWords = 6

/** Most words of a text in which "the word" or "the string" means the secret: a longer one means something else. */
const wordsOfReference = 12

const { secrets, persons, facts, asks, turns, refers, does } = bitOf
const found = new HitList()

export function findGuarded(
  text: string,
  folder: Folder,
  guarded: Guarded,
  lexicon: Lexicon,
  visit: GuardedVisit
): void {
  const own = ownPlaces(folder, guarded)
  findValues(own, folder.words, visit)
  const general = lexicon.places(text, folder)
  if (general.length === 0 && own.length === 0) return
  const sentences = sentencesOf(text)
  const ownIn = bySentence(sentences, own)
  const generalIn = bySentence(sentences, general)
  for (const [i, sentence] of sentences.entries()) {
    if (ownIn[i]!.length + generalIn[i]!.length > 0) {
      judgeSentence(sentence, ownIn[i]!, generalIn[i]!, guarded, folder.words <= wordsOfReference, visit)
    }
  }
}

function ownPlaces(folder: Folder, { phrases, own }: Guarded): OwnPlace[] {
  if (phrases === undefined) return []
  found.count = 0
  phrases.scan(folder, found)
  const places: OwnPlace[] = []
  let word = 0
  for (let hit = 0; hit < found.count; hit++) {
    while (word < folder.words && folder.spaces[word]! < found.to[hit]!) word++
    places.push({ ...folder.span(found.from[hit]!, found.to[hit]!), word, own: own[found.id[hit]!]! })
  }
  return places
}

/** A value that is an ordinary word counts only beside the secret's name, or in a short text. */
function findValues(places: readonly OwnPlace[], words: number, visit: GuardedVisit): void {
  let lastName = Number.NEGATIVE_INFINITY
  const open: OwnPlace[] = []
  for (const place of places) {
    for (const what of place.own) {
      if (what.kind === 'name') {
        lastName = place.word
        for (const { start, end, word } of open.splice(0)) {
          if (place.word - word <= valueReach) visit('value', start, end)
        }
      } else if (what.kind === 'instructions') {
        visit('instructions', place.start, place.end)
      } else if (what.kind === 'value') {
        const counts = !what.isWord || words <= fewWords || place.word - lastName <= valueReach
        if (counts) visit('value', place.start, place.end)
        else open.push(place)
      }
    }
  }
}

function bySentence<T extends { start: number }>(sentences: readonly Sentence[], places: readonly T[]): T[][] {
  const lists: T[][] = sentences.map(() => [])
  let at = 0
  for (const place of places) {
    while (at > 0 && place.start < sentences[at]!.start) at--
    while (at < sentences.length - 1 && place.start >= sentences[at]!.end) at++
    lists[at]?.push(place)
  }
  return lists
}

function judgeSentence(
  { start, end, isQuestion }: Sentence,
  own: readonly OwnPlace[],
  general: readonly Place[],
  guarded: Guarded,
  isShort: boolean,
  visit: GuardedVisit
): void {
  const of = (kinds: number) => general.filter((place) => place.kinds & kinds)
  const asking = of(asks)
  if (guarded.hasSecrets) {
    const ways = [...asking, ...of(turns)]
    const names = [
      ...of(isShort ? secrets | refers : secrets),
      ...own.filter((place) => place.own.some(({ kind }) => kind === 'name'))
    ]
    for (const name of names) {
      const way = closest(ways, name)
      if (way !== undefined) visit('secret', Math.min(way.start, name.start), Math.max(way.end, name.end))
      else if (isQuestion && end - start <= shortQuestion && !isReference(name)) visit('secret', start, end)
    }
    for (const place of own) {
      if (place.own.some(({ kind }) => kind === 'pass')) visit('secret', place.start, place.end)
    }
  }
  if (!isQuestion && asking.length === 0) return
  if (guarded.hasPeople) {
    const people = [...of(persons), ...own.filter((place) => place.own.some(({ kind }) => kind === 'person'))]
    const fact = of(facts)[0]
    const person = people[0]
    if (fact !== undefined && person !== undefined) {
      visit('private', Math.min(fact.start, person.start), Math.max(fact.end, person.end))
    }
  }
  if (guarded.topics.length > 0) judgeTopics(own, general, guarded.topics, of(does).length > 0, visit)
}

function judgeTopics(
  own: readonly OwnPlace[],
  general: readonly Place[],
  topics: readonly Topic[],
  isDone: boolean,
  visit: GuardedVisit
): void {
  // Only named topics are checked: most sentences name none.
  const named = new Set<number>()
  for (const place of own) for (const what of place.own) if (what.kind === 'topic') named.add(what.topic)
  const hasSubject = general.some(({ topic }) => topic >= 0)
  if (named.size === 0 && !hasSubject) return
  for (const [i, topic] of topics.entries()) {
    if (topic.words === undefined ? !hasSubject : !named.has(i)) continue
    const place =
      topic.words === undefined
        ? general.find((place) => place.topic === topic.subject)
        : wordsOf(own, i, topic.words.length)
    if (place !== undefined && (!topic.isAct || isDone)) visit('topic', place.start, place.end)
  }
}

const isReference = (name: Place | OwnPlace) => 'kinds' in name && (name.kinds & secrets) === 0

/** The place of the word that completes two thirds of a topic's words. */
function wordsOf(own: readonly OwnPlace[], topic: number, words: number): { start: number; end: number } | undefined {
  const seen = new Map<number, OwnPlace>()
  for (const place of own) {
    for (const what of place.own) if (what.kind === 'topic' && what.topic === topic) seen.set(what.word, place)
  }
  return seen.size * 3 >= words * 2 ? [...seen.values()].at(-1) : undefined
}

function closest(ways: readonly Place[], { start, end }: { start: number; end: number }): Place | undefined {
  return ways.find(
    (way) => way.start - end <= nearest && start - way.end <= nearest && (way.start < start || way.end > end)
  )
}
