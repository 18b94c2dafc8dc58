/** The events of a streamed message of Anthropic's, and what a client makes of them. */
import type { JsonObject } from '../../src/base/chat.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import type { Assembled } from './dialect-suite.js'

export const event = (data: JsonObject): WireEvent => ({ event: data.type as string, data: JSON.stringify(data) })

/** A thought, a text and a tool's input, each spelled out by the pieces. */
export function spell(pieces: readonly string[]): WireEvent[] {
  const block = (index: number, content_block: JsonObject, delta: (piece: string) => JsonObject) => [
    { type: 'content_block_start', index, content_block },
    ...pieces.map((piece) => ({ type: 'content_block_delta', index, delta: delta(piece) })),
    { type: 'content_block_stop', index }
  ]
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage: {}
  }
  return [
    { type: 'message_start', message },
    { type: 'ping' },
    ...block(0, { type: 'thinking', thinking: '', signature: '' }, (thinking) => ({
      type: 'thinking_delta',
      thinking
    })),
    ...block(1, { type: 'text', text: '' }, (text) => ({ type: 'text_delta', text })),
    ...block(2, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }, (partial_json) => ({
      type: 'input_json_delta',
      partial_json
    })),
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
    { type: 'message_stop' }
  ].map(event)
}

/** The channels that `spell` fills. */
export const channels = ['/content/0/thinking', '/content/1/text', '/content/2/input']

/** Strict where the SDK's own accumulator relies on it: order of events, open and closed blocks, nothing after the end. */
export function assemble(frames: string): Assembled {
  const texts: Record<string, string> = {}
  const fields: Record<string, string> = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'input' }
  let state: 'before' | 'inside' | 'stopping' | 'ended' = 'before'
  let open: number | undefined
  let next = 0
  let finish: string | undefined
  const expect = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`not a legal run of events: ${what}`)
  }
  for (const frame of frames.split('\n\n').slice(0, -1)) {
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? []
    const value = JSON.parse(data!)
    expect(name === value.type, 'name and type differ')
    switch (value.type) {
      case 'message_start':
        expect(state === 'before' && Array.isArray(value.message.content), 'message_start')
        state = 'inside'
        break
      case 'content_block_start':
        expect(state === 'inside' && open === undefined && value.index === next, 'content_block_start')
        open = next++
        break
      case 'content_block_delta': {
        expect(state === 'inside' && open === value.index, 'content_block_delta')
        const { type, ...rest } = value.delta
        const at = `/content/${value.index}/${fields[type]}`
        texts[at] = (texts[at] ?? '') + Object.values(rest)[0]
        break
      }
      case 'content_block_stop':
        expect(open === value.index, 'content_block_stop')
        open = undefined
        break
      case 'message_delta':
        expect(state === 'inside' && open === undefined && typeof value.delta.stop_reason === 'string', 'message_delta')
        state = 'stopping'
        finish = value.delta.stop_reason
        break
      case 'message_stop':
        expect(state === 'stopping', 'message_stop')
        state = 'ended'
        break
      default:
        expect(value.type === 'ping', value.type)
    }
  }
  return { texts, finish: state === 'ended' ? finish : undefined }
}
