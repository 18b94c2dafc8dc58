/** Reads the forms of OpenAI's operations: every text is the user's, every file is media. */
import type { Json, JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import type { FormFiles } from '../form.js'
import { dataKind } from '../media.js'
import { pointerSegment } from '../rewrite.js'
import type { Collector } from '../walk.js'

/** Chooses the route; no model reads it. */
const parameters = new Set(['model'])

/** Reads a form, its texts as one too: a model may be given several of them. */
export function readFormFields(out: Collector, body: JsonObject, files: FormFiles): void {
  const run: number[] = []
  for (const name of Object.keys(body)) {
    const at = `/${pointerSegment(name)}`
    const value = body[name]!
    out.key('user', name, at)
    const kind = Object.hasOwn(files, name) ? files[name] : undefined
    for (const [pointer, each] of Array.isArray(value) ? value.map(under(at)) : [[at, value] as const]) {
      if (kind !== undefined) out.mediaObject(kind, 'user', each, pointer)
      else if (typeof each === 'string') readText(out, name, each, pointer, run)
      else out.walk('user', each, pointer)
    }
  }
  out.join(run)
}

const under = (at: string) => (each: Json, i: number) => [`${at}/${i}`, each] as const

function readText(out: Collector, name: string, text: string, pointer: string, run: number[]): void {
  if (parameters.has(name)) {
    out.text('parameter', text, pointer)
    return
  }
  const before = out.parts.length
  out.embedded('user', text, pointer)
  if (out.parts.length > before && !out.isName(text)) run.push(before)
  // Voice samples come as `data:` URLs (`known_speaker_references[]`).
  const kind = dataKind(text)
  if (kind !== undefined) out.media.push({ pointer, kind, role: 'user' })
}

/** @throws Fault `validation_error` where a field is left out */
export function requiredField(body: JsonObject, ...accepted: readonly string[]): void {
  if (accepted.some((name) => Object.hasOwn(body, name))) return
  const name = accepted[0]!
  throw invalid(name, 'missing', `The field ${accepted.join(' or ')} is required.`)
}

/** A flag as a form spells it. @throws Fault `validation_error` for any other spelling, which backends read differently */
export function flag(body: JsonObject, name: string): boolean {
  const value = body[name] ?? 'false'
  if (value !== 'true' && value !== 'false') throw invalid(name, 'unknown_value', `${name} must be true or false.`)
  return value === 'true'
}

/** A text, where there is one. */
export function textOf(body: JsonObject, name: string): string | undefined {
  const value = body[name]
  return typeof value === 'string' ? value : undefined
}
