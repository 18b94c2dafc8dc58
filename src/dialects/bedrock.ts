/**
 * Amazon Bedrock's Converse and, for Anthropic's models, InvokeModel, each with its streamed twin. The model stands in the
 * path: `/model/{model}/converse`.
 */
import { names as anthropicNames } from './anthropic/names.js'
import { readReply as readMessage } from './anthropic/reply.js'
import * as invoke from './bedrock/invoke.js'
import { model } from './bedrock/model.js'
import { names } from './bedrock/names.js'
import { readReply } from './bedrock/reply.js'
import { readConverse } from './bedrock/request.js'
import { ConverseStreamShape } from './bedrock/stream.js'
import { denied, error, errorFrame, errorHeaders, filtered, turn, turnStream } from './bedrock/write.js'
import type { Dialect } from './dialect.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { everyLeaf } from './walk.js'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const shared = {
  id: 'bedrock',
  parameters: { model },
  isConversation: true,
  passPaths: [],
  auth: 'bearer',
  // The SDKs send a key as Authorization: Bearer, which every route takes.
  keyHeaders: [],
  query: {},
  requestHeaders: {},
  responseHeaders: {
    'x-amzn-requestid': uuid,
    'x-amzn-bedrock-content-type': /^application\/json$/,
    'x-amzn-bedrock-input-token-count': /^\d{1,9}$/,
    'x-amzn-bedrock-output-token-count': /^\d{1,9}$/,
    'x-amzn-bedrock-invocation-latency': /^\d{1,9}$/
  },
  requestIdHeader: 'x-amzn-requestid',
  hasTurns: true,
  readReply,
  readError: (body) => everyLeaf(body, names),
  framing: () => 'aws-event-stream',
  openStream: () => new HeldStream(new ConverseStreamShape()),
  offender: offenderBy(/^\/messages\/\d+/, names),
  error,
  errorHeaders,
  denied,
  errorFrame,
  turn,
  turnStream,
  filtered,
  // This API has no token probabilities.
  forgetTokens: () => {}
} as const satisfies Partial<Dialect>

export const bedrockConverse: Dialect = {
  ...shared,
  suffix: '/converse',
  paths: ['/model/{model}/converse'],
  readRequest: readConverse(false)
}

export const bedrockConverseStream: Dialect = {
  ...shared,
  suffix: '/converse-stream',
  paths: ['/model/{model}/converse-stream'],
  readRequest: readConverse(true)
}

const invoking = {
  ...shared,
  readReply: readMessage,
  readError: (body) => everyLeaf(body, anthropicNames),
  openStream: () => new HeldStream(new invoke.InvokeStreamShape()),
  offender: offenderBy(/^\/messages\/\d+/, anthropicNames),
  turn: invoke.turn,
  turnStream: invoke.turnStream,
  filtered: invoke.filtered
} as const satisfies Partial<Dialect>

export const bedrockInvoke: Dialect = {
  ...invoking,
  suffix: '/invoke',
  paths: ['/model/{model}/invoke'],
  readRequest: invoke.readInvoke(false)
}

export const bedrockInvokeStream: Dialect = {
  ...invoking,
  suffix: '/invoke-with-response-stream',
  paths: ['/model/{model}/invoke-with-response-stream'],
  readRequest: invoke.readInvoke(true)
}
