/** Chooses the texts that people read, by language, source, occasion and category, and fills in their placeholders. */
import type { Audience, Occasion, Place, Said, Sentence, Spoken, TextsSource } from '../base/texts.js'
import { type Category, categories, type Evaluation, type Speech } from '../policy/evaluation.js'
import { acceptedLanguages, languageOf } from './language.js'
import { shippedLanguages, shippedTexts } from './shipped.js'
import { optionLines } from './topics.js'

/** The reader. */
export interface Hearer {
  /** The person's texts, last first: the first with a clear language decides. */
  texts: readonly string[]
  /** The header of that name. */
  acceptLanguage: string | undefined
}

export interface Happened {
  occasion: Occasion
  evaluation: Evaluation
  /** Texts of the deciding constitution; undefined: none. */
  speech: Speech | undefined
  reviewId?: string | undefined
  /** With `depends`: the offered answers. */
  topics?: readonly string[] | undefined
}

export interface WordingDeps {
  /** Texts of the configuration. */
  configured: TextsSource | undefined
  /** Texts written over the API; never rejects. */
  stored(): Promise<TextsSource | undefined>
}

/** Sources of texts in order of precedence: the constitution's, the configuration's, the API's, the shipped ones. */
type Layers = readonly TextsSource[]

const english = 'en'
/** Where the constitution names no middle band, the one that ships. */
const usualMiddle = 0.4

export class Wording {
  readonly #deps: WordingDeps

  constructor(deps: WordingDeps) {
    this.#deps = deps
  }

  async speak(happened: Happened, hearer: Hearer): Promise<Spoken> {
    const { configured, stored } = this.#deps
    const given = [happened.speech?.texts, configured, await stored()].filter((texts) => texts !== undefined)
    return speak(given, happened, hearer)
  }

  /** The categories in which people are asked what they mean; undefined: all. */
  async asked(speech: Speech | undefined): Promise<readonly Category[] | undefined> {
    return speech?.texts?.ask ?? this.#deps.configured?.ask ?? (await this.#deps.stored())?.ask
  }
}

/** The texts that ship, and no others. */
export const shippedWording = new Wording({ configured: undefined, stored: async () => undefined })

/** @param layers the texts of operators, the first before the others */
export function speak(layers: Layers, happened: Happened, hearer: Hearer): Spoken {
  const asked = acceptedLanguages(hearer.acceptLanguage)
  const category = categoryOf(happened)
  const own = hearer.texts.map(languageOf).find((language) => language !== undefined)
  const fallback = first(layers, ({ language }) => language) ?? english
  const wanted = [...(own === undefined ? [] : [own]), ...asked.map(({ language }) => language), fallback, english]
  const region = asked.find((each) => each.region !== undefined)?.region ?? first(layers, (texts) => texts.region)
  const help =
    first(layers, (texts) => (region === undefined ? undefined : texts.help?.[region])) ??
    first(layers, (texts) => texts.help?.['default'])
  const say = (audience: Audience): Said => {
    for (const language of new Set(wanted)) {
      const sentence = sentenceOf(layers, { language, audience, occasion: occasionFor(happened), category })
      if (sentence === undefined) continue
      const { reviewId, topics = [], evaluation } = happened
      const text = fill(sentence, {
        review: reviewId,
        topic: category && (shippedTexts(language) ?? shippedTexts(english))?.categories[category],
        help,
        options: topics.length === 0 || audience === 'developer' ? undefined : optionLines(topics, language),
        missing: evaluation.missing_context?.join(', ')
      })
      return { text: withOptions(text, sentence, audience, topics, language), language }
    }
    throw new Error('there are no texts in English')
  }
  return { developer: say('developer'), end_user: say('end_user') }
}

/** A doubtful request without a possible question has a sentence of its own. */
function occasionFor({ occasion, topics = [] }: Happened): Occasion {
  return occasion === 'depends' && topics.length === 0 ? 'unclear' : occasion
}

/**
 * The category whose sentence people read: the strongest that decides. A person in crisis gets help first, whatever else
 * stopped the exchange, where they say so themselves, or where nothing else that would stop it is stronger: a threat
 * against others, in which the encoder sees some self-harm too, is answered as a threat.
 */
export function categoryOf({ evaluation, speech }: Pick<Happened, 'evaluation' | 'speech'>): Category | undefined {
  const { detections, matched_rules: rules, scores } = evaluation
  const middle = speech?.middle ?? usualMiddle
  const deciding = detections.filter(({ rule }) => rules.includes(rule)).map(({ category }) => category)
  const best = strongest(deciding, evaluation)
  if (!deciding.includes('self_harm') && (scores.self_harm ?? 0) < middle) return best
  const saysSo = detections.some(
    ({ category, reader, confidence, suppressed }) =>
      category === 'self_harm' && reader === 'rule' && suppressed !== true && confidence >= middle
  )
  if (saysSo) return 'self_harm'
  const stopping = categories.filter((category) => speech?.stops(category, scores[category] ?? 0))
  const rivals = [...deciding, ...stopping].filter((category) => category !== 'self_harm')
  return strongest(['self_harm', ...rivals], evaluation)
}

/** Of equal ones the first. */
function strongest(among: readonly Category[], evaluation: Evaluation): Category | undefined {
  let best: { category: Category; strength: number } | undefined
  for (const category of new Set(among)) {
    const strength = strengthOf(category, evaluation)
    if (best === undefined || strength > best.strength) best = { category, strength }
  }
  return best?.category
}

/** The score, or a finding that is surer: `at_most` holds a score below the high band. */
function strengthOf(category: Category, { detections, scores }: Evaluation): number {
  const found = detections.filter((one) => one.category === category && one.suppressed !== true)
  return Math.max(scores[category] ?? 0, ...found.map(({ confidence }) => confidence))
}

function first<T>(layers: Layers, of: (texts: TextsSource) => T | undefined): T | undefined {
  for (const layer of layers) {
    const found = of(layer)
    if (found !== undefined) return found
  }
  return undefined
}

interface Wanted {
  language: string
  audience: Audience
  occasion: Occasion
  category: Category | undefined
}

/** A sentence for the category, from any source, precedes a general one. */
function sentenceOf(layers: Layers, { language, audience, occasion, category }: Wanted): string | undefined {
  const all = [...layers.map(({ languages }) => languages?.[language]), shippedTexts(language)]
  const written = all.map((texts) => texts?.[audience]).filter((texts) => texts !== undefined)
  const places = [occasion, 'any'] as const
  const look = (of: (sentence: Sentence) => string | undefined): string | undefined => {
    for (const texts of written) {
      for (const place of places) {
        const sentence = texts[place]
        const found = sentence === undefined ? undefined : of(sentence)
        if (found !== undefined) return found
      }
    }
    return undefined
  }
  const special = category && look((sentence) => (typeof sentence === 'string' ? undefined : sentence[category]))
  return special ?? look((sentence) => (typeof sentence === 'string' ? sentence : sentence.default))
}

/** Lines with an empty placeholder are left out. */
function fill(sentence: string, values: Readonly<Record<Place, string | undefined>>): string {
  return sentence
    .split('\n')
    .flatMap((line) => {
      let isEmpty = false
      const filled = line.replace(/\{(\w+)\}/g, (_, name: Place) => {
        const value = values[name]
        if (value === undefined || value === '') isEmpty = true
        return value ?? ''
      })
      return isEmpty ? [] : [filled]
    })
    .join('\n')
    .trim()
}

/** If an operator's question has no placeholder for the options, they are appended. */
function withOptions(
  text: string,
  sentence: string,
  audience: Audience,
  topics: readonly string[],
  language: string
): string {
  if (audience === 'developer' || topics.length === 0 || sentence.includes('{options}')) return text
  return `${text}\n${optionLines(topics, language)}`
}

/** Every language with texts, including those that operators added. */
export function spokenLanguages(layers: Layers): string[] {
  return [...new Set([...shippedLanguages, ...layers.flatMap(({ languages = {} }) => Object.keys(languages))])].sort()
}
