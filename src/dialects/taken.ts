/**
 * Reads known fields of an answer, each only with its documented type. All other fields (of another type, of another
 * event, or new ones) go to `otherwise` and are judged as the answer's text.
 */
import type { Json, JsonObject, Role } from '../base/chat.js'
import { type StreamSink, unreadable } from './reply-stream.js'
import { isObject, pointerSegment } from './rewrite.js'
import type { Collector } from './walk.js'

export interface Place {
  /** Pointer of the value. */
  at: string
  holder: JsonObject
  name: string
}

/** Reads a field. @returns false for a value of another type, which was not read */
export type Taker<To> = (value: Json, to: To, place: Place) => boolean
export type Fields<To> = Readonly<Record<string, Taker<To>>>

/**
 * Every field of an object, those of the table first and in its order.
 * @param otherwise takes the field whole, its name too
 */
export function readFields<To>(
  fields: Fields<To>,
  holder: JsonObject,
  pointer: string,
  to: To,
  otherwise: (place: Place) => void
): void {
  const taken = new Set<string>()
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(holder, name)) continue
    if (fields[name]!(holder[name]!, to, { at: `${pointer}/${pointerSegment(name)}`, holder, name })) taken.add(name)
  }
  for (const name of Object.keys(holder)) {
    if (!taken.has(name)) otherwise({ at: `${pointer}/${pointerSegment(name)}`, holder, name })
  }
}

/** The generic walk for fields that were not taken. */
export function walked(out: Collector, role: Role): (place: Place) => void {
  return ({ at, holder, name }) => out.field(role, name, holder[name], at)
}

/** A number, which needs no judging. */
export const number: Taker<unknown> = (value) => typeof value === 'number'

/** A field whose values are enumerated. */
export const word: Taker<Collector> = (value, out, { at }) => {
  if (typeof value !== 'string') return false
  out.word('assistant', value, at)
  return true
}

/** Takes objects alone. */
export function object<To>(read: (value: JsonObject, to: To, place: Place) => void): Taker<To> {
  return (value, to, place) => {
    if (!isObject(value)) return false
    read(value, to, place)
    return true
  }
}

/** Takes strings alone. */
export function string<To>(read: (value: string, to: To, place: Place) => void): Taker<To> {
  return (value, to, place) => {
    if (typeof value !== 'string') return false
    read(value, to, place)
    return true
  }
}

/** Takes any value, by a reader that reads every leaf and key of any. */
export function any<To>(read: (value: Json, to: To, place: Place) => void): Taker<To> {
  return (value, to, place) => {
    read(value, to, place)
    return true
  }
}

/** The generic walk, for a field with the words of a given role. */
export function wordsOf(role: Role): Taker<Collector> {
  return any((value, out, { at }) => out.walk(role, value, at))
}

/** The same takers where a sink stands for the collector. */
export function ofRest<To extends { sink: StreamSink }>(taker: Taker<Collector>): Taker<To> {
  return (value, { sink }, place) => taker(value, sink.rest, place)
}

/** No list of an answer is longer, so the upstream cannot cause larger indexes or lengths here. */
const mostIndexes = 65_536

export function isIndex(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < mostIndexes
}

/**
 * An index that distinguishes the pieces of a stream: any other value would leave the client's way of joining them
 * unknown.
 * @returns undefined where there is none
 * @throws Fault `upstream_error`
 */
export function indexOf(holder: JsonObject, name: string): number | undefined {
  const value = holder[name] ?? undefined
  if (value === undefined || isIndex(value)) return value
  throw unreadable('an index is no small integer')
}

/** Taken where it is an index; elsewhere the stream is not read at all. @throws Fault `upstream_error` */
export const index: Taker<unknown> = (value, _to, { holder, name }) => {
  indexOf(holder, name)
  return typeof value === 'number'
}
