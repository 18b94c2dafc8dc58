/** The body of an evaluation (docs/api.md, section 4), read the same by the endpoint and by the command. */
import Type, { type Static } from 'typebox'
import type { Json, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import type { EvaluationInput } from '../policy/evaluation.js'
import { named } from './doc-names.js'
import { compileValidator } from './validate.js'

/** UTF-16 units of `input_text`. */
export const maxInputText = 100_000
/** Bytes of `context` as JSON. */
export const maxContextBytes = 16_384

export const sessionIdPattern = '^[A-Za-z0-9._:-]*$'
export const maxSessionId = 128

export const EvaluateInput = Type.Object(
  {
    input_text: Type.String({ minLength: 1, maxLength: maxInputText, description: 'The text to evaluate.' }),
    context: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            "Free-form context, at most 16 KiB as JSON. A key with more than 4 values, or with one of more than 100 characters, settles nothing. `role` (user, assistant, tool, system, in any case) says whose words the text is; a user's by default, and with any other value."
        }
      )
    ),
    session_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxSessionId,
        pattern: sessionIdPattern,
        description: 'Ties turns of one conversation.'
      })
    ),
    detect: Type.Optional(
      Type.Array(Type.Enum(['names']), {
        maxItems: 1,
        description:
          'What else to look for: names of persons, places and organisations, shown as detections with a kind. They count in no decision. Refused where the encoder is off.'
      })
    )
  },
  { additionalProperties: false }
)
named('EvaluateRequest', EvaluateInput)
export type EvaluateInput = Static<typeof EvaluateInput> & { context?: JsonObject }

const validate = compileValidator(EvaluateInput, 'body')

/** Refuses a context that is larger than 16 KiB as JSON. */
export function checkContextSize(context: JsonObject | undefined, field = 'context'): void {
  if (context !== undefined && Buffer.byteLength(JSON.stringify(context)) > maxContextBytes) {
    throw invalid(
      field,
      'too_long',
      `The field "${field}" is too long: at most ${maxContextBytes} bytes of JSON are allowed.`
    )
  }
}

/** The error for a request for names without an encoder: no other detector finds names. */
export function namesOff(): Error {
  return invalid(
    'detect',
    'unknown_value',
    'The field "detect" asks for names: the encoder finds them, and it is off here (encoder: required or preferred).'
  )
}

/** Returns the value as an input, or throws a `validation_error` that names the field and the reason. */
export function readEvaluateInput(value: Json): EvaluateInput {
  const fault = validate(value)
  if (fault !== undefined) throw fault
  const input = value as EvaluateInput
  checkContextSize(input.context)
  return input
}

/**
 * Values of the context's `role` that say whose words a text is, in any case. A caller chooses the keys of the context, so
 * that another value (`teacher`) is no mistake: it is context as under any key, and the text a user's.
 */
const writers = ['user', 'assistant', 'tool', 'system'] as const

/**
 * A text as the evaluator takes it. The context's `role` says whose words they are, since the same words are a demand in a
 * user's message, a refusal in an answer, and an attack in what a tool brought back. The only text is the input itself, so it
 * has no pointer, and no detection in it has one.
 */
export function readText(
  text: string,
  context: JsonObject | undefined
): Pick<EvaluationInput, 'parts' | 'joined' | 'context' | 'direction'> {
  const said = context?.['role']
  const folded = typeof said === 'string' ? said.trim().toLowerCase() : undefined
  const role = writers.find((writer) => writer === folded) ?? 'user'
  return {
    parts: [{ role, text, pointer: '' }],
    joined: [],
    context,
    direction: role === 'assistant' ? 'answer' : 'request'
  }
}
