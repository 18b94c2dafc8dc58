/** Places in the response of the texts in its stream events. */
import type { LeafKind } from './items.js'

interface TextPlace {
  /** The list of the item that holds the part, by the event's `<list>_index`; undefined: the item itself. */
  list?: 'content' | 'summary'
  /** The field of the part or item; the `done` event has the whole text under the same name. */
  key: string
  kind: LeafKind
}

/** By the event's type without its `.delta` or `.done`. */
export const textPlaces: Readonly<Record<string, TextPlace | undefined>> = {
  'response.output_text': { list: 'content', key: 'text', kind: 'text' },
  'response.refusal': { list: 'content', key: 'refusal', kind: 'text' },
  'response.reasoning_text': { list: 'content', key: 'text', kind: 'text' },
  'response.reasoning_summary_text': { list: 'summary', key: 'text', kind: 'text' },
  'response.function_call_arguments': { key: 'arguments', kind: 'arguments' },
  'response.mcp_call_arguments': { key: 'arguments', kind: 'arguments' },
  'response.custom_tool_call_input': { key: 'input', kind: 'arguments' },
  'response.code_interpreter_call_code': { key: 'code', kind: 'text' }
}

/** The last event of a stream. */
export const terminal: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled'
])
