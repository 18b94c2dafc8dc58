/** What people can be asked about: a closed set of topics, each with the value of the context that it stands for. */
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
 * The topics that would settle what was found, as values of the context: of those that have words in every language first,
 * else of those that the rules name. Empty: nothing that a person could answer would help.
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

/** The options as a person reads them: numbered lines, the last of them for everything else. */
export function optionLines(topics: readonly string[], language: string): string {
  const { options } = (shippedTexts(language) ?? shippedTexts('en'))!
  const labels = topics.map((topic) => {
    const name: OptionName | undefined = nameOf(topic)
    return name === undefined ? topic : options[name]
  })
  return [...labels, options.other].map((label, i) => `${i + 1}. ${label}`).join('\n')
}

/** Whether an assistant's turn could be a question of ours: only then is it looked up. */
export function looksAsked(text: string): boolean {
  return text.length <= 2500 && /^1\. \S/m.test(text) && /^2\. \S/m.test(text)
}
