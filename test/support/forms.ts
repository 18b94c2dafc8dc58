/** Bodies as they come over the wire: JSON, or the form that stands for the same object. */
import type { Json, JsonObject } from '../../src/base/chat.js'
import type { Dialect } from '../../src/dialects/dialect.js'
import { boundaryOf, readForm, writeForm } from '../../src/dialects/form.js'
import { isObject } from '../../src/dialects/rewrite.js'

/** @returns undefined where no form says it */
export function asSent({ form }: Dialect, body: JsonObject): { type: string; bytes: Buffer } | undefined {
  if (form === undefined) return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) }
  return Object.values(body).flat().every(isField) ? writeForm(body) : undefined
}

/** What was sent, as the text of its JSON. */
export function asJson({ form }: Dialect, { type, bytes }: { type: string; bytes: Buffer }): string {
  return form === undefined ? bytes.toString() : JSON.stringify(readForm(bytes, boundaryOf(type) ?? '', form))
}

function isField(value: Json): boolean {
  return typeof value === 'string' || (isObject(value) && isFile(value))
}

/** Its bytes in base64, and nothing beside what a part can say of a file. */
function isFile({ filename, mime_type, data, ...others }: JsonObject): boolean {
  const all = [filename, mime_type, data]
  if (!all.every((each) => typeof each === 'string') || Object.keys(others).length > 0) return false
  return Buffer.from(data as string, 'base64').toString('base64') === data
}
