/**
 * One JSON-RPC message (jsonrpc.org/specification), read strictly: a message that parsers could classify differently is
 * refused. Batches, which only one old revision had, are refused.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { isObject } from '../rewrite.js'

export type MessageId = string | number

export type Message =
  | { kind: 'request'; id: MessageId; method: string; params: JsonObject; body: JsonObject }
  | { kind: 'notification'; id: undefined; method: string; params: JsonObject; body: JsonObject }
  | { kind: 'response'; id: MessageId; result: JsonObject | undefined; body: JsonObject }

/** Visible ASCII and blanks: an id is returned unchanged, and must not carry a text. */
const idForm = /^[\x20-\x7e]{0,128}$/
const methodForm = /^[A-Za-z0-9_$./-]{1,128}$/

const fields = {
  request: new Set(['jsonrpc', 'id', 'method', 'params']),
  response: new Set(['jsonrpc', 'id', 'result', 'error'])
}

/** @throws Fault `validation_error` that names the field */
export function readMessage(body: Json): Message {
  if (Array.isArray(body)) throw invalid('', 'wrong_type', 'Batches are not taken: send one message at a time.')
  if (!isObject(body)) throw invalid('', 'wrong_type', 'The body must be one JSON-RPC message.')
  if (body.jsonrpc !== '2.0') throw invalid('jsonrpc', 'unknown_value', 'jsonrpc must be "2.0".')
  const isRequest = body.method !== undefined
  for (const name of Object.keys(body)) {
    if (!fields[isRequest ? 'request' : 'response'].has(name)) {
      throw invalid(
        '',
        'unknown_field',
        'A message has jsonrpc, id, method and params, or jsonrpc, id, and result or error.'
      )
    }
  }
  return isRequest ? readCall(body) : readResponse(body)
}

function readCall(body: JsonObject): Message {
  const { method, params = {} } = body
  if (typeof method !== 'string' || !methodForm.test(method)) {
    throw invalid('method', 'invalid_format', 'method must be the name of a method.')
  }
  if (!isObject(params)) throw invalid('params', 'wrong_type', 'params must be an object.')
  if (params._meta !== undefined && !isObject(params._meta)) {
    throw invalid('params._meta', 'wrong_type', 'params._meta must be an object.')
  }
  if (!Object.hasOwn(body, 'id')) return { kind: 'notification', id: undefined, method, params, body }
  return { kind: 'request', id: readId(body.id), method, params, body }
}

function readResponse(body: JsonObject): Message {
  const { result, error } = body
  const has = (name: string) => Object.hasOwn(body, name)
  if (has('result') === has('error')) throw invalid('', 'missing', 'A response has a result or an error.')
  if (has('result') && !isObject(result)) throw invalid('result', 'wrong_type', 'result must be an object.')
  if (has('error') && !isError(error))
    throw invalid('error', 'wrong_type', 'error must be an object with code and message.')
  return { kind: 'response', id: readId(body.id), result: result as JsonObject | undefined, body }
}

function isError(error: Json | undefined): boolean {
  return isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string'
}

function readId(id: Json | undefined): MessageId {
  if (Number.isSafeInteger(id)) return id as number
  if (typeof id === 'string' && idForm.test(id)) return id
  throw invalid('id', 'invalid_format', 'id must be a whole number, or at most 128 visible characters of ASCII.')
}
