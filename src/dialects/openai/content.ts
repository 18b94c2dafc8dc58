/** The content of messages and items: a string, or parts of which some hold media. */
import type { Json, JsonObject, Media, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { isObject } from '../rewrite.js'
import { append, type Collector } from '../walk.js'

/** Fields of a content part that hold media, by the part's type or by their mere presence. */
const mediaFields: Readonly<Record<string, Media['kind']>> = {
  image_url: 'image',
  image: 'image',
  input_image: 'image',
  computer_screenshot: 'image',
  input_audio: 'audio',
  audio: 'audio',
  audio_url: 'audio',
  video: 'video',
  video_url: 'video',
  input_video: 'video',
  file: 'file',
  input_file: 'file',
  file_id: 'file',
  file_data: 'file',
  file_url: 'file',
  document: 'file'
}

const textTypes = new Set(['text', 'refusal', 'input_text', 'output_text', 'summary_text', 'reasoning_text', 'logs'])
const noFields: ReadonlySet<string> = new Set()

/**
 * @param field names the place in an error; undefined where another shape is read leaf by leaf instead
 * @returns indexes of the texts, which a model reads as one
 * @throws Fault `validation_error`
 */
export function readContent(
  out: Collector,
  content: Json | undefined,
  role: Role,
  pointer: string,
  field: string | undefined
): number[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [out.text(role, content, pointer)]
  if (!Array.isArray(content)) {
    if (field === undefined) return readWhole(out, content, role, pointer)
    throw invalid(field, 'wrong_type', 'content must be a string or an array of parts.')
  }
  const indexes: number[] = []
  for (let i = 0; i < content.length; i++) {
    const part = content[i]
    const at = `${pointer}/${i}`
    if (typeof part === 'string') indexes.push(out.text(role, part, at))
    else if (isObject(part)) append(indexes, readPart(out, part, role, at))
    else if (field === undefined) append(indexes, readWhole(out, part, role, at))
    else throw invalid(`${field}.${i}`, 'wrong_type', 'A content part must be an object.')
  }
  return indexes
}

/** @returns indexes of the part's texts */
export function readPart(out: Collector, part: JsonObject, role: Role, pointer: string): number[] {
  const kind = mediaKind(part)
  if (kind !== undefined) {
    out.mediaObject(kind, role, part, pointer)
    return []
  }
  return textsOf(out, () => out.rest(role, part, pointer, noFields))
}

function readWhole(out: Collector, value: Json | undefined, role: Role, pointer: string): number[] {
  return isObject(value) ? readPart(out, value, role, pointer) : textsOf(out, () => out.walk(role, value, pointer))
}

function textsOf(out: Collector, read: () => void): number[] {
  const before = out.parts.length
  read()
  return out.since(before)
}

function mediaKind(part: JsonObject): Media['kind'] | undefined {
  if (typeof part.type === 'string') {
    if (Object.hasOwn(mediaFields, part.type)) return mediaFields[part.type]
    // A text part stays text even where it carries a field of this name: all of it is read.
    if (textTypes.has(part.type)) return undefined
  }
  for (const name of Object.keys(part)) {
    if (Object.hasOwn(mediaFields, name)) return mediaFields[name]
  }
  return undefined
}
