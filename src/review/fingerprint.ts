/**
 * What is remembered of a text that a rule stopped, so that people can except it later: a keyed hash of both. Without the
 * key nobody can try out which text it was.
 */
import { createHmac } from 'node:crypto'
import type { ChatPart } from '../base/chat.js'
import { exceptable } from '../policy/decide/exceptions.js'
import type { Evaluation } from '../policy/evaluation.js'

/** Of one evaluation; a text in which more rules hold is not excepted by halves. */
const maxFingerprints = 32

export type Fingerprint = (rule: string, text: string) => string

export function createFingerprint(key: Buffer): Fingerprint {
  return (rule, text) => createHmac('sha256', key).update(`${rule}\n`).update(text).digest('hex').slice(0, 32)
}

/** Of every rule that bears on a decision, in every part that it matched in. */
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
