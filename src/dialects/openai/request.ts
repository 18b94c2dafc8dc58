/** Reads the options that all requests of OpenAI's operations share. */
import type { JsonObject, Role } from '../../base/chat.js'
import { booleanField, objectField, stringField } from '../fields.js'

export interface RequestOptions {
  stream: boolean
  model: string | undefined
  metadata: JsonObject | undefined
}

/** @throws Fault `validation_error` */
export function readOptions(body: JsonObject): RequestOptions {
  return {
    model: stringField(body, 'model'),
    // A backend that coerces "true" would stream what was read here as not streamed.
    stream: booleanField(body, 'stream') === true,
    metadata: objectField(body, 'metadata')
  }
}

const roleOf: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool'
}

/** A role that these APIs do not know is judged as the caller's own words (and as a text itself, by whoever reads it). */
export function roleNamed(name: string): Role {
  return Object.hasOwn(roleOf, name) ? roleOf[name]! : 'user'
}
