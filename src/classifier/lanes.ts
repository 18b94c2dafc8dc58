/**
 * The lanes of the model: one for each scored label, two that judge a request and an answer as a whole, and two that
 * decide whether the encoder should read a text, for texts of users and models and for those of tools.
 */

/** Labels of training rows, under the policy's names of categories. */
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
/** The last lane is no label: it counts words unknown from training. */
export const UNKNOWN = WIDTH - 1
