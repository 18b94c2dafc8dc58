/** How each dialect streams a text, and how its clients read one: what the cut-anywhere tests run over. */
import type { RouteSettings } from '../../src/settings.js'

export interface StreamCase {
  name: string
  route: Partial<RouteSettings>
  /** A whole stream, end included, whose text comes in these pieces. */
  wire(pieces: readonly string[]): string
  /** The text that a client puts together. Throws where the stream is not whole or not of the dialect. */
  shown(wire: string): string
  /** Whether the stream says that it was filtered, and ends as such streams end. */
  isFiltered(wire: string): boolean
  target?: { params?: Record<string, string>; query?: string; type?: string }
}

const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' }

function chatCase(
  name: string,
  field: (text: string) => object,
  read: (delta: Record<string, unknown>) => unknown
): StreamCase {
  const frame = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  return {
    name,
    route: { dialect: 'openai-chat', path: '/v1/chat/completions' },
    wire: (pieces) =>
      frame({ role: 'assistant' }) +
      pieces.map((text) => frame(field(text))).join('') +
      frame({}, 'stop') +
      'data: [DONE]\n\n',
    shown(wire) {
      const events = dataOf(wire)
      if (events.pop() !== '[DONE]') throw new Error('no end marker')
      return events.map((data) => read(JSON.parse(data).choices[0]?.delta ?? {}) ?? '').join('')
    },
    isFiltered: (wire) => JSON.parse(dataOf(wire).at(-2)!).choices[0].finish_reason === 'content_filter'
  }
}

/** The data of server-sent events. */
export function dataOf(wire: string): string[] {
  if (!wire.endsWith('\n\n')) throw new Error('cut in an event')
  return wire
    .split('\n\n')
    .slice(0, -1)
    .map((event) => /^data: (.*)$/m.exec(event)![1]!)
}

export const streamCases: readonly StreamCase[] = [
  chatCase(
    'openai-chat content',
    (content) => ({ content }),
    ({ content }) => content
  ),
  chatCase(
    'openai-chat reasoning',
    (reasoning_content) => ({ reasoning_content }),
    ({ reasoning_content }) => reasoning_content
  ),
  chatCase(
    'openai-chat tool arguments',
    (text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
    ({ tool_calls: calls }) => (calls as { function: { arguments: string } }[] | undefined)?.[0]?.function.arguments
  )
]
