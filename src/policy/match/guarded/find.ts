/** Finds places where a text asks for guarded content of a system prompt, or reveals it. */
import type { Folder, Span } from '../../../text/fold.js'
import { HitList } from '../../../text/hit-list.js'
import type { Phrases } from '../../../text/phrases.js'
import { type Sentence, sentencesOf } from '../../../text/sentences.js'
import type { GuardedKind } from '../../constitution/lexicons.js'
import { bitOf, type Lexicon, type Place } from './lexicon.js'

/** The meaning of a phrase from the prompts. */
export type Own = { kind: 'name' | 'instructions' | 'pass' } | { kind: 'value'; isWord: boolean }

export interface Guarded {
  /** Digest of the prompts. */
  readonly key: string
  readonly hasSecrets: boolean
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

const { secrets, asks, turns, refers } = bitOf
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
  if (!guarded.hasSecrets) return
  const general = lexicon.places(text, folder)
  if (general.length === 0 && own.length === 0) return
  const sentences = sentencesOf(text)
  const ownIn = bySentence(sentences, own)
  const generalIn = bySentence(sentences, general)
  for (const [i, sentence] of sentences.entries()) {
    if (ownIn[i]!.length + generalIn[i]!.length > 0) {
      judgeSentence(sentence, ownIn[i]!, generalIn[i]!, folder.words <= wordsOfReference, visit)
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

/** Finds names of a secret beside a way to ask for it. Linear. */
function judgeSentence(
  { start, end, isQuestion }: Sentence,
  own: readonly OwnPlace[],
  general: readonly Place[],
  isShort: boolean,
  visit: GuardedVisit
): void {
  const ways = general.filter(({ kinds }) => kinds & (asks | turns)).sort(byStart)
  const meant = isShort ? secrets | refers : secrets
  const names = [
    ...general.filter(({ kinds }) => kinds & meant),
    ...own.filter((place) => place.own.some(({ kind }) => kind === 'name'))
  ].sort(byStart)
  let first = 0
  for (const name of names) {
    // Later names are no nearer to the ways that are passed here.
    while (first < ways.length && name.start - ways[first]!.end > nearest) first++
    const way = closest(ways, first, name)
    if (way !== undefined) visit('secret', Math.min(way.start, name.start), Math.max(way.end, name.end))
    else if (isQuestion && end - start <= shortQuestion && !isReference(name)) visit('secret', start, end)
  }
  for (const place of own) {
    if (place.own.some(({ kind }) => kind === 'pass')) visit('secret', place.start, place.end)
  }
}

const byStart = (a: { start: number }, b: { start: number }) => a.start - b.start

const isReference = (name: Place | OwnPlace) => 'kinds' in name && (name.kinds & secrets) === 0

/** @param ways in order of their starts, searched from index `first` @returns the one with the fewest units between */
function closest(ways: readonly Place[], first: number, { start, end }: Span): Place | undefined {
  let found: Place | undefined
  let least = nearest + 1
  for (let i = first; i < ways.length && ways[i]!.start - end <= nearest; i++) {
    const way = ways[i]!
    const gap = Math.max(0, way.start - end, start - way.end)
    if (gap < least && (way.start < start || way.end > end)) {
      found = way
      least = gap
    }
  }
  return found
}
