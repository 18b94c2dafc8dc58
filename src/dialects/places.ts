/** Removes a client's own words from pointers: a segment may be a key that the client chose, which is a text. */
import { names as anthropic } from './anthropic/names.js'
import { names as bedrock } from './bedrock/names.js'
import { names as cohere } from './cohere/names.js'
import { names as gemini } from './gemini/names.js'
import { names as mcp } from './mcp/names.js'
import { names as ollama } from './ollama/names.js'
import { names as openai } from './openai-realtime/names.js'

/** Names of places that are no fields: in a path, in files and sound, in earlier turns. */
const others = ['path.model', 'path.deployment', 'conversation', 'transcript', 'decoded', 'text', 'page', '']
const known = new Set([...anthropic, ...bedrock, ...cohere, ...gemini, ...mcp, ...ollama, ...openai, ...others])
const index = /^[0-9]{1,7}$/
const mostSegments = 16

/** @returns the pointer with `…` for each segment that no API names, and for all beyond the sixteenth */
export function placeOf(pointer: string): string {
  // Bounded, since a pointer may be as long as a body; no kept segment is longer.
  const segments = pointer.slice(0, 1024).split(/([/#])/)
  const most = 2 * mostSegments + 1
  const shown = segments.slice(0, most).map((one, i) => (i % 2 === 1 || known.has(one) || index.test(one) ? one : '…'))
  return shown.join('') + (segments.length > most || pointer.length > 1024 ? '…' : '')
}
