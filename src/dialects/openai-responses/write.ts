/**
 * Writes responses of the gateway's own: a message of one sentence, as a refusal (`incomplete`, content_filter) or as
 * an ordinary answer (`completed`), whole or as the run of events that the official SDKs expect. Shapes:
 * platform.openai.com/docs/api-reference/responses/object and …/responses-streaming.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Fault } from '../../base/errors.js'
import type { TurnFacts } from '../dialect.js'
import { error } from '../openai/errors.js'
import { asksForCall, asksForJson } from '../openai/json-answer.js'
import { isObject } from '../rewrite.js'
import { chain } from './resume.js'

/** One event; its name is the type of its data, which is what clients go by. */
export function eventFrame(event: JsonObject): string {
  return `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Numbers events from the one after `last`. */
export function numbered(events: readonly JsonObject[], last: number): string {
  return events
    .map(({ type, ...rest }, i) => eventFrame({ type: type!, sequence_number: last + 1 + i, ...rest }))
    .join('')
}

const noUsage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0
}

/** Every field that the API always gives, without an answer yet. */
export function emptyResponse({ request, target, requestId, created }: TurnFacts): JsonObject {
  return {
    id: chain.idOf(requestId),
    object: 'response',
    created_at: created,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: typeof request.model === 'string' ? request.model : (target.params.deployment ?? ''),
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: null
  }
}

/** `forbid` ends a response as the API's own filter does; with the other two it is complete. */
function isForbidden({ denial }: TurnFacts): boolean {
  return denial.decision === 'forbid'
}

export function refusalPart(sentence: string): JsonObject {
  return { type: 'refusal', refusal: sentence }
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

export function message(id: string, status: string, content: Json[]): JsonObject {
  return { type: 'message', id, status, role: 'assistant', content }
}

/** A response as it ends. */
export function ended(
  response: JsonObject,
  output: Json[],
  filtered: boolean,
  usage: JsonObject = noUsage
): JsonObject {
  return {
    ...response,
    status: filtered ? 'incomplete' : 'completed',
    incomplete_details: filtered ? { reason: 'content_filter' } : null,
    output,
    usage: { ...usage }
  }
}

/**
 * The message of a gateway's own response. `forbid` gives a refusal. The other two give an ordinary answer, which every
 * client shows, except where JSON or a call is requested: there a sentence can only be a refusal.
 */
function messageOf(facts: TurnFacts, isFiltered: boolean): JsonObject {
  const sentence = facts.denial.wording.end_user.text
  const { text, tool_choice: choice } = facts.request
  const isRefusal = isFiltered || (isObject(text) && asksForJson(text.format)) || asksForCall(choice)
  const part = isRefusal ? refusalPart(sentence) : textPart(sentence)
  return message(`msg_${facts.requestId}`, isFiltered ? 'incomplete' : 'completed', [part])
}

export function turn(facts: TurnFacts): JsonObject {
  const isFiltered = isForbidden(facts)
  return ended(emptyResponse(facts), [messageOf(facts, isFiltered)], isFiltered)
}

export function turnStream(facts: TurnFacts): string {
  return wholeStream(facts, isForbidden(facts))
}

/** A stream of which nothing has left yet, as filtered. */
export function filteredStream(facts: TurnFacts): string {
  return wholeStream(facts, true)
}

function wholeStream(facts: TurnFacts, isFiltered: boolean): string {
  const response = emptyResponse(facts)
  const item = messageOf(facts, isFiltered)
  const events = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...messageEvents(item, 0),
    lastEvent(ended(response, [item], isFiltered))
  ]
  return numbered(events, -1)
}

export function lastEvent(response: JsonObject): JsonObject {
  return { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response }
}

/** The events of a message of one part, which is said at once. */
export function messageEvents(item: JsonObject, outputIndex: number): JsonObject[] {
  const [part] = item.content as [JsonObject]
  const place = { item_id: item.id!, output_index: outputIndex, content_index: 0 }
  const isText = part.type === 'output_text'
  const said = isText ? { text: part.text! } : { refusal: part.refusal! }
  const tokens = isText ? { logprobs: [] } : {}
  const stem = `response.${String(part.type)}`
  return [
    {
      type: 'response.output_item.added',
      output_index: outputIndex,
      item: { ...item, status: 'in_progress', content: [] }
    },
    { type: 'response.content_part.added', ...place, part: isText ? textPart('') : refusalPart('') },
    { type: `${stem}.delta`, ...place, delta: Object.values(said)[0]!, ...tokens },
    { type: `${stem}.done`, ...place, ...said, ...tokens },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: outputIndex, item }
  ]
}

/** Built anew from the counts alone, so that none of the answer's text remains. */
export function filtered(reply: JsonObject, facts: TurnFacts): JsonObject {
  return ended(emptyResponse(facts), [messageOf(facts, true)], true, countsOf(reply.usage))
}

function countsOf(usage: Json | undefined): JsonObject {
  if (!isObject(usage)) return noUsage
  const count = (name: string) => (typeof usage[name] === 'number' ? usage[name] : 0)
  return {
    ...noUsage,
    input_tokens: count('input_tokens'),
    output_tokens: count('output_tokens'),
    total_tokens: count('total_tokens')
  }
}

/**
 * The `error` event. Its fields stand at the top, as the API's description has them, and under `error` too, as some
 * official SDKs look for them (openai/openai-python#3934).
 */
export function errorFrame(fault: Fault, requestId: string): string {
  const { error: nested } = error(fault, requestId) as { error: JsonObject }
  const { code, message: text, param } = nested
  return eventFrame({ type: 'error', sequence_number: 0, code: code!, message: text!, param: param!, error: nested })
}
