/**
 * Validation by the schemas that the OpenAPI document shows, with a validator of our own: a host application's options
 * (coercion, removal of unknown fields) would change what is checked. Errors name the field and the reason (docs/api.md,
 * section 2), never the value.
 */
import { Ajv, type ErrorObject } from 'ajv'
import { Fault, invalid, type ValidationReason } from '../base/errors.js'
import { ownSchemas } from '../json/own-schemas.js'

const reasons: Record<string, ValidationReason> = {
  required: 'missing',
  type: 'wrong_type',
  minLength: 'empty',
  minItems: 'empty',
  minProperties: 'empty',
  maxLength: 'too_long',
  maxItems: 'too_long',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
  pattern: 'invalid_format',
  format: 'invalid_format',
  additionalProperties: 'unknown_field',
  enum: 'unknown_value',
  const: 'unknown_value'
}

/** `unicode: false`: lengths are UTF-16 units, as docs/api.md, section 4, counts them. */
const ajv = new Ajv({
  ...ownSchemas,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  allErrors: false,
  unicode: false,
  // Off, because ajv warns that `unicode` is deprecated; no other option counts UTF-16 units.
  logger: false
})
/** Query strings arrive as text: numbers in them are read as numbers. */
const queryAjv = new Ajv({
  ...ownSchemas,
  coerceTypes: true,
  useDefaults: false,
  removeAdditional: false,
  allErrors: false
})

export type Place = 'body' | 'query' | 'params'

/** Compiles a schema to a function that returns a fault, or nothing for a valid value. */
export function compileValidator(schema: object, place: Place): (value: unknown) => Fault | undefined {
  const validate = (place === 'body' ? ajv : queryAjv).compile(schema)
  return function validateValue(value) {
    return validate(value) ? undefined : describe(validate.errors ?? [], place)
  }
}

/** @param errors the first failure; where a value may have one of several forms, the failure of each */
function describe([error, ...others]: readonly ErrorObject[], place: Place): Fault {
  if (error === undefined) return new Fault('validation_error')
  // A malformed identifier in a path names no object: 404, not a hint about the format.
  if (place === 'params') return new Fault('not_found')
  const extra = (error.params as { missingProperty?: string; additionalProperty?: string }) ?? {}
  const path = error.instancePath.split('/').slice(1).map(unescapePointer)
  const leaf = extra.missingProperty ?? extra.additionalProperty
  if (leaf !== undefined) path.push(leaf)
  const field = place === 'query' ? `query.${path.join('.')}` : path.join('.')
  const reason = reasons[error.keyword] ?? 'invalid_format'
  const form = others.find(({ keyword, instancePath }) => keyword === 'pattern' && instancePath === error.instancePath)
  return invalid(field, reason, sentence(field, reason, error, (form?.params as { pattern?: string })?.pattern))
}

function unescapePointer(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** @param form the pattern that is accepted beside the listed values */
function sentence(field: string, reason: ValidationReason, error: ErrorObject, form?: string): string {
  const place = field === '' ? 'The body' : `The field ${JSON.stringify(field.slice(0, 100))}`
  const params = error.params as {
    type?: string | string[]
    limit?: number
    allowedValues?: unknown[]
    allowedValue?: unknown
  }
  switch (reason) {
    case 'missing':
      return `${place} is required.`
    case 'wrong_type':
      return `${place} must be of type ${[params.type].flat().join(' or ')}.`
    case 'empty':
      return `${place} must not be empty.`
    case 'too_long':
      return `${place} is too long: at most ${params.limit} are allowed.`
    case 'out_of_range':
      return `${place} is out of range: ${error.message}.`
    case 'unknown_field':
      return `${place} is unknown here.`
    case 'unknown_value':
      return `${place} must be one of: ${[params.allowedValues ?? params.allowedValue].flat().join(', ')}${
        form === undefined ? '' : `, or match ${form}`
      }.`
    default:
      return `${place} is not valid: it ${error.message}.`
  }
}
