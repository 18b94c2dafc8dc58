/** The topics of clarification questions: a closed set, each with its value in the context. */
import type { Speech } from '../policy/evaluation.js'
import { type OptionName, shippedTexts, type TopicName, topicNames } from './shipped.js'

/** The values that constitutions name in `context: { permit: { topic: … } }`. */
const contextValue: Readonly<Record<TopicName, string>> = {
  programming: 'programming',
  games: 'gaming',
  story: 'fiction',
  nature: 'pest control',
  study: 'education',
  security: 'security research'
}

/** Options before the last, which is always "something else". */
const maxTopics = 4
/** UTF-16 units of a topic that a constitution names itself. */
const maxOwn = 60

/**
 * The topics that would settle the matched rules, as values of the context: first those with words in every language,
 * else those that the rules name. Empty: no answer would help.
 */
export function topicsFor(speech: Speech, rules: readonly string[]): string[] {
  const isHelp = (value: string) => speech.settles(rules, value)
  const known = topicNames.map((name) => contextValue[name]).filter(isHelp)
  if (known.length > 0) return known.slice(0, maxTopics)
  return speech
    .topicsOf(rules)
    .filter((value) => value.length <= maxOwn && !/[\n\r]/.test(value) && isHelp(value))
    .slice(0, maxTopics)
}

/** The name under which the files of languages have words for a topic; undefined for a constitution's own. */
export function nameOf(topic: string): TopicName | undefined {
  return topicNames.find((name) => contextValue[name] === topic)
}

/** The options as numbered lines, the last one for everything else. */
export function optionLines(topics: readonly string[], language: string): string {
  const { options } = (shippedTexts(language) ?? shippedTexts('en'))!
  const labels = topics.map((topic) => {
    const name: OptionName | undefined = nameOf(topic)
    return name === undefined ? topic : options[name]
  })
  return [...labels, options.other].map((label, i) => `${i + 1}. ${label}`).join('\n')
}

/** Whether an assistant's turn could be one of our questions, which is then looked up. */
export function looksAsked(text: string): boolean {
  return text.length <= 2500 && /^1\. \S/m.test(text) && /^2\. \S/m.test(text)
}
