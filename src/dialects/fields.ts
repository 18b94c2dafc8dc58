/**
 * Readers for typed fields of a request. A wrong type is refused, since a backend that coerces it would read another
 * request.
 */
import type { Json, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import { isObject } from './rewrite.js'

/** A field that is left out, or null, counts as absent. @throws Fault `validation_error` */
export function stringField(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && typeof value !== 'string') throw invalid(name, 'wrong_type', `${name} must be a string.`)
  return value
}

/** @throws Fault `validation_error` */
export function booleanField(body: JsonObject, name: string): boolean | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && typeof value !== 'boolean') throw invalid(name, 'wrong_type', `${name} must be a boolean.`)
  return value
}

/** @throws Fault `validation_error` */
export function objectField(body: JsonObject, name: string): JsonObject | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && !isObject(value)) throw invalid(name, 'wrong_type', `${name} must be an object.`)
  return value
}

/** A list of objects that a request cannot do without. @throws Fault `validation_error` */
export function requiredList(body: JsonObject, name: string): readonly JsonObject[] {
  const value = body[name]
  if (value === undefined) throw invalid(name, 'missing', `The field ${name} is required.`)
  if (!Array.isArray(value)) throw invalid(name, 'wrong_type', `The field ${name} must be an array.`)
  if (value.length === 0) throw invalid(name, 'empty', `The field ${name} must not be empty.`)
  return value.map((each, i) => objectAt(each, `${name}.${i}`))
}

/** @throws Fault `validation_error` */
export function objectAt(value: Json | undefined, field: string): JsonObject {
  if (!isObject(value)) throw invalid(field, 'wrong_type', `${field} must be an object.`)
  return value
}
