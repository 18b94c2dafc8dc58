/** OpenAI's chat completions, as spoken by api.openai.com, vLLM, llama.cpp, Ollama and most others. */
import type { Dialect } from './dialect.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { ChoicesStreamShape } from './openai/choices-stream.js'
import { family } from './openai/family.js'
import { names } from './openai/names.js'
import { forgetTokens } from './openai/tokens.js'
import { readReply } from './openai-chat/reply.js'
import { readRequest } from './openai-chat/request.js'
import { sampleFormat, spelledSound } from './openai-chat/sound.js'
import { filtered, filteredStream, turn, turnStream } from './openai-chat/write.js'

export const openaiChat: Dialect = {
  ...family,
  id: 'openai-chat',
  suffix: '',
  paths: ['/v1/chat/completions'],
  isConversation: true,
  readRequest,
  readReply,
  openStream: () => new HeldStream(new ChoicesStreamShape(filteredStream)),
  spelledSound,
  sampleFormat,
  offender: offenderBy(/^\/messages\/\d+/, names),
  turn,
  turnStream,
  filtered,
  forgetTokens
}
