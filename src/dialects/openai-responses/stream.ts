/**
 * The events of a streamed response. Increments continue the text of an item; `done` events, finished parts and items and
 * the last event say each text once more as a whole; everything else is judged once.
 */
import type { JsonObject } from '../../chat.js'
import type { TurnFacts } from '../dialect.js'
import { names } from '../openai/names.js'
import { type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject } from '../rewrite.js'
import { terminal, textPlaces } from './events.js'
import { readItem, readItemPart } from './items.js'
import { forgetItemTokens, forgetTokens, readResponse } from './reply.js'
import { SeenResponse } from './seen.js'
import { leafOf, readSpelling, stemOf } from './spelling.js'
import { eventFrame, filteredStream } from './write.js'

/** It becomes a line of its own. */
const typePattern = /^[a-z][a-z0-9_.]{0,127}$/

const eventFields = new Set(['type', 'response', 'item', 'part', 'annotation', 'logprobs'])
/** Media in pieces: pictures on the way, spoken answers. */
const dataFields: Readonly<Record<string, { key: string; kind: 'image' | 'audio' }>> = {
  'response.image_generation_call.partial_image': { key: 'partial_image_b64', kind: 'image' },
  'response.audio.delta': { key: 'delta', kind: 'audio' }
}

export class ResponseStreamShape implements StreamShape {
  readonly names = names
  /** The last event ends it; what some servers send after it is not read. */
  readonly endMarker = undefined
  readonly repeats = true
  readonly complete = false
  answerId: string | undefined
  readonly #seen = new SeenResponse()

  read(event: JsonObject, sink: StreamSink): 'more' | 'end' {
    const { type } = event
    if (typeof type !== 'string' || !typePattern.test(type)) throw unreadable('an event has no type')
    if (type === 'error') throw unreadable('the upstream sent an error event')
    // Padding against size analysis: useless where frames are held back, and noise to judge.
    delete event.obfuscation
    sink.rest.word('parameter', type, '/type')
    const taken = new Set(eventFields)
    const isLast = terminal.has(type)
    // What is announced begins a text, what is finished says it again.
    const leaf = leafOf(sink, isLast || type.endsWith('.done') ? 'repeat' : 'delta')
    if (isObject(event.response)) {
      readResponse(sink.rest, event.response, leaf)
      if (typeof event.response.id === 'string') this.answerId ??= event.response.id
    }
    const at = `/output/${typeof event.output_index === 'number' ? event.output_index : 'unknown'}`
    if (isObject(event.item)) readItem(sink.rest, event.item, 'assistant', at, undefined, leaf)
    const list = type.includes('summary') ? 'summary' : 'content'
    const part = `${at}/${list}/${String(event[`${list}_index`])}`
    if (isObject(event.part)) readItemPart(sink.rest, event.part, 'assistant', part, leaf)
    for (const name of ['response', 'item', 'part']) {
      if (!isObject(event[name])) sink.rest.walk('assistant', event[name], `/${name}`)
    }
    sink.rest.walk('assistant', event.annotation, `${part}/annotations/${String(event.annotation_index)}`)
    this.#readText(event, type, { at, part }, sink, taken)
    sink.rest.rest('parameter', event, '', taken)
    if (type === 'response.output_item.done') sink.close(`${at}/`)
    if (isLast) sink.close('')
    return isLast ? 'end' : 'more'
  }

  /** The string that continues a text or says it again. */
  #readText(
    event: JsonObject,
    type: string,
    { at, part }: { at: string; part: string },
    sink: StreamSink,
    taken: Set<string>
  ): void {
    const data = dataFields[type]
    if (data !== undefined && typeof event[data.key] === 'string') {
      taken.add(data.key)
      sink.media(`${at}/${data.key}`, data.kind)
      return
    }
    const place = textPlaces[stemOf(type)]
    readSpelling(event, type, { part, holder: place?.list ? part : at, place }, sink, taken)
  }

  frame(event: JsonObject): string {
    return eventFrame(event)
  }

  left(event: JsonObject): void {
    this.#seen.add(event)
  }

  forgetTokens(event: JsonObject): void {
    if (event.logprobs !== undefined) event.logprobs = []
    if (isObject(event.part)) forgetItemTokens({ content: [event.part] })
    if (isObject(event.item)) forgetItemTokens(event.item)
    if (isObject(event.response)) forgetTokens(event.response)
  }

  filtered(facts: TurnFacts, started: boolean): string {
    return started ? this.#seen.close(facts) : filteredStream(facts)
  }

  end(): string {
    return ''
  }
}
