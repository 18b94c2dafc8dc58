/**
 * The sentences that people read in place of stopped content: their shape in a file, a constitution and the API, and
 * its validation.
 */
import { type Category, categories } from './decision.js'

/** Readers of a sentence: developers who read errors, or end users of a chat. */
export const audiences = ['developer', 'end_user'] as const
export type Audience = (typeof audiences)[number]

/** Occasions of a sentence. Those with `answer_` are about a model's answer, the others about a request. */
export const occasions = [
  'forbid',
  'divert',
  'depends',
  'unclear',
  'queue_full',
  'answer_forbid',
  'answer_divert'
] as const
export type Occasion = (typeof occasions)[number]

/** Placeholders of sentences, such as `{review}`. A line with an empty placeholder is left out. */
export const places = ['review', 'topic', 'help', 'options', 'missing'] as const
export type Place = (typeof places)[number]

/** Allowed placeholders by occasion. */
export const placesOf: Readonly<Record<Occasion | 'any', readonly Place[]>> = {
  any: ['topic', 'help'],
  forbid: ['topic', 'help'],
  divert: ['topic', 'help', 'review'],
  depends: ['topic', 'help', 'options', 'missing'],
  unclear: ['topic', 'help', 'missing'],
  queue_full: ['topic', 'help'],
  answer_forbid: ['topic', 'help'],
  answer_divert: ['topic', 'help', 'review']
}

/** One sentence for all categories, or one for each, with `default` for the others. */
export type Sentence = string | Readonly<Partial<Record<Category | 'default', string>>>
/** `any` stands for every occasion that has no sentence of its own for a category. */
export type Sentences = Readonly<Partial<Record<Occasion | 'any', Sentence>>>
export type LanguageTexts = Readonly<Partial<Record<Audience, Sentences>>>

/** A final sentence with its language. */
export interface Said {
  readonly text: string
  readonly language: string
}
/** The sentences of one occasion for all readers. */
export type Spoken = Readonly<Record<Audience, Said>>

export interface TextsSource {
  /** The language where neither the request nor its headers tell one. */
  readonly language?: string
  /** The region whose help is named where the request tells none. */
  readonly region?: string
  /** Whom a person in crisis can turn to, by region; `default` for every other. */
  readonly help?: Readonly<Record<string, string>>
  /** The categories in which people are asked what they mean; all where it is left out. */
  readonly ask?: readonly Category[]
  readonly languages?: Readonly<Record<string, LanguageTexts>>
}

/** UTF-16 units of one sentence. */
const maxSentence = 2000
const maxHelp = 500

/** Called with each problem: `accepted` lists the accepted values, `atKey` marks a wrong key. */
export type Report = (
  path: (string | number)[],
  reason: string,
  more?: { accepted?: readonly string[]; atKey?: boolean }
) => void

/** Validates texts from a file, a constitution or the API, and reports every problem with its place. */
export function checkTexts(value: unknown, report: Report): void {
  const { language, region, help, ask, languages } = mapping(
    value,
    [],
    ['language', 'region', 'help', 'ask', 'languages'],
    report
  )
  if (language !== undefined) checkLanguage(language, ['language'], report)
  if (region !== undefined && !isRegion(region)) report(['region'], regionReason)
  for (const [name, text] of Object.entries(help === undefined ? {} : mapping(help, ['help'], undefined, report))) {
    if (name !== 'default' && !isRegion(name)) report(['help', name], regionReason, { atKey: true })
    checkText(text, ['help', name], maxHelp, [], report)
  }
  if (ask !== undefined) checkAsk(ask, report)
  for (const [name, texts] of Object.entries(
    languages === undefined ? {} : mapping(languages, ['languages'], undefined, report)
  )) {
    const at = ['languages', name]
    if (checkLanguage(name, at, report, true)) checkLanguageTexts(texts, at, report)
  }
}

function checkLanguageTexts(value: unknown, at: string[], report: Report): void {
  const given = mapping(value, at, audiences, report)
  for (const audience of audiences) {
    if (given[audience] === undefined) continue
    const known = ['any', ...occasions] as const
    const sentences = mapping(given[audience], [...at, audience], known, report)
    for (const occasion of known) {
      const sentence = sentences[occasion]
      if (sentence === undefined) continue
      const path = [...at, audience, occasion]
      const accepted = placesOf[occasion]
      if (typeof sentence === 'string') {
        checkText(sentence, path, maxSentence, accepted, report)
        continue
      }
      const known = ['default', ...categories]
      const byCategory = mapping(sentence, path, known, report, 'must be a text, or texts by category')
      for (const name of known) {
        if (byCategory[name] !== undefined) checkText(byCategory[name], [...path, name], maxSentence, accepted, report)
      }
    }
  }
}

/** @param known undefined: the caller checks the keys */
function mapping(
  value: unknown,
  path: string[],
  known: readonly string[] | undefined,
  report: Report,
  reason = 'must be a mapping'
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(path, reason)
    return {}
  }
  const given = value as Record<string, unknown>
  for (const key of known === undefined ? [] : Object.keys(given)) {
    if (known!.includes(key)) continue
    report([...path, key], `unknown key (${known!.join(', ')})`, { accepted: known!, atKey: true })
  }
  return given
}

const regionReason = 'is no region (two capital letters such as DE or US)'

function isRegion(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Z]{2}$/.test(value)
}

/** Valid languages are those that ICU can name: two or three letters of ISO 639, without subtags. */
const languageNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

function checkLanguage(value: unknown, path: string[], report: Report, atKey = false): boolean {
  const isKnown = typeof value === 'string' && /^[a-z]{2,3}$/.test(value) && languageNames.of(value) !== undefined
  if (!isKnown) report(path, 'is no language (an ISO 639 code such as en, de or ja)', { atKey })
  return isKnown
}

function checkAsk(value: unknown, report: Report): void {
  if (!Array.isArray(value)) {
    report(['ask'], 'must be a list of categories')
    return
  }
  for (const [i, name] of value.entries()) {
    if (!(categories as readonly unknown[]).includes(name))
      report(['ask', i], `is no category (${categories.join(', ')})`, { accepted: categories })
  }
}

function checkText(value: unknown, path: string[], most: number, accepted: readonly Place[], report: Report): void {
  if (typeof value !== 'string' || value.trim() === '' || value.length > most) {
    report(path, `must be a text of 1 to ${most} characters`)
    return
  }
  for (const [shown, name] of value.matchAll(/\{([^{}]*)\}/g)) {
    if ((accepted as readonly string[]).includes(name!)) continue
    const known = accepted.map((place) => `{${place}}`)
    report(
      path,
      `has the unknown place ${shown.length > 40 ? '{…}' : shown} (${known.join(', ') || 'none is known here'})`,
      {
        accepted: known
      }
    )
  }
}
