/** Every dialect. A literal list: the compiler holds it equal to `dialectIds`. */
import type { DialectId } from '../settings.js'
import type { Dialect } from './dialect.js'
import { openaiChat } from './openai-chat.js'

export const dialects: Readonly<Record<DialectId, Dialect>> = {
  'openai-chat': openaiChat
}
