/** Detects requests whose answer a program reads: JSON, or calls of tools. */
import type { Json } from '../../base/chat.js'
import { isObject } from '../rewrite.js'

/**
 * Whether the answer has to be JSON. A sentence in its place breaks the clients' parsers, some of which then ask again
 * and again; a model answers with a `refusal` instead (platform.openai.com/docs/guides/structured-outputs#refusals).
 * @param format `response_format` of chat completions, `text.format` of Responses
 */
export function asksForJson(format: Json | undefined): boolean {
  return isObject(format) && (format.type === 'json_schema' || format.type === 'json_object')
}

/**
 * Whether the answer has to be a call of a tool. A sentence in its place has clients that fill in objects by tools ask again
 * and again.
 * @param choice `tool_choice` of chat completions and of Responses
 */
export function asksForCall(choice: Json | undefined): boolean {
  if (!isObject(choice)) return choice === 'required' || choice === 'any'
  if (choice.type !== 'allowed_tools') return true
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice
  return allowed.mode === 'required'
}
