/** Lexicons: lists of phrases, their inclusion by `$name`, and the lists of `guarded:`. */
import { nearestHint } from '../../base/near.js'
import { foldPhrase } from '../../text/fold.js'
import { goneGuarded, goneLexicon, goneWordKinds, isGoneLexicon } from './gone.js'
import type { Path, Problems } from './problems.js'

export interface Lexicons {
  /** The distinct phrases of a list, lexicons included; reports every faulty entry at `path`. */
  expand(list: readonly string[], path: Path): string[]
  /** The same for the anchors of a pattern, which itself reads the signs that a phrase loses. */
  expandAnchors(list: readonly string[], path: Path): string[]
}

const namePattern = /^[a-z][a-z0-9_]{0,63}$/

/**
 * Checks every lexicon, used or not, so that a mistake is seen before the rule that needs it is written.
 * @param warnings receives names that the shipped constitution has dropped, which match nothing, and phrases that match
 * more than they say
 */
export function readLexicons(
  source: Readonly<Record<string, readonly string[]>>,
  problems: Problems,
  warnings: Problems
): Lexicons {
  const done = new Map<string, readonly string[]>()

  function resolve(name: string, chain: readonly string[]): readonly string[] {
    const known = done.get(name)
    if (known !== undefined) return known
    if (chain.includes(name)) {
      problems.add(['lexicons', name], `includes itself: ${[...chain, name].map((step) => `$${step}`).join(' → ')}`, {
        atKey: true
      })
      return []
    }
    const phrases = expandList(source[name] ?? [], ['lexicons', name], [...chain, name])
    done.set(name, phrases)
    return phrases
  }

  function expandList(list: readonly string[], path: Path, chain: readonly string[], isAnchors = false): string[] {
    const phrases = new Set<string>()
    for (const [i, entry] of list.entries()) {
      if (!entry.startsWith('$')) {
        const reason = refusal(entry)
        if (reason === undefined) phrases.add(entry)
        else problems.add([...path, i], reason)
        if (reason === undefined && !isAnchors && losesSigns(entry)) warnings.add([...path, i], signsLost(entry))
      } else if (Object.hasOwn(source, entry.slice(1))) {
        for (const phrase of resolve(entry.slice(1), chain)) phrases.add(phrase)
      } else if (isGoneLexicon(entry.slice(1))) {
        warnings.add([...path, i], goneLexicon(entry))
      } else {
        const accepted = Object.keys(source).map((name) => `$${name}`)
        const known = accepted.length === 0 ? 'none' : accepted.join(', ')
        problems.add([...path, i], `unknown lexicon "${entry}"; known: ${known}${nearestHint(entry, accepted)}`, {
          accepted
        })
      }
    }
    return [...phrases]
  }

  for (const name of Object.keys(source)) {
    if (!namePattern.test(name))
      problems.add(['lexicons', name], `a lexicon's name must match ${namePattern.source}`, { atKey: true })
    resolve(name, [])
  }
  return {
    expand: (list, path) => expandList(list, path, []),
    expandAnchors: (list, path) => expandList(list, path, [], true)
  }
}

/** Why a phrase cannot be matched, or undefined. */
function refusal(phrase: string): string | undefined {
  const body = phrase.endsWith('*') ? phrase.slice(0, -1) : phrase
  if (body.includes('*')) return '"*" may stand only at the end of a phrase'
  if (body !== body.trimEnd() && phrase.endsWith('*')) return '"*" must follow a letter or digit'
  if (foldPhrase(body).trim() === '') return 'holds no letter or digit, so it can never match'
  return undefined
}

/**
 * Signs at an end of a word, but for quotation marks, and at its right end punctuation, which say nothing of what the
 * word means. Signs within a word separate its parts, as an author expects.
 */
const signBefore = /(?:^|\s)[^\p{L}\p{N}\p{M}\p{Cf}\p{QMark}\s¿¡…]+[\p{L}\p{N}]/u
const signAfter = /[\p{L}\p{N}\p{M}][^\p{L}\p{N}\p{M}\p{Cf}\p{QMark}\p{Term}\s…]+[\p{QMark}\p{Term}]*(?:\s|$)/u

function losesSigns(phrase: string): boolean {
  const body = phrase.endsWith('*') ? phrase.slice(0, -1) : phrase
  return signBefore.test(body) || signAfter.test(body)
}

function signsLost(phrase: string): string {
  return `phrases are compared without signs: "${phrase}" matches every "${foldPhrase(phrase).trim()}"; "patterns" keeps signs`
}

/** Kinds of the lists of `guarded:`. `config/constitutions/lists/guarded.yaml` documents each. */
export const wordKinds = ['forbids', 'tells', 'secrets', 'instructions', 'asks', 'turns', 'refers'] as const
export type WordKind = (typeof wordKinds)[number]

/** Kinds of guarded content that a text may ask for or reveal, as rules name them (`guarded: [secret]`). */
export const guardedKinds = ['secret', 'value', 'instructions'] as const
export type GuardedKind = (typeof guardedKinds)[number]

export type GuardedSource = Record<WordKind, string[]>

/** By kind, phrases. Plain data: a thread compiles it anew. */
export type GuardedWords = Readonly<Record<WordKind, readonly string[]>>

/** @param warnings receives former lists */
export function readGuardedWords(source: GuardedSource, lexicons: Lexicons, warnings: Problems): GuardedWords {
  for (const kind of goneWordKinds) {
    if (kind in source) warnings.add(['guarded', kind], goneGuarded, { atKey: true })
  }
  const lists = wordKinds.map((kind) => [kind, lexicons.expand(source[kind], ['guarded', kind])])
  return Object.fromEntries(lists) as GuardedWords
}
