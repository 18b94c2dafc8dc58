/** When people read a sentence, and the places that it may have, as listed in `docs/texts.md`. */
import type { Sentence } from '../types'

export interface Occasion {
  title: string
  places: readonly string[]
}

export const occasions: Readonly<Record<string, Occasion>> = {
  forbid: { title: 'Refused', places: ['topic', 'help'] },
  divert: { title: 'A person decides', places: ['topic', 'help', 'review'] },
  depends: { title: 'The person is asked', places: ['topic', 'help', 'options', 'missing'] },
  unclear: { title: 'Nothing can be asked', places: ['topic', 'help', 'missing'] },
  queue_full: { title: 'The queue is full', places: ['topic', 'help'] },
  answer_forbid: { title: 'The answer is withheld', places: ['topic', 'help'] },
  answer_divert: { title: 'A person decides on the answer', places: ['topic', 'help', 'review'] },
  any: { title: 'Any occasion', places: ['topic', 'help'] }
}

/** The content of each place when a sentence is shown. */
export const places: Readonly<Record<string, string>> = {
  topic: 'the name of the category',
  help: 'the help for the region',
  review: 'the id of the review',
  options: 'the numbered choices',
  missing: 'the context that would settle it'
}

export const audienceNames = [
  { value: 'end_user', label: 'End users' },
  { value: 'developer', label: 'Developers' }
]

/** The sentence for an occasion in a category: the category's own, else the one for every category. */
export function toldAt(sentences: readonly Sentence[]): (occasion: string, category: string) => string | undefined {
  const at = (occasion: string, category: string) =>
    sentences.find((one) => one.occasion === occasion && one.category === category)?.text
  return (occasion, category) => at(occasion, category) ?? at(occasion, 'default')
}

const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
export const languageName = (language: string): string =>
  (isForm(language) ? languages.of(language) : undefined) ?? language
/** As the gateway takes it: two or three letters of ISO 639. */
export const isLanguage = (code: string): boolean => isForm(code) && languages.of(code) !== undefined
const isForm = (code: string): boolean => /^[a-z]{2,3}$/.test(code)

const regions = new Intl.DisplayNames('en', { type: 'region' })
/** `Germany`; the code itself where it is no region. */
export function regionName(code: string): string {
  try {
    return code === 'default' ? 'Everywhere else' : (regions.of(code) ?? code)
  } catch {
    return code
  }
}
