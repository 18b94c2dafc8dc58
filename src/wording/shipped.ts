/** The texts that ship with the program, by language: `config/texts`. Each is read when it is first asked for. */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parse } from 'yaml'
import type { LanguageTexts } from '../base/texts.js'
import type { Category } from '../policy/evaluation.js'

/** What people can be asked about, and every other thing. */
export const topicNames = ['programming', 'games', 'story', 'nature', 'study', 'security'] as const
export type TopicName = (typeof topicNames)[number]
export type OptionName = TopicName | 'other'

/** One file of `config/texts`. */
export interface ShippedLanguage extends LanguageTexts {
  /** How an option is put to a person. */
  readonly options: Readonly<Record<OptionName, string>>
  /** The words by which an answer names an option, or says yes or no. */
  readonly words: Readonly<Record<OptionName | 'yes' | 'no', readonly string[]>>
  /** Words of an answer that say nothing. */
  readonly fillers: readonly string[]
  /** What a category is called. */
  readonly categories: Readonly<Record<Category, string>>
}

const folder = new URL('../../config/texts/', import.meta.url)
/** What the build has read of them, by the SHA-256 of their text: YAML takes far longer to read. The sources have none. */
const built = new URL('./shipped.json', import.meta.url)

const known = new Map<string, ShippedLanguage>()
let byDigest: Readonly<Record<string, ShippedLanguage>> | undefined

/** The languages that ship, by their ISO 639 codes. */
export const shippedLanguages: readonly string[] = existsSync(folder)
  ? readdirSync(folder)
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => basename(name, '.yaml'))
      .sort()
  : []

/** @returns undefined where the language does not ship */
export function shippedTexts(language: string): ShippedLanguage | undefined {
  const found = known.get(language)
  if (found !== undefined || !shippedLanguages.includes(language)) return found
  const text = readFileSync(new URL(`${language}.yaml`, folder), 'utf8')
  byDigest ??= existsSync(built) ? JSON.parse(readFileSync(built, 'utf8')) : {}
  const read = byDigest?.[hash('sha256', text, 'hex')] ?? (parse(text) as ShippedLanguage)
  known.set(language, read)
  return read
}
