/** Writes answers that are lists of choices (chat completions and completions): turns of the gateway, and filtered ends. */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Denial } from '../denial.js'
import type { Dialect, TurnFacts } from '../dialect.js'
import { isObject } from '../rewrite.js'
import { dataFrame, doneFrame } from './frames.js'
import { asksForCall, asksForJson } from './json-answer.js'

/** The shape of a choice in one operation. */
export interface ChoiceShape {
  idPrefix: string
  object: string
  chunkObject: string
  /** A choice with one sentence, as the model's refusal or its answer. */
  saying(sentence: string, isRefusal: boolean): JsonObject
  /** The same, choice by choice, as increments of a stream. */
  increments(sentence: string, isRefusal: boolean): JsonObject[]
  /** A withheld choice. */
  withheld(sentence: string): JsonObject
  /** The increments of a withheld choice in a stream, whether it has begun or not. */
  withheldIncrements(sentence: string, begun: boolean): JsonObject[]
  /** An increment that adds nothing. */
  nothing: JsonObject
}

export interface ChoiceWriter extends Pick<Dialect, 'turn' | 'turnStream' | 'filtered'> {
  /** The end of a stream whose choices `open` have begun already, where `begun`. */
  filteredStream(open: readonly number[], begun: boolean, facts: TurnFacts): string
}

const noUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

export function writeChoices(shape: ChoiceShape): ChoiceWriter {
  const head = (object: string, { request, target, requestId, created }: TurnFacts): JsonObject => ({
    id: `${shape.idPrefix}${requestId}`,
    object,
    created,
    model: typeof request.model === 'string' ? request.model : (target.params.deployment ?? '')
  })
  return {
    turn(facts) {
      const said = shape.saying(facts.denial.wording.end_user.text, isSaidAsRefusal(facts))
      return { ...head(shape.object, facts), choices: [choice(0, said, finishOf(facts.denial))], usage: { ...noUsage } }
    },
    turnStream(facts) {
      const base = head(shape.chunkObject, facts)
      const said = shape.increments(facts.denial.wording.end_user.text, isSaidAsRefusal(facts))
      return (
        said.map((each) => dataFrame({ ...base, choices: [choice(0, each, null)] })).join('') +
        dataFrame({ ...base, choices: [choice(0, shape.nothing, finishOf(facts.denial))] }) +
        usageFrame(base, facts.request) +
        doneFrame
      )
    },
    // Built anew from the number of choices and the counts alone, so that none of the answer's text remains.
    filtered(reply, facts) {
      const choices = Array.isArray(reply.choices) && reply.choices.length > 0 ? reply.choices : [null]
      const withheld = shape.withheld(facts.denial.wording.end_user.text)
      return {
        ...head(shape.object, facts),
        choices: choices.map((_, index) => choice(index, { ...withheld }, 'content_filter')),
        usage: countsOf(reply.usage) ?? { ...noUsage }
      }
    },
    filteredStream(open, begun, facts) {
      const base = head(shape.chunkObject, facts)
      const indexes = open.length === 0 ? [0] : open
      const said = shape.withheldIncrements(facts.denial.wording.end_user.text, begun)
      const frames = [...said.map((each) => [each, null] as const), [shape.nothing, 'content_filter'] as const].flatMap(
        ([each, finish]) => indexes.map((index) => dataFrame({ ...base, choices: [choice(index, each, finish)] }))
      )
      return frames.join('') + usageFrame(base, facts.request) + doneFrame
    }
  }
}

/**
 * `forbid` is the API's own refusal. The other two are ordinary turns, so that every client shows them, except where
 * JSON or a call is requested: there a sentence can only be a refusal.
 */
function isSaidAsRefusal({ denial, request }: TurnFacts): boolean {
  return denial.decision === 'forbid' || asksForJson(request.response_format) || asksForCall(request.tool_choice)
}

function finishOf({ decision }: Denial): string {
  return decision === 'forbid' ? 'content_filter' : 'stop'
}

function choice(index: number, content: JsonObject, finish: string | null): JsonObject {
  return { index, ...content, logprobs: null, finish_reason: finish }
}

function usageFrame(base: JsonObject, request: JsonObject): string {
  const options = request.stream_options
  return isObject(options) && options.include_usage === true
    ? dataFrame({ ...base, choices: [], usage: { ...noUsage } })
    : ''
}

function countsOf(usage: Json | undefined): JsonObject | undefined {
  if (!isObject(usage)) return undefined
  return Object.fromEntries(
    Object.keys(noUsage).map((name) => [name, typeof usage[name] === 'number' ? usage[name] : 0])
  )
}
