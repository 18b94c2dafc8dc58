/** The values that fields of a constitution accept. */
import { roles } from '../../base/chat.js'

/** Whose words a rule reads; `quoted`: what a user's text quotes, which somebody else may have written. */
export const ruleRoles = [...roles, 'quoted'] as const
export type RuleRole = (typeof ruleRoles)[number]

/** Which texts the encoder reads: see `docs/readers.md`. */
export const readerModes = ['thorough', 'balanced', 'fast'] as const
export type ReaderMode = (typeof readerModes)[number]
/** Which matches a context settles: those of any score, or those below the high band. */
export const settlings = ['all', 'middle'] as const
