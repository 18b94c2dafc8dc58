/**
 * Names of persons, places and organisations in judged texts: they are reported, and replaced where a route says so,
 * but stop nothing.
 */
import type { ChatPart, Role } from '../../base/chat.js'
import { type Redactable, round } from '../../base/decision.js'
import { Fault } from '../../base/errors.js'
import { type Encoder, EncoderError, type Name, type NamesQuestion } from '../../encoder/index.js'
import { EvaluatorError, unpaidOf } from '../evaluate/evaluator-options.js'
import type { Detection, EvaluationInput } from '../evaluation.js'

/** The rule that their detections carry. */
const rule = 'names'

/** Roles whose texts are searched: people, models and tools. Only programs read definitions and parameters. */
const readRoles: ReadonlySet<Role> = new Set<Role>(['user', 'assistant', 'tool', 'system'])

/** Consecutive parts of one role, read as lines of one text, so that a short value is read in its context. */
interface Run {
  role: Role
  text: string
  parts: { part: ChatPart; start: number }[]
}

function runsOf(parts: readonly ChatPart[]): Run[] {
  const runs: Run[] = []
  for (const part of parts) {
    if (part.text === '' || !readRoles.has(part.role)) continue
    const last = runs.at(-1)
    if (last?.role === part.role) {
      last.parts.push({ part, start: last.text.length + 1 })
      last.text += `\n${part.text}`
    } else runs.push({ role: part.role, text: part.text, parts: [{ part, start: 0 }] })
  }
  return runs
}

/**
 * @throws EvaluatorError where not all texts could be read, and Fault `too_complex` where a request exceeds the limit:
 * text whose names must be redacted never passes unread
 */
export async function findNames(
  encoder: Partial<Pick<Encoder, 'names' | 'findsNames'>> | undefined,
  { parts, whose = '', cancel, pay, direction }: EvaluationInput
): Promise<Detection[]> {
  if (encoder?.findsNames !== true || encoder.names === undefined)
    throw new EvaluatorError('No encoder here can find names.')
  const runs = runsOf(parts)
  const abort = cancel === undefined ? undefined : new AbortController()
  const off = cancel?.onCancel((reason) => abort?.abort(reason))
  try {
    const asked = runs.map(
      ({ role, text }): NamesQuestion => ({ role, text, whose, ...(abort && { cancel: abort.signal }) })
    )
    const found = await encoder.names(asked, pay)
    return runs.flatMap((run, i) => detectionsOf(run, found[i]!))
  } catch (error) {
    if (error instanceof EncoderError && error.failure === 'too_long' && direction === 'request')
      throw new Fault('too_complex', {
        message: 'The request holds more text than is looked through for names.',
        fields: { details: { field: 'names', limit: null, actual: null, setting: null } }
      })
    throw unpaidOf(error) ?? new EvaluatorError('The text could not be read for names.', error)
  } finally {
    off?.()
  }
}

/** A name that crosses the end of a part becomes one in each part. Linear: both lists are in order. */
function detectionsOf({ parts }: Run, names: readonly Name[]): Detection[] {
  const found: Detection[] = []
  let at = 0
  for (const { start, end, kind, confidence } of names) {
    while (at + 1 < parts.length && parts[at + 1]!.start <= start) at++
    for (let i = at; i < parts.length && parts[i]!.start < end; i++) {
      const { part, start: first } = parts[i]!
      const span = { start: Math.max(0, start - first), end: Math.min(part.text.length, end - first) }
      if (span.start >= span.end) continue
      found.push({
        type: 'personal_data',
        category: 'personal_data',
        confidence: round(confidence),
        rule,
        span,
        layer: 'plain',
        reader: 'encoder',
        kind,
        ...(part.pointer !== '' && { pointer: part.pointer })
      })
    }
  }
  return found
}

/** @returns the replacement for a detection; undefined where it is not redacted */
export function replacementOf(
  { category, kind }: Pick<Detection, 'category' | 'kind'>,
  redact: readonly Redactable[]
): string | undefined {
  const isAsked = (redact as readonly string[]).includes(kind === undefined ? category : 'names')
  return isAsked ? `<${(kind ?? category).toUpperCase()}>` : undefined
}
