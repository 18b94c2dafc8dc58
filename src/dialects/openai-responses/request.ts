/** Reads `POST /v1/responses`: instructions, input items, tools, schemas, and every other leaf and key with its role. */
import type { ChatRequest, Json, JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { readDefinitions } from '../definitions.js'
import { booleanField, objectField, stringField } from '../fields.js'
import { readPart } from '../openai/content.js'
import { names } from '../openai/names.js'
import { readOptions } from '../openai/request.js'
import { readTokenFields } from '../openai/token-fields.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { Turns } from '../turns.js'
import { Collector } from '../walk.js'
import { readItem } from './items.js'

const bodyFields = new Set(['input', 'instructions', 'tools', 'text', 'prompt'])
/** Fields that bring words of their own, so that a request with one of them needs no input. */
const goesOn = ['prompt', 'previous_response_id', 'conversation']

export function readRequest(body: JsonObject): ChatRequest {
  const { input } = body
  const options = readOptions(body)
  const instructions = stringField(body, 'instructions')
  const after = stringField(body, 'previous_response_id')
  for (const name of ['user', 'safety_identifier']) stringField(body, name)
  if (isGiven(body.tools) && !Array.isArray(body.tools)) {
    throw invalid('tools', 'wrong_type', 'tools must be an array.')
  }
  objectField(body, 'text')
  if (booleanField(body, 'background') === true && !options.stream) {
    const why = 'background needs stream: the paths that answers are fetched from later are not served here.'
    throw invalid('background', 'unknown_value', why)
  }

  const out = new Collector(names)
  const turns = new Turns(out)
  if (instructions !== undefined) turns.add('system', [out.text('system', instructions, '/instructions')])
  // A stored prompt stands before the input.
  const variables = readPrompt(out, body.prompt)
  if (variables.length > 0) turns.add('user', variables)
  if (typeof input === 'string') turns.add('user', [out.text('user', input, '/input')])
  else if (Array.isArray(input)) readInput(out, turns, input)
  else if (isGiven(input)) throw invalid('input', 'wrong_type', 'input must be a string or an array of items.')
  else if (!goesOn.some((name) => isGiven(body[name])))
    throw invalid('input', 'missing', 'The field input is required.')
  turns.end()
  readDefinitions(out, body.tools, '/tools')
  if (Array.isArray(body.tools)) readToolFiles(out, body.tools)
  readDefinitions(out, body.text, '/text')
  readTokenFields(out, body)
  out.rest('parameter', body, '', bodyFields)
  return {
    ...options,
    parts: out.parts,
    joined: out.joined,
    media: out.media,
    session: conversationOf(body),
    ...(after !== undefined && { after }),
    // Kept unless the caller says otherwise.
    ...(body.store !== false && { isKept: true })
  }
}

function readInput(out: Collector, turns: Turns, input: readonly Json[]): void {
  if (input.length === 0) throw invalid('input', 'empty', 'The field input must not be empty.')
  for (const [i, item] of input.entries()) {
    const field = `input.${i}`
    if (!isObject(item)) throw invalid(field, 'wrong_type', 'An item must be an object.')
    if (item.role !== undefined && typeof item.role !== 'string') {
      throw invalid(`${field}.role`, 'wrong_type', 'role must be a string.')
    }
    const { role, indexes } = readItem(out, item, 'user', `/input/${i}`, field)
    turns.add(role, indexes)
  }
}

/** Files in the container of a tool: the model can read them, but the gateway cannot. */
function readToolFiles(out: Collector, tools: readonly Json[]): void {
  for (const [i, tool] of tools.entries()) {
    if (!isObject(tool) || !isObject(tool.container)) continue
    const { file_ids: files } = tool.container
    if (!Array.isArray(files)) continue
    for (const each of files.keys()) out.media.push({ pointer: `/tools/${i}/container/file_ids/${each}`, kind: 'file' })
  }
}

/**
 * A prompt stored by the API, with the caller's variables.
 * @returns indexes of the texts of the variables, which a model reads as one
 */
export function readPrompt(out: Collector, prompt: Json | undefined, pointer = '/prompt'): number[] {
  if (!isObject(prompt) || !isObject(prompt.variables)) {
    out.walk('parameter', prompt, pointer)
    return []
  }
  out.rest('parameter', prompt, pointer, new Set(['variables']))
  const { variables } = prompt
  const before = out.parts.length
  for (const name of Object.keys(variables)) {
    const at = `${pointer}/variables/${pointerSegment(name)}`
    out.key('user', name, at)
    const value = variables[name]!
    if (isObject(value)) readPart(out, value, 'user', at)
    else out.walk('user', value, at)
  }
  const indexes = out.since(before)
  out.join(indexes)
  return indexes
}

/** The API's own id of a conversation. A chain by `previous_response_id` has a new id each time: see `after`. */
function conversationOf({ conversation }: JsonObject): string | undefined {
  if (!isGiven(conversation) || typeof conversation === 'string') return conversation ?? undefined
  if (isObject(conversation) && typeof conversation.id === 'string') return conversation.id
  throw invalid('conversation', 'wrong_type', 'conversation must be a string or an object with an id.')
}

function isGiven(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}
