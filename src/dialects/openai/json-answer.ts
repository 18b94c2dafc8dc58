/** Answers that a program reads as JSON. */
import type { Json } from '../../base/chat.js'
import { isObject } from '../rewrite.js'

/**
 * Whether the answer has to be JSON. A sentence in its place breaks the clients' parsers, some of which then ask again and
 * again; what a model has to say instead is a `refusal` (platform.openai.com/docs/guides/structured-outputs#refusals).
 * @param format `response_format` of chat completions, `text.format` of Responses
 */
export function asksForJson(format: Json | undefined): boolean {
  return isObject(format) && (format.type === 'json_schema' || format.type === 'json_object')
}
