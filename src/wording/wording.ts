/** Chooses the texts that people read, by language, source, occasion and category, and fills in their placeholders. */
import type { Audience, Occasion, Place, Said, Sentence, Spoken, TextsSource } from '../base/texts.js'
import type { Category, Evaluation, Speech } from '../policy/evaluation.js'
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

/** A person in crisis gets help first, whatever else stopped the exchange; otherwise the strongest category decides. */
export function categoryOf({ evaluation, speech }: Pick<Happened, 'evaluation' | 'speech'>): Category | undefined {
  const { detections, matched_rules: rules, scores } = evaluation
  if ((scores.self_harm ?? 0) >= (speech?.middle ?? usualMiddle)) return 'self_harm'
  let best: Category | undefined
  for (const { rule, category } of detections) {
    if (!rules.includes(rule)) continue
    if (category === 'self_harm') return category
    if (best === undefined || scores[category] > scores[best]) best = category
  }
  return best
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
