/**
 * The errors of the OpenAPI document: one schema for each code of the table, with the fields that this code adds, so that
 * a client made from the document tells them apart by `error`.
 */
import { type ErrorCode, errorTable, validationReasons } from '../base/errors.js'
import { named } from './doc-names.js'

const text = { type: 'string' }
const whole = { type: 'integer' }
const texts = { type: 'array', items: text }
const retryAfter = { ...whole, description: 'Whole seconds to wait, as the header Retry-After says.' }

const problem = named('ConstitutionProblem', {
  type: 'object',
  properties: {
    line: whole,
    column: whole,
    path: text,
    message: text,
    accepted: { ...texts, description: 'The accepted values, where the set is closed.' }
  },
  required: ['message'],
  additionalProperties: true
})

const docs = { ...text, description: 'Address of help about keys: the configuration’s docs_url.' }
const ancestors = {
  ...texts,
  description: 'Ids of the people and keys that both the caller and the object descend from.'
}

/** Fields that a code adds to its body (docs/api.md, section 2). An asterisk marks a field that is always present. */
const added: Partial<Record<ErrorCode, Record<string, object>>> = {
  validation_error: {
    details: {
      type: 'object',
      properties: {
        field: { ...text, description: 'A dotted path, "" for the whole body, query.<name>, or the name of a header.' },
        reason: { ...text, enum: [...validationReasons] }
      },
      additionalProperties: true
    },
    problems: { type: 'array', items: problem, description: 'Of a constitution: each mistake at its place.' }
  },
  api_key_required: { docs },
  invalid_api_key: { docs },
  sign_in_failed: { reason: text },
  insufficient_scope: { '*required': text, '*available': texts },
  own_review: { ancestors },
  second_person_required: { ancestors },
  review_claimed: { claimed_by: { type: ['string', 'null'] }, claimed_until: { type: ['string', 'null'] } },
  active_changed: { active: { type: ['integer', 'null'], description: 'The version in force.' } },
  payload_too_large: { '*limit': { ...whole, description: 'Bytes.' } },
  too_complex: {
    '*details': {
      type: 'object',
      properties: {
        field: text,
        limit: whole,
        actual: whole,
        setting: { type: ['string', 'null'], description: 'The setting that raises the limit.' }
      },
      required: ['field', 'limit', 'actual', 'setting']
    }
  },
  unscannable_content: {
    details: {
      type: 'object',
      properties: {
        pointer: text,
        reason: { type: 'string', description: 'Why a file or a picture was not read whole.' }
      },
      required: ['pointer']
    }
  },
  rate_limit_exceeded: { '*retry_after': retryAfter },
  concurrency_limit_exceeded: { '*limit': whole, '*retry_after': retryAfter }
}

/** The schema of an error of the gateway's own API. */
function ownError(code: ErrorCode): object {
  const fields = Object.entries(added[code] ?? {}).map(([name, schema]) => [name.replace('*', ''), schema] as const)
  const always = Object.keys(added[code] ?? {}).filter((name) => name.startsWith('*'))
  return named(`${pascal(code)}Error`.replace(/ErrorError$/, 'Error'), {
    type: 'object',
    description: errorTable[code].message,
    properties: {
      error: { type: 'string', const: code },
      message: { ...text, description: 'A sentence for people. It never holds an evaluated text or a key.' },
      request_id: { ...text, description: 'The header x-request-id of the answer.' },
      ...Object.fromEntries(fields)
    },
    required: ['error', 'message', 'request_id', ...always.map((name) => name.slice(1))],
    additionalProperties: true
  })
}

/** One of the errors, told apart by `error`. */
export function ownErrors(codes: readonly ErrorCode[]): object {
  const [first, ...rest] = codes.map(ownError)
  return rest.length === 0 ? first! : { oneOf: [first, ...rest] }
}

/** Error envelopes of other APIs, under the names that the documents of those APIs use. */
export const errorEnvelopes = {
  openai: named('OpenAIError', {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          message: text,
          type: text,
          param: { type: ['string', 'null'], description: 'The field, or the JSON pointer of the offending message.' },
          code: { ...text, description: 'One of the codes that the answer names.' },
          request_id: text,
          review_id: { ...text, description: 'With review_required.' },
          missing_context: {
            ...texts,
            description: 'With context_required: the keys that count on this route and would settle it.'
          }
        },
        required: ['message', 'type', 'param', 'code'],
        additionalProperties: true
      }
    },
    required: ['error']
  }),
  anthropic: named('AnthropicError', {
    type: 'object',
    properties: {
      type: { type: 'string', const: 'error' },
      error: {
        type: 'object',
        properties: {
          type: text,
          message: { ...text, description: 'The code leads it.' },
          details: {
            type: 'object',
            properties: { error_code: text },
            additionalProperties: true
          }
        },
        required: ['type', 'message'],
        additionalProperties: true
      }
    },
    required: ['type', 'error'],
    additionalProperties: true
  }),
  gemini: named('GeminiError', {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { ...whole, description: 'The status.' },
          message: text,
          status: text,
          details: {
            type: 'array',
            description: 'The code stands in the first one’s reason.',
            items: { type: 'object', properties: { reason: text }, additionalProperties: true }
          }
        },
        required: ['code', 'message', 'status'],
        additionalProperties: true
      }
    },
    required: ['error']
  }),
  mcp: named('McpError', {
    type: 'object',
    description: 'What answers no request of JSON-RPC.',
    properties: { error: { ...text, description: 'The code.' }, message: text, request_id: text },
    required: ['error', 'message'],
    additionalProperties: true
  }),
  ollama: named('OllamaError', {
    type: 'object',
    properties: { error: { ...text, description: 'The code leads it.' } },
    required: ['error'],
    additionalProperties: true
  }),
  cohere: named('CohereError', {
    type: 'object',
    properties: { id: text, message: { ...text, description: 'The code leads it.' } },
    required: ['message'],
    additionalProperties: true
  }),
  bedrock: named('BedrockError', {
    type: 'object',
    properties: {
      __type: { ...text, description: 'As the header x-amzn-errortype.' },
      message: { ...text, description: 'The code leads it.' },
      error_code: text
    },
    required: ['__type', 'message', 'error_code'],
    additionalProperties: true
  })
} as const
export type ErrorEnvelope = keyof typeof errorEnvelopes

function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
