/**
 * Where in a body something was found, without what a client wrote: a pointer's segments may be keys of the client's own,
 * which are texts.
 */
import { names as anthropic } from './anthropic/names.js'
import { names as bedrock } from './bedrock/names.js'
import { names as cohere } from './cohere/names.js'
import { names as gemini } from './gemini/names.js'
import { names as mcp } from './mcp/names.js'
import { names as ollama } from './ollama/names.js'
import { names as openai } from './openai-realtime/names.js'

/** Of the places that are no fields: in an address, in files and sound, in what was said before. */
const others = ['path.model', 'path.deployment', 'conversation', 'transcript', 'decoded', 'text', 'page', '']
const known = new Set([...anthropic, ...bedrock, ...cohere, ...gemini, ...mcp, ...ollama, ...openai, ...others])
const index = /^[0-9]{1,7}$/
const mostSegments = 16

/** @returns the pointer with `…` for each segment that no API names, and for all beyond the sixteenth */
export function placeOf(pointer: string): string {
  // No segment that is kept has more characters than fit here, and a pointer may be as long as a body.
  const segments = pointer.slice(0, 1024).split(/([/#])/)
  const most = 2 * mostSegments + 1
  const shown = segments.slice(0, most).map((one, i) => (i % 2 === 1 || known.has(one) || index.test(one) ? one : '…'))
  return shown.join('') + (segments.length > most || pointer.length > 1024 ? '…' : '')
}
