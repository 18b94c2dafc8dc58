/** OpenAI's Responses, as spoken by api.openai.com, vLLM, LM Studio and Ollama. */
import type { Dialect } from './dialect.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { family } from './openai/family.js'
import { names } from './openai/names.js'
import { forgetTokens, readReply } from './openai-responses/reply.js'
import { readRequest } from './openai-responses/request.js'
import { chain } from './openai-responses/resume.js'
import { ResponseStreamShape } from './openai-responses/stream.js'
import { errorFrame, filtered, turn, turnStream } from './openai-responses/write.js'

export const openaiResponses: Dialect = {
  ...family,
  id: 'openai-responses',
  suffix: '',
  paths: ['/v1/responses'],
  isConversation: true,
  chain,
  readRequest,
  readReply,
  openStream: () => new HeldStream(new ResponseStreamShape()),
  offender: offenderBy(/^\/(?:input|output)\/\d+/, names),
  turn,
  turnStream,
  filtered,
  forgetTokens,
  errorFrame
}
