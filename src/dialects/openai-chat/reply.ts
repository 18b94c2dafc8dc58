/** Reads an answer that is not streamed: all choices, tool calls, reasoning, refusals, and every other leaf. */
import type { ChatReply, JsonObject } from '../../chat.js'
import { names } from '../openai/names.js'
import { tokenTexts } from '../openai/tokens.js'
import { isObject } from '../rewrite.js'
import { Collector } from '../walk.js'
import { readCalls } from './request.js'

const bodyFields = new Set(['choices'])
const choiceFields = new Set(['message', 'logprobs', 'finish_reason', 'index'])
const messageFields = new Set(['tool_calls', 'function_call', 'role', 'audio'])

export function readReply(body: JsonObject): ChatReply | undefined {
  if (!Array.isArray(body.choices)) return undefined
  const out = new Collector(names)
  for (let i = 0; i < body.choices.length; i++) {
    const choice = body.choices[i]
    if (!isObject(choice)) return undefined
    readChoice(out, choice, `/choices/${i}`)
  }
  out.rest('parameter', body, '', bodyFields)
  return out
}

function readChoice(out: Collector, choice: JsonObject, pointer: string): void {
  const { message } = choice
  if (isObject(message)) {
    readCalls(out, message, 'assistant', `${pointer}/message`)
    if (typeof message.role === 'string') out.word('assistant', message.role, `${pointer}/message/role`)
    if (isObject(message.audio)) out.mediaObject('audio', 'assistant', message.audio, `${pointer}/message/audio`)
    const before = out.parts.length
    out.rest('assistant', message, `${pointer}/message`, messageFields)
    joinContent(out, before, `${pointer}/message/content/`)
  } else {
    out.walk('assistant', message, `${pointer}/message`)
  }
  for (const text of tokenTexts(choice.logprobs)) out.text('assistant', text, `${pointer}/logprobs`)
  if (typeof choice.finish_reason === 'string') out.word('assistant', choice.finish_reason, `${pointer}/finish_reason`)
  out.rest('assistant', choice, pointer, choiceFields)
}

/** The parts of one message are read as one. */
function joinContent(out: Collector, from: number, prefix: string): void {
  const run: number[] = []
  for (let i = from; i < out.parts.length; i++) {
    const part = out.parts[i]!
    if (!part.isKey && part.pointer.startsWith(prefix)) run.push(i)
  }
  out.join(run)
}
