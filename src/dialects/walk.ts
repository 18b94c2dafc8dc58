/**
 * The generic walk: whatever a dialect does not know by name is still read, leaf by leaf and key by key, so that a field
 * added to an API tomorrow is judged today.
 */
import { isUtf8 } from 'node:buffer'
import type { ChatContent, ChatPart, Json, JsonObject, Media, Role } from '../chat.js'
import { invalid } from '../errors.js'
import { isObject, pointerSegment } from './rewrite.js'

/** The strict reader's own bound; here for what comes by another way (the JSON in a tool call's arguments). */
const maxDepth = 64

/**
 * Base64 in either alphabet. Short runs are words too, so a leaf counts as media only from here on; below, it is judged.
 */
const base64 = /^[A-Za-z0-9+/_-]{64,}={0,2}$/

export class Collector implements ChatContent {
  readonly parts: ChatPart[] = []
  readonly joined: number[][] = []
  readonly media: Media[] = []
  readonly #names: ReadonlySet<string>

  /** @param names the dialect's own field names and enumerated values: a closed set of words that carry no message */
  constructor(names: ReadonlySet<string>) {
    this.#names = names
  }

  /** Adds one text and returns its index, or -1 for an empty one. */
  text(role: Role, text: string, pointer: string): number {
    if (text === '') return -1
    return this.parts.push({ role, text, pointer }) - 1
  }

  key(role: Role, name: string, pointer: string): void {
    if (name !== '' && !this.#names.has(name)) this.parts.push({ role, text: name, pointer, isKey: true })
  }

  /** A field whose values are enumerated by the dialect: judged only where the value is not one of them. */
  word(role: Role, text: string, pointer: string): void {
    if (!this.#names.has(text)) this.text(role, text, pointer)
  }

  /** Every leaf and key of a value. */
  walk(role: Role, value: Json | undefined, pointer: string, depth = 0): void {
    if (typeof value === 'string') {
      const kind = dataKind(value)
      if (kind === undefined) this.text(role, value, pointer)
      else this.media.push({ pointer, kind })
      return
    }
    if (typeof value !== 'object' || value === null) return
    if (depth > maxDepth) throw invalid('', 'too_deep', `The body is nested deeper than ${maxDepth} levels.`)
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) this.walk(role, value[i], `${pointer}/${i}`, depth + 1)
      return
    }
    for (const name of Object.keys(value)) {
      const at = `${pointer}/${pointerSegment(name)}`
      const child = value[name]
      this.key(role, name, at)
      if (name === 'type' && typeof child === 'string') this.word(role, child, at)
      else this.walk(role, child, at, depth + 1)
    }
  }

  /** The fields of an object that no reader took by name. */
  rest(role: Role, object: JsonObject, pointer: string, taken: ReadonlySet<string>): void {
    for (const name of Object.keys(object)) {
      if (taken.has(name)) continue
      const at = `${pointer}/${pointerSegment(name)}`
      this.key(role, name, at)
      if (name === 'type' && typeof object[name] === 'string') this.word(role, object[name], at)
      else this.walk(role, object[name], at)
    }
  }

  /**
   * A string that may hold JSON: read as it stands, and decoded where escapes hide what it says (`\\u0062omb`).
   */
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

  /** Encrypted state that an API hands out and takes back (signatures): no text, as long as it looks like it. */
  opaque(role: Role, value: Json | undefined, pointer: string): void {
    if (typeof value !== 'string' || !isCiphertext(value)) this.walk(role, value, pointer)
  }

  /** A media object: its bytes are media, its captions, names and addresses are text. */
  mediaObject(kind: Media['kind'], role: Role, value: Json | undefined, pointer: string): void {
    this.media.push({ pointer, kind })
    this.#mediaText(role, value, pointer)
  }

  #mediaText(role: Role, value: Json | undefined, pointer: string): void {
    if (typeof value === 'string') {
      if (!isMediaData(value)) this.text(role, value, pointer)
    } else if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) this.#mediaText(role, value[i], `${pointer}/${i}`)
    } else if (isObject(value)) {
      for (const name of Object.keys(value)) {
        const at = `${pointer}/${pointerSegment(name)}`
        const child = value[name]
        this.key(role, name, at)
        if (name === 'type' && typeof child === 'string') this.word(role, child, at)
        else this.#mediaText(role, child, at)
      }
    }
  }

  /** Notes texts that a model reads as one. Runs of one say nothing new. */
  join(indexes: readonly number[]): void {
    const run = indexes.filter((index) => index >= 0)
    if (run.length < 2) return
    const known = this.joined.some(
      (other) => other.length === run.length && other.every((index, i) => index === run[i])
    )
    if (!known) this.joined.push(run)
  }
}

/** What an upstream says when it does not answer as asked: all of it, as the model's words. */
export function everyLeaf(body: JsonObject, names: ReadonlySet<string>): ChatContent {
  const out = new Collector(names)
  out.walk('assistant', body, '')
  return out
}

/** Base64 of what is no text: words run together are made of letters alone, and what is read decodes to UTF-8. */
function isCiphertext(text: string): boolean {
  return (
    base64.test(text) &&
    /[A-Z]/.test(text) &&
    /[a-z]/.test(text) &&
    /\d/.test(text) &&
    !isUtf8(Buffer.from(text, 'base64'))
  )
}

/** The kind of media that a `data:` URL in base64 carries, wherever it stands; undefined for any other string. */
export function dataKind(text: string): Media['kind'] | undefined {
  if (!text.startsWith('data:') || !isMediaData(text)) return undefined
  return mediaKinds.find((kind) => text.startsWith(`data:${kind}/`)) ?? 'file'
}

const mediaKinds = ['image', 'audio', 'video'] as const

function isMediaData(text: string): boolean {
  if (!text.startsWith('data:')) return base64.test(text)
  // Only the base64 form is media: `data:text/plain,…` is a text that anyone can read.
  const comma = text.indexOf(',')
  return comma !== -1 && comma < 256 && text.slice(0, comma).endsWith(';base64')
}
