/**
 * Writes what Cohere's SDKs read: errors with a `message`, a whole chat, and the same as a full run of events. This API
 * has no finish reason for a policy refusal: a withheld answer ends with `ERROR`, like one that could not be finished.
 * Shapes: docs.cohere.com/reference/chat and docs.cohere.com/reference/errors.
 */
import type { JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import { type Denial, refusalOf } from '../denial.js'
import type { TurnFacts } from '../dialect.js'
import { isObject } from '../rewrite.js'

/** The SDKs show `message`, so the code comes first in it; programs find further fields beside it. */
function envelope(code: string, sentence: string, requestId: string, more: JsonObject): JsonObject {
  return { id: requestId, message: `${code}: ${sentence}`, ...more }
}

export function error(fault: Fault, requestId: string): JsonObject {
  return envelope(fault.code, fault.message, requestId, fault.fields as JsonObject)
}

export function denied(denial: Denial, requestId: string): JsonObject {
  const { evaluation, pointer } = denial
  return envelope(refusalOf(denial).code, denial.wording.developer.text, requestId, {
    ...(pointer !== undefined && { pointer }),
    ...(denial.decision === 'divert' && denial.reviewId !== undefined && { review_id: denial.reviewId }),
    ...(denial.decision === 'depends' && { missing_context: evaluation.missing_context ?? [] }),
    evaluation_id: evaluation.evaluation_id
  })
}

const counted = ['input_tokens', 'output_tokens'] as const
const usageFields = ['billed_units', 'tokens'] as const

/** The counts of an answer, and nothing else of it. */
function usageOf(usage: unknown): JsonObject {
  const given = isObject(usage as JsonObject) ? (usage as JsonObject) : {}
  return Object.fromEntries(
    usageFields.map((field) => {
      const counts = isObject(given[field]) ? given[field] : {}
      return [field, Object.fromEntries(counted.map((name) => [name, numberOf(counts[name])]))]
    })
  )
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function finishOf({ denial }: TurnFacts): string {
  return denial.decision === 'forbid' ? 'ERROR' : 'COMPLETE'
}

function chat(facts: TurnFacts, usage: JsonObject): JsonObject {
  return {
    id: facts.requestId,
    finish_reason: finishOf(facts),
    message: { role: 'assistant', content: [{ type: 'text', text: facts.denial.wording.end_user.text }] },
    usage
  }
}

export function turn(facts: TurnFacts): JsonObject {
  return chat(facts, usageOf(undefined))
}

/** Built anew from the counts alone, so that none of the answer's text remains. */
export function filtered(reply: JsonObject, facts: TurnFacts): JsonObject {
  return chat(facts, usageOf(reply.usage))
}

export function frame(event: JsonObject): string {
  return `event: ${event.type as string}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Follows `message-end`. */
export const endMarker = '[DONE]'
export const doneFrame = `data: ${endMarker}\n\n`

/** Parts that can be open, by the names of their events. */
export type Opened = 'content' | 'tool-call' | 'citation'

/** The part of a stream that a client has seen. */
export interface SeenOfStream {
  started: boolean
  /** Begun and not ended indexes, by the names of their events. */
  open: Readonly<Record<Opened, ReadonlySet<number>>>
  /** The index of a further block. */
  next: number
  /** `message-end` was told. */
  stopped: boolean
}

const none: ReadonlySet<number> = new Set()

export function turnStream(facts: TurnFacts): string {
  const open = { content: none, 'tool-call': none, citation: none }
  return filteredStream({ started: false, open, next: 0, stopped: false }, facts)
}

/** Ends a stream at any point: open parts are ended, one more block gives the reason, and the message ends. */
export function filteredStream({ started, open, next, stopped }: SeenOfStream, facts: TurnFacts): string {
  const { requestId: id, denial } = facts
  const start = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
  const begin = { message: { content: { type: 'text', text: '' } } }
  const say = { message: { content: { text: denial.wording.end_user.text } } }
  const events: JsonObject[] = [
    ...(started ? [] : [{ id, type: 'message-start', delta: { message: start } }]),
    ...Object.entries(open).flatMap(([name, indexes]) => [...indexes].map((index) => ({ type: `${name}-end`, index }))),
    ...(stopped
      ? []
      : [
          { type: 'content-start', index: next, delta: begin },
          { type: 'content-delta', index: next, delta: say },
          { type: 'content-end', index: next },
          { type: 'message-end', delta: { finish_reason: finishOf(facts), usage: usageOf(undefined) } }
        ])
  ]
  return events.map(frame).join('') + doneFrame
}

/** This API's event for a failed generation; the end marker does not follow. */
export function errorFrame(fault: Fault, requestId: string): string {
  const { message } = error(fault, requestId)
  return frame({ id: requestId, type: 'message-end', delta: { finish_reason: 'ERROR', error: message! } })
}
