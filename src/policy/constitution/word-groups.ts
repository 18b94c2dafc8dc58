/** The words by which a system prompt is read for what it guards, and a text for asking after it: `guarded:` of a constitution. */
import type { Lexicons } from './lexicons.js'
import type { Path } from './problems.js'

/** What a list's phrases mean. The documentation of each stands in `config/constitutions/lists/guarded.yaml`. */
export const wordKinds = [
  'forbids',
  'tells',
  'discusses',
  'does',
  'secrets',
  'persons',
  'facts',
  'instructions',
  'generic',
  'ends',
  'asks',
  'turns',
  'refers'
] as const
export type WordKind = (typeof wordKinds)[number]

/** What a text may do about what is guarded, as rules name it (`guarded: [secret]`). */
export const guardedKinds = ['secret', 'private', 'topic', 'value', 'instructions'] as const
export type GuardedKind = (typeof guardedKinds)[number]

export type GuardedSource = Record<WordKind, string[]> & { topics?: Record<string, string[]> }

/** Plain data: a thread compiles it anew. */
export interface GuardedWords {
  lists: Record<WordKind, string[]>
  /** Subjects by their names: a prompt that forbids one of a list's words forbids what all of them speak of. */
  topics: readonly string[][]
}

export function readGuardedWords(source: GuardedSource, lexicons: Lexicons): GuardedWords {
  const expand = (list: readonly string[], ...step: Path) => lexicons.expand(list, ['guarded', ...step])
  const lists = Object.fromEntries(wordKinds.map((kind) => [kind, expand(source[kind], kind)]))
  return {
    lists: lists as GuardedWords['lists'],
    topics: Object.entries(source.topics ?? {}).map(([name, list]) => expand(list, 'topics', name))
  }
}
