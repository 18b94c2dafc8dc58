/**
 * Notes what of a model's calls of tools is read as one: a payload may be cut over the arguments of one call, over several
 * calls of one turn, or over what the turn says and what it calls.
 */
import type { Json, JsonObject, Role } from '../base/chat.js'
import { pointerSegment } from './rewrite.js'
import { append, type Collector, lastSegment } from './walk.js'

/** What one turn says, and what its calls are given, in their order. */
export class CallsOfTurn {
  readonly #out: Collector
  readonly #all: number[] = []
  readonly #given: number[] = []
  #calls = 0

  constructor(out: Collector) {
    this.#out = out
  }

  /** What tools bring in between is long, and said by others. */
  say(indexes: readonly number[]): void {
    for (const index of indexes) if (index >= 0 && this.#out.parts[index]!.role !== 'tool') this.#all.push(index)
  }

  /** Takes what one call is given. */
  give(indexes: readonly number[]): void {
    if (indexes.length === 0) return
    this.#calls++
    append(this.#given, indexes)
    append(this.#all, indexes)
  }

  /** The arguments of a single call are joined where that is read. */
  join(): void {
    if (this.#calls > 1) this.#out.join(this.#given)
    if (this.#calls > 0 && this.#all.length > this.#given.length) this.#out.join(this.#all)
  }
}

/**
 * Joins the arguments of one call behind its name, which between two of them would separate them. This is for arguments
 * that are an object; a text of JSON is judged as a whole anyway.
 * @param named the index of the name
 * @param given indexes of the arguments' texts
 */
function joinCall(out: Collector, named: readonly number[], given: readonly number[]): void {
  if (given.length > 0) out.join(named.concat(given))
}

/**
 * The same for a call that was just read.
 * @param from its first part
 * @param pointer of the object that holds the name and the arguments
 * @param field with the arguments
 * @returns indexes of the arguments' texts
 */
export function joinCallRead(out: Collector, from: number, pointer: string, field: string): number[] {
  const name = `${pointer}/name`
  const at = `${pointer}/${field}`
  const named = out.since(from, (part) => part.pointer === name)
  const given = out.since(from, (part) => part.pointer === at || part.pointer.startsWith(`${at}/`))
  joinCall(out, named, given)
  return given
}

const nothing: readonly number[] = []

/**
 * Reads the fields of an object that may be a call, and joins what it is given behind its name.
 * @param read reads the value of each field, and says whether it is what the call is given
 * @param turn takes what the call is given
 */
export function readCallFields(
  out: Collector,
  object: JsonObject,
  role: Role,
  pointer: string,
  read: (name: string, child: Json, at: string) => boolean,
  turn: CallsOfTurn | undefined
): void {
  let named = nothing
  let given = nothing
  for (const name of Object.keys(object)) {
    const before = out.parts.length
    const at = `${pointer}/${pointerSegment(name)}`
    const child = object[name]!
    out.key(role, name, at)
    if (read(name, child, at)) given = out.since(before)
    else if (name === 'name' && typeof child === 'string') named = out.since(before)
  }
  joinCall(out, named, given)
  turn?.give(given)
}

/** Fields that only name a call. */
const labels = new Set(['id', 'name', 'type', 'index'])

/** Indexes of what calls are given, from a part on. */
export function givenSince(out: Collector, from: number): number[] {
  return out.since(from, (part) => !labels.has(lastSegment(part.pointer)))
}

/** What the message of an answer says, in the order in which it is read: its thoughts, its content, its refusal. */
const said = [
  /^\/(?:reasoning|reasoning_content|reasoning_details\/\d+\/(?:text|summary)|thinking|tool_plan)$/,
  /^\/content(?:\/|$)/,
  /^\/refusal$/
]
const called = /^\/(?:tool_calls|function_call)\//

/**
 * Joins the thoughts, the content, and what the calls of a message are given, each by itself and all behind each other.
 * @param from the first part of the message
 * @param pointer of the message
 */
export function joinMessage(out: Collector, from: number, pointer: string): void {
  const within = (place: RegExp) => (index: number) => place.test(out.parts[index]!.pointer.slice(pointer.length))
  const texts = out.since(from)
  const runs = said.map((place) => texts.filter(within(place)))
  runs.push(givenSince(out, from).filter(within(called)))
  for (const run of runs) out.join(run)
  out.join(runs.flat())
}
