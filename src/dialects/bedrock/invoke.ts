/**
 * InvokeModel and its streamed twin for Anthropic's models: the body and the answer are Anthropic's own, the model stands in
 * the path, and each event of a stream comes in base64 within a `chunk`
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html).
 */
import { isUtf8 } from 'node:buffer'
import { isBase64 } from '../../base/base64.js'
import type { ChatRequest, Json, JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { parseJson } from '../../json/parse.js'
import { readRequest } from '../anthropic/request.js'
import { MessageStreamShape } from '../anthropic/stream.js'
import * as anthropic from '../anthropic/write.js'
import type { Target, TurnFacts } from '../dialect.js'
import { messageOf } from '../event-stream.js'
import { stringField } from '../fields.js'
import { type Pushed, type StreamSink, unreadable, type WireEvent } from '../reply-stream.js'
import { isObject } from '../rewrite.js'
import { modelOf } from './model.js'
import { isPadding } from './stream.js'

/**
 * Bodies of other makers' models have shapes of their own, which no one reads here: they lack the version, which Anthropic's
 * must have.
 */
export function readInvoke(stream: boolean): (body: JsonObject, target: Target) => ChatRequest {
  return (body, target) => {
    const model = modelOf(target)
    if (stringField(body, 'anthropic_version') === undefined) {
      throw invalid(
        'anthropic_version',
        'missing',
        "The field anthropic_version is required: InvokeModel is served for Anthropic's models. Others have Converse."
      )
    }
    const { parts, joined, media, metadata } = readRequest(body)
    if (model !== undefined) parts.push({ role: 'parameter', text: model, pointer: 'path.model' })
    return { parts, joined, media, stream, model, metadata, session: undefined }
  }
}

/** Anthropic's events, each in a chunk. */
export class InvokeStreamShape extends MessageStreamShape {
  unwrap({ event, data }: WireEvent): WireEvent {
    if (event !== 'chunk') throw unreadable('an event that is no chunk')
    const { bytes, p = '', ...others } = objectOf(data)
    if (Object.keys(others).length > 0 || !isPadding(p)) throw unreadable('a chunk holds more than an event')
    if (typeof bytes !== 'string' || !isBase64(bytes)) throw unreadable('a chunk holds no event')
    const text = Buffer.from(bytes, 'base64')
    if (!isUtf8(text)) throw unreadable('a chunk is not UTF-8')
    return { data: text.toString() }
  }

  /** Here errors come as exceptions. */
  override read(event: JsonObject, sink: StreamSink, name: string | undefined): Pushed {
    if (event.type === 'error') throw unreadable('the upstream sent an error event')
    return super.read(event, sink, name)
  }

  override frame(event: JsonObject): string {
    return chunkOf(event)
  }
}

function objectOf(data: string): JsonObject {
  let value: Json
  try {
    value = parseJson(data, { anyNumbers: true })
  } catch {
    throw unreadable('a chunk is not JSON')
  }
  if (!isObject(value)) throw unreadable('a chunk is not an object')
  return value
}

function chunkOf(event: JsonObject): string {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64')
  return messageOf('event', 'chunk', JSON.stringify({ bytes }))
}

/** Answers name the model that was asked for. */
function named(facts: TurnFacts): TurnFacts {
  return { ...facts, request: { ...facts.request, model: modelOf(facts.target) ?? '' } }
}

export function turn(facts: TurnFacts): JsonObject {
  return anthropic.turn(named(facts))
}

export function turnStream(facts: TurnFacts): string {
  return anthropic.turnEvents(named(facts)).map(chunkOf).join('')
}

export function filtered(reply: JsonObject, facts: TurnFacts): JsonObject {
  return anthropic.filtered(reply, named(facts))
}
