/**
 * Reads texts that events spell out in increments and then repeat as a whole, in streamed responses and in sessions
 * alike.
 */

import type { StreamSink } from '../reply-stream.js'
import { pointerSegment } from '../rewrite.js'
import { any, type Fields, string, type Taker } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import type { Leaf, LeafKind } from './items.js'

/** An event's type without its `.delta` or `.done`. */
export function stemOf(type: string): string {
  return type.slice(0, type.lastIndexOf('.'))
}

interface Spelling {
  /** The part of the item's content that the event names. */
  part: string
  /** The holder of the text: that part, or the item itself. */
  holder: string
  /** Undefined: an unknown event, which has a text of its own. */
  place: { readonly key: string; readonly kind: LeafKind } | undefined
}

/** The fields with the string that continues or repeats a text, and its token probabilities. */
export function spelledFields<To extends { sink: StreamSink }>(
  type: string,
  { part, holder, place }: Spelling
): Fields<To> {
  const isDelta = type.endsWith('.delta')
  const key = isDelta ? 'delta' : place?.key
  const logprobs: Taker<To> = any((value, { sink }) => {
    for (const text of tokenTexts(value, sink.rest, 'assistant', `${part}/logprobs`)) {
      if (isDelta) sink.tokens(`${part}/logprobs`, text)
      else sink.rest.text('assistant', text, `${part}/logprobs`)
    }
  })
  if (key === undefined || !(isDelta || type.endsWith('.done'))) return { logprobs }
  const pointer = `${holder}/${place?.key ?? pointerSegment(stemOf(type))}`
  const spelled: Taker<To> = string((_, { sink }, { holder: event, name }) => {
    sink[isDelta ? 'delta' : 'repeat'](pointer, event, name, place?.kind)
  })
  return { logprobs, [key]: spelled }
}

/** A leaf for texts in announced items, which begin them, or in finished ones, which repeat them. */
export function leafOf(sink: StreamSink, how: 'delta' | 'repeat'): Leaf {
  return (holder, key, _role, pointer, kind) => {
    // An empty text begins nothing when announced, but ends its channel when finished.
    if (how === 'repeat' || holder[key] !== '') sink[how](pointer, holder, key, kind)
    return -1
  }
}
