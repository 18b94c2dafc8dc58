/**
 * The generic walk: fields that a dialect does not know are still read, leaf by leaf and key by key, so that new fields
 * of an API are judged.
 */
import type { ChatContent, ChatPart, Json, JsonObject, Media, Role } from '../base/chat.js'
import { invalid, tooComplex } from '../base/errors.js'
import { dataKind, decodedText, isCiphertext, readBytes } from './media.js'
import { isObject, pointerSegment } from './rewrite.js'

/** The strict reader's bound, for values that did not pass it (the JSON in a tool call's arguments). */
const maxDepth = 64

/** Fields in which APIs accept the bytes of media; all other fields of a media object are text. */
const byteFields = new Set(
  'data blob bytes url file_data image_url input_image image audio_url input_audio audio video_url input_video video b64_json'.split(
    ' '
  )
)
/** Roles by their names in an API. */
export type Roles = Readonly<Record<string, Role>>

/** A role that the API does not know is judged as the caller's own words (and as a text itself, by whoever reads it). */
export function roleNamed(roles: Roles, name: string): Role {
  return Object.hasOwn(roles, name) ? roles[name]! : 'user'
}

/** Fields that declare the type of the bytes. */
const claims = ['media_type', 'mimeType', 'mime_type'] as const

export class Collector implements ChatContent {
  readonly parts: ChatPart[] = []
  readonly joined: number[][] = []
  readonly media: Media[] = []
  readonly #names: ReadonlySet<string>
  /** Whether the text of each index stands in a field for prose, where that was asked. */
  readonly #prose: (boolean | undefined)[] = []
  /** The runs so far, by their first text. */
  readonly #runs = new Map<number, number[][]>()
  /** UTF-16 units of the pointers so far. */
  #paths = 0

  /** @param names the dialect's own field names and enumerated values: a closed set of words that carry no message */
  constructor(names: ReadonlySet<string>) {
    this.#names = names
  }

  /** Whether a word is the dialect's own. */
  isName(word: string): boolean {
    return this.#names.has(word)
  }

  /** Adds one text and returns its index, or -1 for an empty one. */
  text(role: Role, text: string, pointer: string): number {
    if (text === '') return -1
    this.#count(pointer)
    const index = this.parts.push({ role, text, pointer }) - 1
    this.decoded(role, decodedText(text), pointer)
    return index
  }

  /** Adds a text that a leaf holds but does not spell as it stands. Returns its index, or -1 for none. */
  decoded(role: Role, text: string | undefined, pointer: string): number {
    if (text === undefined || text === '') return -1
    this.#count(pointer)
    return this.parts.push({ role, text, pointer, isDecoded: true }) - 1
  }

  /**
   * Bounds the total length of pointers. Building one costs nothing until it is read, but a long name above many leaves
   * would lengthen each of them.
   * @throws Fault `too_complex`
   */
  #count(pointer: string): void {
    if (this.parts.length >= mostParts) {
      throw tooComplex('parts', this.parts.length + 1, mostParts, 'limits.request.parts')
    }
    this.#paths += pointer.length
    const limit = freePaths + pathUnits * this.parts.length
    if (this.#paths > limit) throw tooComplex('paths', this.#paths, limit)
  }

  key(role: Role, name: string, pointer: string): void {
    if (name === '' || this.#names.has(name)) return
    this.#count(pointer)
    this.parts.push({ role, text: name, pointer, isKey: true })
    this.decoded(role, decodedText(name), pointer)
  }

  /** A field whose values are enumerated by the dialect: judged only where the value is not one of them. */
  word(role: Role, text: string, pointer: string): void {
    if (!this.#names.has(text)) this.text(role, text, pointer)
  }

  /** The role of message number `i`, whose name is a text as well. @throws Fault `validation_error` that names the field */
  messageRole(roles: Roles, { role: name }: JsonObject, i: number): Role {
    const field = `messages.${i}.role`
    if (name === undefined) throw invalid(field, 'missing', 'A message must have a role.')
    if (typeof name !== 'string') throw invalid(field, 'wrong_type', 'role must be a string.')
    this.word('parameter', name, `/messages/${i}/role`)
    return roleNamed(roles, name)
  }

  /**
   * Reads every leaf and key of a value. Since a model's use of the place is unknown, even a `data:` URL of media is
   * text.
   */
  walk(role: Role, value: Json | undefined, pointer: string, depth = 0): void {
    if (typeof value === 'string') {
      this.text(role, value, pointer)
      const kind = dataKind(value)
      if (kind !== undefined) this.media.push({ pointer, kind })
      return
    }
    if (typeof value !== 'object' || value === null) return
    if (depth > maxDepth) throw invalid('', 'too_deep', `The body is nested deeper than ${maxDepth} levels.`)
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) this.walk(role, value[i], `${pointer}/${i}`, depth + 1)
      return
    }
    for (const name of Object.keys(value)) {
      this.field(role, name, value[name], `${pointer}/${pointerSegment(name)}`, depth + 1)
    }
  }

  /** A field of an object: its name, and every leaf and key of its value. */
  field(role: Role, name: string, value: Json | undefined, pointer: string, depth = 0): void {
    this.key(role, name, pointer)
    if (name === 'type' && typeof value === 'string') this.word(role, value, pointer)
    else this.walk(role, value, pointer, depth)
  }

  /** The fields of an object that no reader took by name. @throws Fault `validation_error` for a twin in a request */
  rest(role: Role, object: JsonObject, pointer: string, taken: ReadonlySet<string>): void {
    for (const name of Object.keys(object)) {
      if (taken.has(name)) continue
      if (isCallers) refuseTwin(name, object, pointer, taken)
      this.field(role, name, object[name], `${pointer}/${pointerSegment(name)}`)
    }
  }

  /** A string that may hold JSON: read unchanged, and also decoded where escapes hide its words (`\\u0062omb`). */
  embedded(role: Role, text: string, pointer: string): void {
    this.text(role, text, pointer)
    if (!text.includes('\\')) return
    try {
      const value = JSON.parse(text) as Json
      if (typeof value === 'object') this.walk(role, value, pointer)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }

  /** Encrypted state of an API (signatures): not judged as long as it looks encrypted. */
  opaque(role: Role, value: Json | undefined, pointer: string): void {
    if (typeof value !== 'string' || !isCiphertext(value)) this.walk(role, value, pointer)
  }

  /**
   * A media object: its bytes are media if they match their declared type; its captions, names and addresses are text.
   */
  mediaObject(kind: Media['kind'], role: Role, value: Json | undefined, pointer: string): void {
    this.media.push({ pointer, kind, role })
    this.#mediaText(kind, role, value, pointer, true, undefined)
  }

  #mediaText(
    kind: Media['kind'],
    role: Role,
    value: Json | undefined,
    pointer: string,
    holdsBytes: boolean,
    claim: string | undefined
  ): void {
    if (typeof value === 'string') {
      if (holdsBytes) this.#bytes(kind, role, value, pointer, claim)
      else this.text(role, value, pointer)
    } else if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        this.#mediaText(kind, role, value[i], `${pointer}/${i}`, holdsBytes, claim)
      }
    } else if (isObject(value)) {
      const told = claims.map((name) => value[name]).find((each) => typeof each === 'string') ?? claim
      for (const name of Object.keys(value)) {
        const at = `${pointer}/${pointerSegment(name)}`
        const child = value[name]
        this.key(role, name, at)
        if (name === 'type' && typeof child === 'string') this.word(role, child, at)
        else this.#mediaText(kind, role, child, at, byteFields.has(name), told as string | undefined)
      }
    }
  }

  #bytes(kind: Media['kind'], role: Role, text: string, pointer: string, claim: string | undefined): void {
    const { isText, decoded } = readBytes(text, kind, claim)
    if (isText && text !== '') {
      this.#count(pointer)
      this.parts.push({ role, text, pointer })
    }
    for (const each of decoded) this.decoded(role, each, pointer)
  }

  /** Indexes of the texts, not the keys, from a part on. */
  since(before: number, keeps: (part: ChatPart) => boolean = everyPart): number[] {
    const indexes: number[] = []
    for (let index = before; index < this.parts.length; index++) {
      const part = this.parts[index]!
      if (part.isKey !== true && keeps(part)) indexes.push(index)
    }
    return indexes
  }

  /** Indexes of the keys from a part on. */
  keysSince(before: number): number[] {
    const indexes: number[] = []
    for (let index = before; index < this.parts.length; index++) if (this.parts[index]!.isKey) indexes.push(index)
    return indexes
  }

  /**
   * Notes texts that a model reads as one, and those of them that are prose: a name or an id between two halves of a
   * sentence would hide it. Runs of a single text and duplicates are ignored.
   */
  join(indexes: readonly number[]): void {
    const run = indexes.filter((index) => index >= 0)
    this.#joinRun(run)
    const prose = run.filter((index) => this.#isProse(index))
    if (prose.length < run.length) this.#joinRun(prose)
  }

  #isProse(index: number): boolean {
    this.#prose[index] ??= prose.test(this.parts[index]!.pointer)
    return this.#prose[index]
  }

  #joinRun(run: number[]): void {
    if (run.length < 2) return
    // Equal runs begin with the same text, and of those that do there are few: it is compared with no others.
    const first = run[0]!
    const others = this.#runs.get(first)
    if (others === undefined) this.#runs.set(first, [run])
    else if (others.some((other) => isEqual(other, run))) return
    else others.push(run)
    this.joined.push(run)
  }
}

const everyPart = () => true

/** Places of what people and models write to each other; other fields hold names, ids and settings. */
const prose = /\/(?:text|content|thinking|prompt|input|output|data)(?:\/\d+)*$/i

/** State of the current reading: readers are synchronous, so that only one runs at a time. */
let mostParts = Number.POSITIVE_INFINITY
let isCallers = false

/**
 * Reads what a caller sends. Stops at this many texts, since a request with more is refused anyway, and refuses fields
 * that an upstream may take for others.
 * @throws Fault `too_complex`, `validation_error`, and what `read` throws
 */
export function readingCaller<T>(most: number, read: () => T): T {
  mostParts = most
  isCallers = true
  try {
    return read()
  } finally {
    mostParts = Number.POSITIVE_INFINITY
    isCallers = false
  }
}

/**
 * Refuses a field of a caller's whose name differs only in case from one that the reader knows, or that stands beside
 * it: lenient upstreams (Go's encoding/json) read both as one field, so that what was judged is not what they read.
 * @throws Fault `validation_error`
 */
export function refuseTwins(object: JsonObject, pointer: string, known: ReadonlySet<string>): void {
  if (!isCallers) return
  for (const name of Object.keys(object)) if (!known.has(name)) refuseTwin(name, object, pointer, known)
}

function refuseTwin(name: string, object: JsonObject, pointer: string, known: ReadonlySet<string>): void {
  const folded = foldCase(name)
  const twin = folded !== name && Object.hasOwn(object, folded) ? folded : foldedNames(known).get(folded)
  if (twin === undefined || twin === name) return
  const field = `${pointer}/${name}`.slice(1).replaceAll('/', '.')
  throw invalid(field, 'unknown_field', `The field "${name}" is unknown here: write ${twin}.`)
}

/** As lenient upstreams fold names: the long s and the Kelvin sign are letters to them too. */
function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase()
}

const foldedSets = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, string>>()

function foldedNames(names: ReadonlySet<string>): ReadonlyMap<string, string> {
  const known = foldedSets.get(names)
  if (known !== undefined) return known
  const folded = new Map(Array.from(names, (name) => [foldCase(name), name] as const))
  foldedSets.set(names, folded)
  return folded
}

/** UTF-16 units of a leaf's path, on the average of all leaves, beyond what a few long ones may have. */
const pathUnits = 256
const freePaths = 1024 * 1024

/** The name or index that a pointer ends with, as it is written there. */
export function lastSegment(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf('/') + 1)
}

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((index, i) => index === b[i])
}

/** All of `more` at the end of `list`; to spread a list of any length into a call would overflow the stack. */
export function append<T>(list: T[], more: readonly T[]): void {
  for (let i = 0; i < more.length; i++) list.push(more[i]!)
}

/** Reads all of an upstream's error, as the model's words. */
export function everyLeaf(body: JsonObject, names: ReadonlySet<string>): ChatContent {
  const out = new Collector(names)
  out.walk('assistant', body, '')
  return out
}
