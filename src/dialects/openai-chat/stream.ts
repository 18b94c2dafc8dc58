/**
 * Assembles `chat.completion.chunk` events. Every string inside a choice is an increment of one channel: choice × path,
 * with tool calls told apart by their own `index`. All other leaves of a chunk repeat from chunk to chunk and are judged once.
 */
import type { ChatPart, ChatReply, Json, JsonObject, Media } from '../../chat.js'
import { parseJson } from '../../json/parse.js'
import type { ReplyStream, ServerSentEvent, TurnFacts } from '../dialect.js'
import { isObject, pointerSegment, type Replacement, rewriteLeaf, setOwn } from '../rewrite.js'
import { Collector, dataKind } from '../walk.js'
import { names } from './names.js'
import { tokenTexts } from './reply.js'
import { doneFrame, filteredStream, frame, unreadable } from './write.js'

/** UTF-16 units of released text that are judged again with what follows: longer than any phrase or identifier. */
const tailLength = 2048

interface Piece {
  holder: JsonObject | Json[]
  key: string
}

interface Channel {
  pointer: string
  tail: string
  pieces: Piece[]
  texts: string[]
}

/** Spoken answers come in pieces of base64 beside their transcript. */
const audioData = /^\/choices\/\d+\/message\/audio\/data$/

const choiceFields = new Set(['index', 'finish_reason', 'logprobs'])
const bodyFields = new Set(['choices'])

export class ChatStream implements ReplyStream {
  #events: JsonObject[] = []
  #channels = new Map<string, Channel>()
  /** Texts outside the channels, by pointer, as judged already. */
  #known = new Set<string>()
  #others: ChatPart[] = []
  #choices = new Set<number>()
  /** What is held and no text, by pointer. */
  #media = new Map<string, Media>()
  #tokens = new Map<string, string>()
  #forgetTokens = false
  started = false

  push({ event, data }: ServerSentEvent): 'more' | 'end' {
    if (data === '[DONE]') return 'end'
    if (event === 'error') throw unreadable('the upstream sent an error event')
    const chunk = readChunk(data)
    if ('error' in chunk) throw unreadable('the upstream sent an error in its stream')
    // Padding against size analysis: useless where frames are held back, and noise to judge.
    delete chunk.obfuscation
    const { choices } = chunk
    if (choices !== undefined && !Array.isArray(choices)) throw unreadable('choices is not an array')
    for (const [position, choice] of (choices ?? []).entries()) this.#readChoice(choice, position)
    const rest = new Collector(names)
    rest.rest('parameter', chunk, '', bodyFields)
    this.#note(rest.parts)
    this.#events.push(chunk)
    return 'more'
  }

  #readChoice(choice: Json, position: number): void {
    if (!isObject(choice)) throw unreadable('a choice is not an object')
    const index = typeof choice.index === 'number' ? choice.index : position
    this.#choices.add(index)
    const pointer = `/choices/${index}`
    const rest = new Collector(names)
    for (const name of Object.keys(choice)) {
      if (choiceFields.has(name)) continue
      // A client of the stream reads `delta`; the reader of the whole knows the same place as `message`.
      this.#readLeaves(choice, name, `${pointer}/${name === 'delta' ? 'message' : pointerSegment(name)}`, rest)
    }
    if (typeof choice.finish_reason === 'string') {
      rest.word('assistant', choice.finish_reason, `${pointer}/finish_reason`)
    }
    this.#note(rest.parts)
    for (const text of tokenTexts(choice.logprobs)) {
      const at = `${pointer}/logprobs`
      this.#tokens.set(at, (this.#tokens.get(at) ?? '') + text)
    }
  }

  #readLeaves(holder: JsonObject | Json[], key: string, pointer: string, rest: Collector): void {
    const value = (holder as JsonObject)[key]
    if (typeof value === 'string') {
      const last = pointer.slice(pointer.lastIndexOf('/') + 1)
      if ((last === 'role' || last === 'type') && names.has(value)) return
      const kind = audioData.test(pointer) ? 'audio' : dataKind(value)
      if (kind !== undefined) {
        this.#media.set(pointer, { pointer, kind })
        return
      }
      this.#channel(pointer, { holder, key }, value)
    } else if (Array.isArray(value)) {
      for (const [position, item] of value.entries()) {
        const index = isObject(item) && typeof item.index === 'number' ? item.index : position
        this.#readLeaves(value, String(position), `${pointer}/${index}`, rest)
      }
    } else if (isObject(value)) {
      for (const name of Object.keys(value)) {
        const at = `${pointer}/${pointerSegment(name)}`
        rest.key('assistant', name, at)
        this.#readLeaves(value, name, at, rest)
      }
    }
  }

  #channel(pointer: string, piece: Piece, text: string): void {
    let channel = this.#channels.get(pointer)
    if (channel === undefined) {
      channel = { pointer, tail: '', pieces: [], texts: [] }
      this.#channels.set(pointer, channel)
    }
    channel.pieces.push(piece)
    channel.texts.push(text)
  }

  #note(parts: readonly ChatPart[]): void {
    for (const part of parts) {
      const id = `${part.pointer}\n${part.text}`
      if (this.#known.has(id)) continue
      this.#known.add(id)
      this.#others.push(part)
    }
  }

  content(): ChatReply {
    const out = new Collector(names)
    out.parts.push(...this.#others)
    out.media.push(...this.#media.values())
    for (const { pointer, tail, texts } of this.#channels.values()) {
      if (texts.length === 0) continue
      const text = tail + texts.join('')
      if (pointer.endsWith('/arguments')) out.embedded('assistant', text, pointer)
      else out.text('assistant', text, pointer)
    }
    for (const [pointer, text] of this.#tokens) out.text('assistant', text, pointer)
    return out
  }

  rewrite(replacements: readonly Replacement[]): number {
    let count = 0
    for (const { pointer, tail, pieces, texts } of this.#channels.values()) {
      if (pieces.length === 0) continue
      const own = replacements
        .filter((each) => each.pointer === pointer && !each.isKey && each.end > tail.length)
        .map((each) => ({ ...each, start: Math.max(0, each.start - tail.length), end: each.end - tail.length }))
      const inner = replacements
        .filter((each) => tail === '' && each.pointer.startsWith(`${pointer}/`))
        .map((each) => ({ ...each, pointer: each.pointer.slice(pointer.length) }))
      if (own.length + inner.length === 0) continue
      count += Math.max(own.length, inner.length)
      // The whole text goes into the first piece: nothing held is seen before the rest, and no piece keeps a half of a span.
      const text = rewriteLeaf(texts.join(''), own, inner)
      for (const [i, { holder, key }] of pieces.entries()) setLeaf(holder, key, i === 0 ? text : '')
      texts.fill('')
      texts[0] = text
    }
    if (count > 0) this.#forgetTokens = true
    return count
  }

  release(): string {
    let out = ''
    for (const event of this.#events) {
      if (this.#forgetTokens) forgetChunkTokens(event)
      out += frame(event)
    }
    this.#events = []
    this.#others = []
    this.#known.clear()
    this.#media.clear()
    for (const channel of this.#channels.values()) {
      channel.tail = (channel.tail + channel.texts.join('')).slice(-tailLength)
      channel.pieces = []
      channel.texts = []
    }
    for (const [pointer, text] of this.#tokens) this.#tokens.set(pointer, text.slice(-tailLength))
    this.started = true
    return out
  }

  filtered(facts: TurnFacts): string {
    this.#events = []
    return filteredStream(
      [...this.#choices].sort((a, b) => a - b),
      this.started,
      facts
    )
  }

  end(): string {
    return doneFrame
  }
}

function readChunk(data: string): JsonObject {
  let value: Json
  try {
    value = parseJson(data)
  } catch {
    throw unreadable('an event is not JSON')
  }
  if (!isObject(value)) throw unreadable('an event is not an object')
  return value
}

function setLeaf(holder: JsonObject | Json[], key: string, text: string): void {
  if (Array.isArray(holder)) holder[Number(key)] = text
  else setOwn(holder, key, text)
}

function forgetChunkTokens(chunk: JsonObject): void {
  if (!Array.isArray(chunk.choices)) return
  for (const choice of chunk.choices) {
    if (isObject(choice) && choice.logprobs !== undefined) choice.logprobs = null
  }
}
