/** A marked text in any place of a JSON value, as any type and in any dress: what a mark looks like on the wire, and once it is read. */
import type { Json, JsonObject } from '../../src/base/chat.js'

type Place = readonly (string | number)[]

export interface Mark {
  value: Json
  /** What of it is looked for in what was forwarded. */
  sent: string
  /** What a judge must have seen then. */
  seen: string
}

export type Dress = (text: string) => Mark

const plain =
  (value: (text: string) => Json): Dress =>
  (text) => ({ value: value(text), sent: text, seen: text })

const base64 = (text: string, head: readonly number[] = []) =>
  Buffer.concat([Buffer.from(head), Buffer.from(`${text} `.repeat(4))]).toString('base64')
const inBase64 =
  (before: string, head: readonly number[] = []): Dress =>
  (text) => {
    const sent = base64(text, head)
    return { value: before + sent, sent, seen: text }
  }

const pngHead = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const words = (text: string) =>
  `${text.replaceAll(' ', '_')}_and_more_words_run_by_underscores_until_nobody_takes_them_for_words`

export const dresses: Readonly<Record<string, Dress>> = {
  string: plain((text) => text),
  list: plain((text) => [text]),
  object: plain((text) => ({ deep: text })),
  key: plain((text) => ({ [text]: 1 })),
  part: plain((text) => ({ type: 'text', text })),
  media: plain((text) => ({ type: 'image_url', image_url: { url: text }, url: text, data: text, detail: text })),
  nested: plain((text) => [[{ a: [{ b: text }] }]]),
  'a type': plain((text) => ({ type: text })),
  'data, not base64': plain((text) => `data:;base64,${text}`),
  'data, plain': plain((text) => `data:text/plain,${text}`),
  'data, in a parameter': plain((text) => `data:image/png;${text};base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQ=`),
  words: (text) => ({ value: words(text), sent: words(text), seen: words(text) }),
  'words in a picture': (text) => ({
    value: { type: 'image_url', image_url: { url: words(text) } },
    sent: words(text),
    seen: words(text)
  }),
  'words in a source': (text) => ({
    value: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: words(text) } },
    sent: words(text),
    seen: words(text)
  }),
  'text as a picture': inBase64('data:image/png;base64,'),
  'text behind a picture’s head': inBase64('data:image/png;base64,', pngHead),
  'HTML in base64': inBase64('DATA:Text/HTML;charset=utf-8;base64,'),
  'JSON in base64': inBase64('data:application/json;base64,'),
  'a part with text in base64': (text) => ({
    value: { inlineData: { mimeType: 'text/plain', data: base64(text) } },
    sent: base64(text),
    seen: text
  })
}

/** Every place but the root. */
export function placesOf(value: Json, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at]
  const inner = Object.entries(value).flatMap(([name, child]) => placesOf(child, [...at, name]))
  return at.length === 0 ? inner : [at, ...inner]
}

/** Names of all fields. */
export function namesIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value) ? [] : Object.keys(value)
  return [...own, ...Object.values(value).flatMap(namesIn)]
}

/** How a place is changed: what stands there is replaced, renamed, or gets a field or element beside it. */
export type Change = 'value' | 'key' | { beside: string }

/** @returns undefined where the place has no such change */
export function marked(
  body: JsonObject,
  place: Place,
  change: Change,
  value: Json,
  key: string
): JsonObject | undefined {
  const copy = structuredClone(body)
  let holder = copy as Record<string | number, Json>
  for (const name of place.slice(0, -1)) holder = holder[name] as Record<string | number, Json>
  const last = place.at(-1)!
  if (change === 'value') holder[last] = value
  else if (change === 'key') {
    if (Array.isArray(holder)) return undefined
    holder[key] = holder[last]!
    delete holder[last]
  } else if (Array.isArray(holder)) holder.push(value)
  else holder[change.beside] = value
  return copy
}

/** Mulberry32: the same cases in every run. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
