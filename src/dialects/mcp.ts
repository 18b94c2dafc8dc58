/**
 * The Model Context Protocol over Streamable HTTP. Each message is an operation of its own: its sender and the request
 * that it answers determine the role of its texts and the place of a refusal.
 */
import type { ChatContent, ChatRequest, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import type { Dialect } from './dialect.js'
import type { Message } from './mcp/message.js'
import { names } from './mcp/names.js'
import { readFromClient, readFromServer } from './mcp/read.js'
import { type Answering, refusal } from './mcp/write.js'
import { offenderBy } from './offender.js'
import { unreadable } from './reply-stream.js'

/** Metrics surface of verdicts over an answer. */
type Said = 'mcp_definition' | 'mcp_result'

const toResult = (said: Said): NonNullable<Dialect['judged']> => ({
  request: 'mcp_call',
  answer: said,
  answeredAs: 'request'
})

/** The dialect of a path before a message is read, and of answers without a message. */
export const mcp: Dialect = {
  id: 'mcp',
  suffix: '',
  paths: [],
  parameters: {},
  passPaths: [],
  auth: 'bearer',
  keyHeaders: [],
  query: {},
  requestHeaders: {},
  responseHeaders: {},
  hasTurns: false,
  judged: toResult('mcp_result'),
  readRequest: (body) => asRequest(readFromServer({ body })),
  readReply: (body) => readFromServer({ body }),
  readError: (body) => readFromServer({ body }),
  framing: () => 'sse',
  openStream: () => {
    throw unreadable('messages are judged one by one')
  },
  offender: offenderBy(
    /^\/result\/(?:tools|prompts|resources|resourceTemplates|content|contents|messages)\/\d+/,
    names
  ),
  error: (fault, requestId) => ({
    error: fault.code,
    message: fault.message,
    ...(fault.fields as JsonObject),
    request_id: requestId
  }),
  denied: (denial, requestId) => refusal({ id: undefined, asResult: false, isStateless: false }, denial, requestId),
  turn: () => {
    throw invalid('', 'wrong_type', 'There are no turns here.')
  },
  turnStream: () => '',
  filtered: (_reply, { denial, requestId }) =>
    refusal({ id: undefined, asResult: false, isStateless: false }, denial, requestId),
  forgetTokens: () => {},
  errorFrame: () => ''
}

/** The dialect of a client's message and its answer. */
export function clientMessage(message: Message, answering: Answering, said: Said): Dialect {
  const { asResult } = answering
  return {
    ...mcp,
    judged: toResult(said),
    hasTurns: asResult,
    readRequest: () => asRequest(readFromClient(message)),
    denied: (denial, requestId) => refusal({ ...answering, asResult: false }, denial, requestId),
    turn: ({ denial, requestId }) => refusal(answering, denial, requestId),
    filtered: (_reply, { denial, requestId }) => refusal(answering, denial, requestId)
  }
}

export function asRequest({
  parts,
  joined,
  media,
  calledFrom
}: ChatContent & Pick<ChatRequest, 'calledFrom'>): ChatRequest {
  const read = { parts, joined, media, ...(calledFrom !== undefined && { calledFrom }) }
  return { ...read, stream: false, model: undefined, metadata: undefined, session: undefined }
}
