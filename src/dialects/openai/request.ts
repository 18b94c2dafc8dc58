/** Reads the options that all requests of OpenAI's operations share. */
import type { JsonObject } from '../../base/chat.js'
import { booleanField, objectField, stringField } from '../fields.js'
import type { Roles } from '../walk.js'

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

export const openaiRoles: Roles = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool'
}
