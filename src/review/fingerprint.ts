/**
 * Fingerprints for exceptions: a keyed hash of a stopped text and its rule. Without the key nobody can test guesses of
 * the text.
 */
import { createHmac } from 'node:crypto'
import type { ChatPart } from '../base/chat.js'
import { exceptable } from '../policy/decide/exceptions.js'
import type { Evaluation } from '../policy/evaluation.js'

/** Most fingerprints of one evaluation; a text with more gets no exception at all. */
const maxFingerprints = 32

/**
 * Texts that differ only in white space at their ends, or in how Unicode writes the same letters, have the same
 * fingerprint: clients and editors change both unseen.
 */
export type Fingerprint = (rule: string, text: string) => string

export function createFingerprint(key: Buffer): Fingerprint {
  return (rule, text) => {
    const same = text.trim().normalize('NFC')
    return createHmac('sha256', key).update(`${rule}\n`).update(same).digest('hex').slice(0, 32)
  }
}

/** Fingerprints of every deciding rule, in every part that it matched. */
export function fingerprintsOf(
  fingerprint: Fingerprint,
  { detections, matched_rules: rules }: Pick<Evaluation, 'detections' | 'matched_rules'>,
  parts: readonly ChatPart[]
): string[] {
  const found = exceptable(
    detections.filter(({ rule }) => rules.includes(rule)),
    parts
  )
  return found.length > maxFingerprints ? [] : found.map(({ rule, part }) => fingerprint(rule, parts[part]!.text))
}
