/** OpenAI's chat completions, as spoken by api.openai.com, vLLM, llama.cpp, Ollama and most others. */
import type { Dialect } from './dialect.js'
import { HeldStream } from './held-stream.js'
import { names } from './openai-chat/names.js'
import { forgetTokens, readError, readReply } from './openai-chat/reply.js'
import { readRequest } from './openai-chat/request.js'
import { ChatStreamShape } from './openai-chat/stream.js'
import { denied, error, errorFrame, filtered, turn, turnStream } from './openai-chat/write.js'

/** The message, or the place as far as its names are this API's own: a name that a caller made up could be the finding itself. */
function offender(pointer: string): string {
  // Texts of a header are named by the header.
  if (!pointer.startsWith('/')) return pointer.split('/', 1)[0]!
  const message = /^\/messages\/\d+/.exec(pointer)
  if (message !== null) return message[0]
  let known = ''
  for (const segment of pointer.split('/').slice(1)) {
    if (!names.has(segment) && !/^\d+$/.test(segment)) break
    known += `/${segment}`
  }
  return known
}

export const openaiChat: Dialect = {
  id: 'openai-chat',
  suffix: '',
  paths: ['/v1/chat/completions'],
  parameters: {},
  // Fine-tuned models are named `ft:base:org:suffix:id`.
  passPaths: [
    { path: '/v1/models' },
    { path: '/v1/models/:id', parameter: /^[A-Za-z0-9_~:-][A-Za-z0-9._~:-]{0,255}$/ }
  ],
  auth: 'bearer',
  keyHeaders: [],
  query: {},
  requestHeaders: ['openai-beta'],
  // Not `openai-organization`: it names the account behind the upstream's key.
  responseHeaders: ['openai-model', 'openai-processing-ms', 'openai-version'],
  readRequest,
  readReply,
  readError,
  framing: () => 'sse',
  openStream: () => new HeldStream(new ChatStreamShape()),
  offender,
  error,
  denied,
  turn,
  turnStream,
  filtered,
  forgetTokens,
  errorFrame
}
