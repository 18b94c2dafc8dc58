/** Cohere's chat API, version 2. Its other APIs (embed, rerank) are not supported. */
import { names } from './cohere/names.js'
import { forgetTokens, readReply } from './cohere/reply.js'
import { readRequest } from './cohere/request.js'
import { ChatEventsShape } from './cohere/stream.js'
import { denied, error, errorFrame, filtered, turn, turnStream } from './cohere/write.js'
import type { Dialect } from './dialect.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { everyLeaf } from './walk.js'

export const cohereChat: Dialect = {
  id: 'cohere',
  suffix: '',
  paths: ['/v2/chat'],
  parameters: {},
  // None: its list of models has OpenAI's path, whose clients would get Cohere's shape.
  passPaths: [],
  auth: 'bearer',
  keyHeaders: [],
  query: {},
  requestHeaders: {},
  responseHeaders: {},
  hasTurns: true,
  isConversation: true,
  readRequest,
  readReply,
  readError: (body) => everyLeaf(body, names),
  framing: () => 'sse',
  openStream: () => new HeldStream(new ChatEventsShape()),
  offender: offenderBy(/^\/(?:messages|documents)\/\d+/, names),
  error,
  denied,
  errorFrame,
  turn,
  turnStream,
  filtered,
  forgetTokens
}
