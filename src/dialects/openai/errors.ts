/**
 * Writes the errors of OpenAI's family of operations: OpenAI's error envelope, and for policy refusals Azure's
 * published content_filter error. Shapes: platform.openai.com/docs/guides/error-codes and
 * learn.microsoft.com/azure/ai-services/openai/concepts/content-filter.
 */
import type { JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import type { Category } from '../../policy/evaluation.js'
import { type Denial, refusalOf } from '../denial.js'
import { dataFrame } from './frames.js'

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
  const { status, code } = refusalOf(denial)
  const { evaluation } = denial
  return {
    error: {
      message: denial.wording.developer.text,
      type: 'invalid_request_error',
      param: denial.pointer?.slice(0, maxPointerLength) ?? null,
      code,
      status,
      ...(denial.decision === 'forbid' &&
        denial.full === undefined && {
          innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: filterResult(denial) }
        }),
      ...(denial.decision === 'divert' && denial.reviewId !== undefined && { review_id: denial.reviewId }),
      ...(denial.decision === 'depends' && { missing_context: evaluation.missing_context ?? [] }),
      evaluation_id: evaluation.evaluation_id,
      request_id: requestId
    }
  }
}

/** Azure's names of our categories; its clients always expect these five. */
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

/** Azure filters from `medium` on, so filtered content is never shown as milder. */
function severity(score: number, filtered: boolean): string {
  if (score >= 0.75) return 'high'
  if (filtered || score >= 0.5) return 'medium'
  return score >= 0.25 ? 'low' : 'safe'
}

/** A frame that tells of a failure in mid-stream; the official SDKs throw at it. */
export function errorFrame(fault: Fault, requestId: string): string {
  return dataFrame(error(fault, requestId))
}
