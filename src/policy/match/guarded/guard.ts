/**
 * Compiles the guarded content of a chat's system prompts for searching its other texts. Cached by the prompts' digest,
 * since a chat repeats its prompt with each turn.
 */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Folder, foldPhrase } from '../../../text/fold.js'
import { HitList } from '../../../text/hit-list.js'
import { atOnce, phraseSteps } from '../../../text/phrases.js'
import { PhraseIds } from '../phrase-ids.js'
import { findGuarded, type Guarded, type GuardedVisit, type Own, valueReach } from './find.js'
import type { Lexicon } from './lexicon.js'
import { type PromptReading, readPrompt } from './prompt.js'

/** Cached prompts: some hundred are in use at a time, a few KB each. */
const maxPrompts = 500
/**
 * UTF-16 units of a chat's prompts that are read, from the start: each guarded item costs time in every judged text.
 */
const maxUnits = 65_536

export class Guard {
  readonly #lexicon: Lexicon
  readonly #known = new LRUCache<string, Guarded | false>({ max: maxPrompts })
  readonly #seen = new WeakMap<readonly string[], Guarded | false>()
  readonly #found = new HitList()

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon
  }

  /** @returns undefined where the prompts guard nothing */
  read(prompts: readonly string[]): Guarded | undefined {
    if (prompts.length === 0) return undefined
    let guarded = this.#seen.get(prompts)
    if (guarded === undefined) {
      const key = hash('sha256', prompts.map((text) => `${text.length}:${text}`).join(''), 'base64')
      guarded = this.#known.get(key)
      if (guarded === undefined) {
        guarded =
          guardedBy(
            firstUnits(prompts).map((text) => readPrompt(text, this.#lexicon)),
            key
          ) ?? false
        this.#known.set(key, guarded)
      }
      this.#seen.set(prompts, guarded)
    }
    return guarded === false ? undefined : guarded
  }

  /** Visits every place where a text touches guarded content. @param folder the text, folded */
  find(text: string, folder: Folder, guarded: Guarded, visit: GuardedVisit): void {
    findGuarded(text, folder, guarded, this.#lexicon, visit)
  }

  /**
   * For an unfinished text: the offset from which a guarded value could still begin, or still get its name beside it.
   */
  settled(folder: Folder, { phrases, own }: Guarded): number {
    if (phrases === undefined) return Number.POSITIVE_INFINITY
    const found = this.#found
    found.count = 0
    phrases.scan(folder, found)
    const { underWay } = phrases
    let limit = underWay < 0 ? Number.POSITIVE_INFINITY : folder.span(underWay, underWay + 1).start
    const near = folder.spaces[Math.max(0, folder.words - valueReach)]!
    for (let hit = 0; hit < found.count; hit++) {
      const counts = own[found.id[hit]!]!.some(({ kind }) => kind !== 'pass')
      if (counts && found.from[hit]! > near) {
        limit = Math.min(limit, folder.span(found.from[hit]!, found.to[hit]!).start)
      }
    }
    return limit
  }
}

function firstUnits(texts: readonly string[]): string[] {
  const first: string[] = []
  let room = maxUnits
  for (const text of texts) {
    if (room === 0) break
    first.push(text.slice(0, room))
    room -= first.at(-1)!.length
  }
  return first
}

function guardedBy(readings: readonly PromptReading[], key: string): Guarded | undefined {
  const ids = new PhraseIds()
  const own: Own[][] = []
  const known = new Set<string>()
  // Items that several prompts share are searched once.
  const isNew = (what: unknown) => known.size < known.add(JSON.stringify(what)).size
  const add = (phrase: string, what: Own) => {
    if (foldPhrase(phrase) === '') return
    const id = ids.idOf(phrase)
    own[id] ??= []
    if (isNew([id, what])) own[id].push(what)
  }
  for (const { secrets, instructions } of readings) {
    for (const name of secrets?.names ?? []) add(name, { kind: 'name' })
    for (const reply of secrets?.passes ?? []) add(reply, { kind: 'pass' })
    for (const value of secrets?.values ?? []) add(value, { kind: 'value', isWord: /^\p{L}\p{Ll}*$/u.test(value) })
    for (const sentence of instructions) {
      const words = foldPhrase(sentence).split(' ')
      if (words.length >= fewestRepeated) add(words.slice(0, fewestRepeated).join(' '), { kind: 'instructions' })
    }
  }
  const hasSecrets = readings.some(({ secrets }) => secrets !== undefined)
  if (ids.size === 0 && !hasSecrets) return undefined
  const phrases = ids.size === 0 ? undefined : atOnce(phraseSteps(ids.patterns()))
  return { key, hasSecrets, phrases, own }
}

/** This many equal words in a row are no coincidence. */
const fewestRepeated = 9
