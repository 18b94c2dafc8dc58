/** A value that comes whole in one event of a stream (the arguments of a call): its texts are pieces all the same, so that they can be redacted. */
import type { JsonObject } from '../base/chat.js'
import type { Holder } from './channel.js'
import { dataKind } from './media.js'
import type { StreamSink } from './reply-stream.js'
import { isObject, pointerSegment } from './rewrite.js'

/**
 * @param pointer of the value, which no other value of the stream may have
 * @returns the pointers of its texts
 */
export function takeWhole(sink: StreamSink, holder: Holder, key: string, pointer: string): string[] {
  const texts = takeTexts(sink, holder, key, pointer)
  sink.close(pointer)
  return texts
}

/** The same of a value whose texts may go on in later events. Depth is bounded by the strict reader. */
export function takeTexts(sink: StreamSink, holder: Holder, key: string, pointer: string): string[] {
  const texts: string[] = []
  take(sink, holder, key, pointer, texts)
  return texts
}

function take(sink: StreamSink, holder: Holder, key: string, pointer: string, texts: string[]): void {
  const value = (holder as JsonObject)[key]
  if (typeof value === 'string') {
    sink.delta(pointer, holder, key)
    texts.push(pointer)
    const kind = dataKind(value)
    if (kind !== undefined) sink.media(pointer, kind)
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) take(sink, value, String(i), `${pointer}/${i}`, texts)
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const at = `${pointer}/${pointerSegment(name)}`
      sink.rest.key('assistant', name, at)
      take(sink, value, name, at, texts)
    }
  }
}
