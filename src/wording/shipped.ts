/** The shipped texts, by language: `config/texts`. Each is read on first use. */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parse } from 'yaml'
import type { LanguageTexts } from '../base/texts.js'
import type { Category } from '../policy/evaluation.js'

/** Topics that people can be asked about, and `other`. */
export const topicNames = ['programming', 'games', 'story', 'nature', 'study', 'security'] as const
export type TopicName = (typeof topicNames)[number]
export type OptionName = TopicName | 'other'

/** One file of `config/texts`. */
export interface ShippedLanguage extends LanguageTexts {
  /** The text of an option. */
  readonly options: Readonly<Record<OptionName, string>>
  /** Words that name an option in an answer, or mean yes or no. */
  readonly words: Readonly<Record<OptionName | 'yes' | 'no', readonly string[]>>
  /** Filler words of answers. */
  readonly fillers: readonly string[]
  /** Names of categories. */
  readonly categories: Readonly<Record<Category, string>>
}

const folder = new URL('../../config/texts/', import.meta.url)
/** The build's parsed texts, by SHA-256: YAML takes far longer to parse. Absent when run from the sources. */
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
