/** Decisions, categories and their names, which settings, rules, wire and storage share: docs/api.md, section 4. */

/** From the mildest to the strictest: a combination of verdicts takes the strictest. */
export const decisions = ['permit', 'depends', 'divert', 'forbid'] as const
export type Decision = (typeof decisions)[number]

export function strictest(a: Decision, b: Decision): Decision {
  return decisions.indexOf(a) >= decisions.indexOf(b) ? a : b
}

export const categories = [
  'hate',
  'harassment',
  'violence',
  'self_harm',
  'sexual',
  'sexual_minors',
  'illicit',
  'cyber_misuse',
  'weapons',
  'prompt_injection',
  'jailbreak',
  'personal_data',
  'secrets',
  'misinformation',
  'profanity'
] as const
export type Category = (typeof categories)[number]

export const detectionTypes = [
  'policy_violation',
  'prompt_injection',
  'jailbreak',
  'personal_data',
  'secret',
  'obfuscation',
  'session_risk'
] as const
export type DetectionType = (typeof detectionTypes)[number]

/**
 * Kinds of readers: `rule` for words and patterns, `screen` for the classifier, `encoder`, `judge` for a heavier judge,
 * `detector` for every other detector.
 */
export const readers = ['rule', 'detector', 'screen', 'encoder', 'judge'] as const
export type Reader = (typeof readers)[number]

/** Kinds that a route or a caller can have redacted. */
export const redactables = ['personal_data', 'secrets', 'names'] as const
export type Redactable = (typeof redactables)[number]

/** Rounds a score for comparison and display, so that a shown score never contradicts its decision. */
export function round(score: number): number {
  return Math.round(score * 10_000) / 10_000
}
