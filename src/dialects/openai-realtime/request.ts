/** Reads the opening of a session, and each event that a client sends in it. */
import type { ChatRequest, Json, JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { readDefinitions } from '../definitions.js'
import type { Target } from '../dialect.js'
import { readPrompt } from '../openai-responses/request.js'
import { isObject } from '../rewrite.js'
import { tokenTexts } from '../tokens.js'
import { Turns } from '../turns.js'
import { Collector, refuseTwins } from '../walk.js'
import { readItem, readMedia } from './items.js'
import { names } from './names.js'

/** The model that the target names; undefined where the upstream chooses one. */
export function modelOf({ query }: Target): string | undefined {
  const given = new URLSearchParams(query)
  return given.get('deployment') ?? given.get('model') ?? undefined
}

/** Reads the target of the upgrade. */
export function readOpening(target: Target): ChatRequest {
  const out = new Collector(names)
  const model = modelOf(target)
  if (model !== undefined)
    out.text('parameter', model, target.query.includes('deployment=') ? 'query.deployment' : 'query.model')
  return requestOf(out, model, undefined)
}

/** Fields by whose names an event is read. */
const eventFields = new Set(['type', 'event_id', 'item', 'item_id', 'previous_item_id', 'session', 'response', 'audio'])

/** @throws Fault `validation_error` where the event has no type, so that its meaning is unknown */
export function readEvent(event: JsonObject, target: Target): ChatRequest {
  const { type } = event
  if (type === undefined) throw invalid('type', 'missing', 'The field type is required.')
  if (typeof type !== 'string') throw invalid('type', 'wrong_type', 'type must be a string.')
  refuseTwins(event, '', eventFields)
  const out = new Collector(names)
  out.word('user', type, '/type')
  const taken = new Set(['type'])
  const metadata = readBody(out, event, type, taken)
  // The role of the texts in an unknown event is unknown: they count as the user's.
  out.rest(names.has(type) ? 'parameter' : 'user', event, '', taken)
  return requestOf(out, modelOf(target), metadata)
}

/** Reads the object that the event carries. @returns its metadata object */
function readBody(out: Collector, event: JsonObject, type: string, taken: Set<string>): JsonObject | undefined {
  const about = { 'session.update': 'session', 'response.create': 'response' }[type]
  if (about !== undefined && isObject(event[about])) {
    taken.add(about)
    return readSettings(out, event[about], `/${about}`)
  }
  if (type === 'conversation.item.create' && isObject(event.item)) {
    taken.add('item')
    const turns = new Turns(out)
    readTurn(out, turns, event.item, '/item')
    turns.end()
  } else if (type === 'input_audio_buffer.append') {
    taken.add('audio')
    readMedia(out, 'audio', 'user', event.audio, '/audio')
  }
  return undefined
}

const settingFields = new Set(['instructions', 'tools', 'prompt', 'input'])

/** Reads the settings of a session or of one response. */
function readSettings(out: Collector, settings: JsonObject, pointer: string): JsonObject | undefined {
  const turns = new Turns(out)
  const { instructions, input, metadata } = settings
  if (typeof instructions === 'string') {
    turns.add('system', [out.text('system', instructions, `${pointer}/instructions`)])
  } else out.walk('system', instructions, `${pointer}/instructions`)
  // A stored prompt stands before the input.
  const variables = readPrompt(out, settings.prompt, `${pointer}/prompt`)
  if (variables.length > 0) turns.add('user', variables)
  if (Array.isArray(input)) {
    for (const [i, item] of input.entries()) readTurn(out, turns, item, `${pointer}/input/${i}`)
  } else out.walk('user', input, `${pointer}/input`)
  turns.end()
  readDefinitions(out, settings.tools, `${pointer}/tools`)
  out.rest('parameter', settings, pointer, settingFields)
  return isObject(metadata) ? metadata : undefined
}

function readTurn(out: Collector, turns: Turns, item: Json, pointer: string): void {
  if (!isObject(item)) {
    out.walk('user', item, pointer)
    return
  }
  const { role, indexes } = readItem(out, item, 'user', pointer)
  turns.add(role, indexes)
}

/**
 * Reads the upstream's transcript of a user: the caller's words, though the upstream sends them.
 * @param spelled the text from earlier events
 */
export function readTranscript(event: JsonObject, spelled: string): ChatRequest {
  const out = new Collector(names)
  const taken = new Set(['type', 'transcript', 'logprobs'])
  out.word('parameter', String(event.type), '/type')
  out.walk('user', event.transcript, '/transcript')
  if (spelled !== event.transcript) out.text('user', spelled, 'deltas')
  for (const text of tokenTexts(event.logprobs, out, 'user', '/logprobs')) out.text('user', text, '/logprobs')
  out.rest('user', event, '', taken)
  return requestOf(out, undefined, undefined)
}

function requestOf(out: Collector, model: string | undefined, metadata: JsonObject | undefined): ChatRequest {
  const { parts, joined, media } = out
  return { stream: false, model, metadata, session: undefined, parts, joined, media }
}
