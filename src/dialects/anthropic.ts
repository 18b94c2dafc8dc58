/** Anthropic's Messages API: messages, and the count of their tokens. */
import { names } from './anthropic/names.js'
import { readReply } from './anthropic/reply.js'
import { readRequest } from './anthropic/request.js'
import { MessageStreamShape } from './anthropic/stream.js'
import { denied, error, errorFrame, filtered, turn, turnStream } from './anthropic/write.js'
import type { Dialect } from './dialect.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { readNumbers, turnless } from './turnless.js'
import { everyLeaf } from './walk.js'

const modelName = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,255}$/

const shared = {
  id: 'anthropic',
  parameters: {},
  isConversation: true,
  passPaths: [
    { path: '/v1/models', query: { limit: /^\d{1,4}$/, after_id: modelName, before_id: modelName, beta: /^true$/ } },
    { path: '/v1/models/:id', parameter: modelName, query: { beta: /^true$/ } }
  ],
  auth: 'x-api-key',
  // The SDKs send it as X-API-Key, which every route takes.
  keyHeaders: [],
  query: { beta: /^true$/ },
  requestHeaders: {
    'anthropic-version': { form: /^[A-Za-z0-9-]{0,64}$/, accepted: 'a date such as 2023-06-01' },
    'anthropic-beta': {
      form: /^(?:[A-Za-z0-9-]{1,64}(?: ?, ?(?!$)|$)){0,32}$/,
      accepted: 'up to 32 names of letters, digits and "-", separated by commas'
    }
  },
  // Not `anthropic-organization-id` and the rate limits: they tell of the account behind the upstream's key.
  responseHeaders: { 'request-id': /^req_(?=[A-Za-z]*\d)[A-Za-z0-9]{20,32}$/ },
  requestIdHeader: 'request-id',
  readError: (body) => everyLeaf(body, names),
  offender: offenderBy(/^\/messages\/\d+/, names),
  error,
  denied,
  errorFrame
} as const satisfies Partial<Dialect>

export const anthropicMessages: Dialect = {
  ...shared,
  suffix: '/messages',
  paths: ['/v1/messages'],
  hasTurns: true,
  readRequest,
  readReply,
  framing: () => 'sse',
  openStream: () => new HeldStream(new MessageStreamShape()),
  turn,
  turnStream,
  filtered,
  // This API has no token probabilities.
  forgetTokens: () => {}
}

export const anthropicCount: Dialect = {
  ...shared,
  ...turnless(shared),
  suffix: '/count_tokens',
  paths: ['/v1/messages/count_tokens'],
  readRequest: (body) => ({ ...readRequest(body), stream: false }),
  readReply: readNumbers('input_tokens', names)
}
