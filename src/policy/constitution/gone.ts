/**
 * Former names of the shipped constitution, so that overlays stored in those days can still be read: see `extend.ts`.
 */
import { readFileSync } from 'node:fs'

interface Gone {
  rules: ReadonlySet<string>
  lexicons: ReadonlySet<string>
}

let gone: Gone | undefined

function read(): Gone {
  const file = new URL('../../../config/constitutions/gone.json', import.meta.url)
  const { rules, lexicons } = JSON.parse(readFileSync(file, 'utf8')) as { rules: string[]; lexicons: string[] }
  return { rules: new Set(rules), lexicons: new Set(lexicons) }
}

export function isGoneRule(name: string): boolean {
  gone ??= read()
  return gone.rules.has(name)
}

export function isGoneLexicon(name: string): boolean {
  gone ??= read()
  return gone.lexicons.has(name)
}

export function goneLexicon(entry: string): string {
  return `the shipped constitution has no lexicon "${entry}" any more: it matches nothing`
}

/** Former lists of `guarded:`, and kinds of it in rules: subjects, acts and facts about people that a prompt keeps. */
export const goneWordKinds = ['discusses', 'does', 'persons', 'facts', 'generic', 'ends', 'topics'] as const
export const goneGuardedKinds = ['private', 'topic'] as const

export const goneGuarded =
  'matches nothing any more: the rule reader_guarded finds subjects, acts and facts about people that a prompt keeps'

/** A schema whose former names are still accepted: values of an enum in `former`, fields that are `deprecated`. */
export interface Marked {
  properties?: Readonly<Record<string, { deprecated?: boolean }>>
  enum?: readonly string[]
  former?: readonly string[]
}

/** The fields of a schema, less former ones, which nobody should write anew. */
export function fieldsOf({ properties = {} }: Marked = {}): string[] {
  return Object.keys(properties).filter((name) => properties[name]!.deprecated !== true)
}

/** The values of an enum, less former ones. */
export function valuesOf({ enum: values = [], former = [] }: Marked = {}): string[] {
  return values.filter((value) => !former.includes(value))
}
