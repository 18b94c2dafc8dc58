/** What the model scores: one lane for each label, and three that judge a text as a whole. */
import { labels } from './rows.js'

export const lanes = [...labels, 'unsafe', 'harmful_request', 'harmful_answer'] as const
export type Lane = (typeof lanes)[number]

/** Lanes are kept in rows of this many numbers. */
export const WIDTH = 16
/** The last is no label: there words are counted that no training text held. */
export const UNKNOWN = WIDTH - 1
