/**
 * What the model scores: one lane for each label that it is asked for, two that judge a request and an answer as a whole,
 * and two that say whether a text is worth the encoder's time, in the words of a user or a model and in those of a tool.
 */

/** What rows are labelled with, named as the policy names its categories. */
export const labels = [
  'hate',
  'harassment',
  'violence',
  'self_harm',
  'sexual',
  'illicit',
  'cyber_misuse',
  'weapons',
  'jailbreak',
  'prompt_injection',
  'misinformation',
  'profanity'
] as const
export type Label = (typeof labels)[number]

/** The labels that have a lane. */
export const scored = labels.filter((label): label is Exclude<Label, 'misinformation'> => label !== 'misinformation')
export const lanes = [...scored, 'harmful_request', 'harmful_answer', 'screen', 'screen_tool'] as const
export type Lane = (typeof lanes)[number]

/** The number of a lane; -1 where there is none of that name. */
export function laneNumber(name: string): number {
  return (lanes as readonly string[]).indexOf(name)
}

/** Lanes are kept in rows of this many numbers. */
export const WIDTH = 16
/** The last is no label: there words are counted that no training text held. */
export const UNKNOWN = WIDTH - 1
