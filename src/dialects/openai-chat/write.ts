/**
 * Writes what the official SDKs read: OpenAI's error envelope, Azure's published content_filter error, the native refusal.
 * Shapes: platform.openai.com/docs/api-reference/chat and learn.microsoft.com/azure/ai-services/openai/concepts/content-filter.
 */
import type { Json, JsonObject } from '../../chat.js'
import type { Fault } from '../../errors.js'
import type { Category } from '../../policy/evaluation.js'
import { type Denial, denialTable, sentenceOf } from '../denial.js'
import type { TurnFacts } from '../dialect.js'
import { isObject } from '../rewrite.js'

const maxPointerLength = 256

export function error(fault: Fault, requestId: string): JsonObject {
  const details = fault.fields.details as { field?: string } | undefined
  return {
    error: {
      message: fault.message,
      type: typeOf(fault.status),
      param: details?.field ?? null,
      code: fault.code,
      ...(fault.fields as JsonObject),
      request_id: requestId
    }
  }
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

export function denied(denial: Denial, requestId: string): JsonObject {
  const { status, code } = denialTable[denial.decision]
  const { evaluation } = denial
  return {
    error: {
      message: sentenceOf(denial),
      type: 'invalid_request_error',
      param: denial.pointer?.slice(0, maxPointerLength) ?? null,
      code,
      status,
      ...(denial.decision === 'forbid' && {
        innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: filterResult(denial) }
      }),
      ...(denial.decision === 'divert' && denial.reviewId !== undefined && { review_id: denial.reviewId }),
      ...(denial.decision === 'depends' && { missing_context: evaluation.missing_context ?? [] }),
      evaluation_id: evaluation.evaluation_id,
      request_id: requestId
    }
  }
}

/** Our categories under Azure's names; its clients look for these five, whatever was found. */
const azureNames: Readonly<Partial<Record<Category, string>>> = {
  hate: 'hate',
  harassment: 'hate',
  self_harm: 'self_harm',
  sexual: 'sexual',
  sexual_minors: 'sexual',
  violence: 'violence',
  jailbreak: 'jailbreak',
  prompt_injection: 'jailbreak'
}

/** Azure's per-category results. A category that Azure does not have appears under our name where it caused the block. */
export function filterResult(denial: Denial): JsonObject {
  const { scores, detections, matched_rules: rules } = denial.evaluation
  const causes = new Set(detections.filter(({ rule }) => rules.includes(rule)).map(({ category }) => category))
  const levels = new Map([...azureFour, 'jailbreak'].map((name) => [name, { filtered: false, score: 0 }]))
  for (const category of Object.keys(scores) as Category[]) {
    const name = azureNames[category] ?? category
    const filtered = causes.has(category)
    const level = levels.get(name)
    if (level !== undefined) {
      level.filtered ||= filtered
      level.score = Math.max(level.score, scores[category])
    } else if (filtered) {
      levels.set(name, { filtered, score: scores[category] })
    }
  }
  const result: JsonObject = {}
  for (const [name, { filtered, score }] of levels) {
    result[name] =
      name === 'jailbreak' ? { filtered, detected: filtered } : { filtered, severity: severity(score, filtered) }
  }
  return result
}

const azureFour = ['hate', 'self_harm', 'sexual', 'violence']

/** Azure filters from `medium` on; what was filtered here is never shown milder than that. */
function severity(score: number, filtered: boolean): string {
  if (score >= 0.75) return 'high'
  if (filtered || score >= 0.5) return 'medium'
  return score >= 0.25 ? 'low' : 'safe'
}

const noUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

function head(object: string, { request, requestId, created }: TurnFacts): JsonObject {
  const model = typeof request.model === 'string' ? request.model : ''
  return { id: `chatcmpl-${requestId}`, object, created, model }
}

/** `forbid` is the API's own refusal; the other two are ordinary turns, so that every chat client shows them. */
function turnOf({ denial }: TurnFacts): { message: JsonObject; finish: string } {
  const sentence = sentenceOf(denial)
  return denial.decision === 'forbid'
    ? { message: { role: 'assistant', content: null, refusal: sentence }, finish: 'content_filter' }
    : { message: { role: 'assistant', content: sentence, refusal: null }, finish: 'stop' }
}

export function turn(facts: TurnFacts): JsonObject {
  const { message, finish } = turnOf(facts)
  return {
    ...head('chat.completion', facts),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: { ...noUsage }
  }
}

export function turnStream(facts: TurnFacts): string {
  const { message, finish } = turnOf(facts)
  const base = head('chat.completion.chunk', facts)
  const said = message.refusal === null ? { content: message.content! } : { refusal: message.refusal! }
  return (
    frame({
      ...base,
      choices: [choice(0, { role: 'assistant', content: said.refusal === undefined ? '' : null }, null)]
    }) +
    frame({ ...base, choices: [choice(0, said, null)] }) +
    frame({ ...base, choices: [choice(0, {}, finish)] }) +
    usageFrame(base, facts.request) +
    doneFrame
  )
}

export const doneFrame = 'data: [DONE]\n\n'

export function frame(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function choice(index: number, delta: JsonObject, finish: string | null): JsonObject {
  return { index, delta, logprobs: null, finish_reason: finish }
}

function usageFrame(base: JsonObject, request: JsonObject): string {
  const options = request.stream_options
  return isObject(options) && options.include_usage === true
    ? frame({ ...base, choices: [], usage: { ...noUsage } })
    : ''
}

/** Built anew: of the answer only its number of choices and its counts remain, so nothing of its text can. */
export function filtered(reply: JsonObject, facts: TurnFacts): JsonObject {
  const { message, finish } = turnOf(facts)
  const choices = Array.isArray(reply.choices) && reply.choices.length > 0 ? reply.choices : [null]
  return {
    ...head('chat.completion', facts),
    choices: choices.map((_, index) => ({ index, message: { ...message }, logprobs: null, finish_reason: finish })),
    usage: countsOf(reply.usage) ?? { ...noUsage }
  }
}

function countsOf(usage: Json | undefined): JsonObject | undefined {
  if (!isObject(usage)) return undefined
  return Object.fromEntries(
    Object.keys(noUsage).map((name) => [name, typeof usage[name] === 'number' ? usage[name] : 0])
  )
}

/** The end of a stream whose choices `open` have begun already. */
export function filteredStream(open: readonly number[], begun: boolean, facts: TurnFacts): string {
  const base = head('chat.completion.chunk', facts)
  const indexes = open.length === 0 ? [0] : open
  const starts = begun
    ? ''
    : indexes
        .map((index) => frame({ ...base, choices: [choice(index, { role: 'assistant', content: null }, null)] }))
        .join('')
  const refusals = indexes.map((index) =>
    frame({ ...base, choices: [choice(index, { refusal: sentenceOf(facts.denial) }, null)] })
  )
  const ends = indexes.map((index) => frame({ ...base, choices: [choice(index, {}, 'content_filter')] }))
  return starts + refusals.join('') + ends.join('') + usageFrame(base, facts.request) + doneFrame
}

export function errorFrame(fault: Fault, requestId: string): string {
  return frame(error(fault, requestId))
}
