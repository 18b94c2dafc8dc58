/**
 * Finds the sound in chunks: parts whose `inlineData` is samples, each in base64 of its own
 * (ai.google.dev/gemini-api/docs/speech-generation). A part with other fields or of another type stays in its chunk.
 */
import { isBase64 } from '../../base/base64.js'
import type { Json, JsonObject } from '../../base/chat.js'
import type { WireEvent } from '../reply-stream.js'
import { isObject } from '../rewrite.js'
import { parseEvent, type SoundFormat, type SoundStep, type SpelledSound } from '../sound.js'
import { indexOf } from '../taken.js'
import { spellings } from './names.js'

const dataFields = spellings('inlineData')
const typeFields = spellings('mimeType')
/** Fields that each chunk repeats. */
const headFields = spellings('modelVersion', 'responseId', 'createTime')

/** Samples of 16 bits, little-endian whatever RFC 3551 says of L16. @returns undefined for any other type */
export function sampleFormat(type: string): SoundFormat | undefined {
  const [name, ...parameters] = type
    .toLowerCase()
    .split(';')
    .map((each) => each.trim())
  if (name !== 'audio/l16' && name !== 'audio/pcm') return undefined
  let rate: number | undefined
  for (const parameter of parameters) {
    const told = /^rate=(\d{4,5})$/.exec(parameter)?.[1]
    if (told !== undefined && rate === undefined) rate = Number(told)
    else if (parameter !== 'codec=pcm' && parameter !== 'channels=1') return undefined
  }
  return rate !== undefined && rate >= 8000 && rate <= 48_000 ? { coding: 'pcm', rate } : undefined
}

interface Sound {
  format: SoundFormat
  bytes: Buffer
  /** The same part with other sound. */
  of(data: string): JsonObject
}

export class PartSound implements SpelledSound {
  take(event: WireEvent): SoundStep[] {
    const chunk = parseEvent(event.data)
    if (chunk === undefined || !Array.isArray(chunk.candidates)) return [{ event }]
    const head = Object.fromEntries(Object.entries(chunk).filter(([name]) => headFields.has(name)))
    const sounds: SoundStep[] = []
    const ends: SoundStep[] = []
    for (const [position, candidate] of chunk.candidates.entries()) {
      if (!isObject(candidate)) continue
      const number = indexOf(candidate, 'index')
      const place = String(number ?? position)
      for (const { format, bytes, of } of takeParts(candidate)) {
        const write = (data: string) => JSON.stringify(chunkOf(head, of(data), number))
        sounds.push({ place, format, bytes, write })
      }
      if (typeof candidate.finishReason === 'string') ends.push({ ends: place })
    }
    if (sounds.length === 0) return [...ends, { event }]
    const rest: SoundStep[] = saysNothing(chunk) ? [] : [{ event: { data: JSON.stringify(chunk) } }]
    return [...sounds, ...ends, ...rest]
  }
}

function chunkOf(head: JsonObject, part: JsonObject, index: number | undefined): JsonObject {
  const candidate = { content: { parts: [part], role: 'model' }, ...(index !== undefined && { index }) }
  return { candidates: [candidate], ...head }
}

/** Removes the sound parts from a candidate, and also the list where it becomes empty. */
function takeParts({ content }: JsonObject): Sound[] {
  if (!isObject(content) || !Array.isArray(content.parts)) return []
  const sounds: Sound[] = []
  const kept: Json[] = []
  for (const part of content.parts) {
    const sound = isObject(part) ? soundOf(part) : undefined
    if (sound === undefined) kept.push(part)
    else sounds.push(sound)
  }
  if (kept.length > 0) content.parts = kept
  else if (sounds.length > 0) delete content.parts
  return sounds
}

function soundOf(part: JsonObject): Sound | undefined {
  const [entry, ...more] = Object.entries(part)
  if (entry === undefined || more.length > 0 || !dataFields.has(entry[0]) || !isObject(entry[1])) return undefined
  const { data, ...told } = entry[1]
  const [type, ...others] = Object.entries(told)
  if (type === undefined || others.length > 0 || !typeFields.has(type[0]) || typeof type[1] !== 'string')
    return undefined
  const format = sampleFormat(type[1])
  if (format === undefined || typeof data !== 'string' || !isBase64(data)) return undefined
  const of = (other: string) => ({ [entry[0]]: { ...told, data: other } })
  return { format, bytes: Buffer.from(data, 'base64'), of }
}

/** Whether a chunk is empty once its sound was removed. */
function saysNothing({ candidates, ...head }: JsonObject): boolean {
  return (
    Object.keys(head).every((name) => headFields.has(name)) &&
    (candidates as Json[]).every((candidate) => {
      if (!isObject(candidate) || !isObject(candidate.content)) return false
      const { index: _, content, ...more } = candidate
      const { role: __, ...rest } = content as JsonObject
      return Object.keys(more).length + Object.keys(rest).length === 0
    })
  )
}

/** The object that holds the sound, in a chunk with nothing else. */
export function soundIn({ candidates }: JsonObject): JsonObject | undefined {
  const candidate = Array.isArray(candidates) ? candidates[0] : undefined
  const content = isObject(candidate) ? candidate.content : undefined
  const part = isObject(content) && Array.isArray(content.parts) ? content.parts[0] : undefined
  const holder = isObject(part) ? Object.values(part)[0] : undefined
  return isObject(holder) && typeof holder.data === 'string' ? holder : undefined
}
