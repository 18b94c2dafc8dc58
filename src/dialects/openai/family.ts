/** The common part of OpenAI's operations: credentials, headers, lists of models, errors. */
import type { Dialect } from '../dialect.js'
import { everyLeaf } from '../walk.js'
import { denied, error, errorFrame } from './errors.js'
import { names } from './names.js'

export const family = {
  parameters: {},
  // Fine-tuned models are named `ft:base:org:suffix:id`.
  passPaths: [
    { path: '/v1/models' },
    { path: '/v1/models/:id', parameter: /^[A-Za-z0-9_~:-][A-Za-z0-9._~:-]{0,255}$/ }
  ],
  auth: 'bearer',
  keyHeaders: [],
  query: {},
  requestHeaders: {
    'openai-beta': {
      form: /^(?:[A-Za-z0-9_-]{1,64}(?:=[A-Za-z0-9._-]{1,64})?(?: ?, ?(?!$)|$)){0,16}$/,
      accepted: 'up to 16 names, such as realtime=v1, of letters, digits, "-" and "_", separated by commas'
    }
  },
  // Not `openai-organization`: it names the account behind the upstream's key.
  responseHeaders: {
    'openai-model': 'model',
    'openai-processing-ms': /^\d{1,10}(?:\.\d{1,6})?$/,
    'openai-version': /^\d{4}-\d{2}-\d{2}$/
  },
  hasTurns: true,
  readError: (body) => everyLeaf(body, names),
  framing: () => 'sse',
  error,
  denied,
  errorFrame
} as const satisfies Partial<Dialect>
