/** Server-sent events as OpenAI's operations send them. */
import type { JsonObject } from '../../base/chat.js'

/** An event without a name, as all operations but Responses send it. */
export function dataFrame(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** The end marker of the operations that have one. */
export const endMarker = '[DONE]'
export const doneFrame = `data: ${endMarker}\n\n`
