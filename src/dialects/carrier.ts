/**
 * The bytes of a file, or of sound, in a part of a request, with what is said of them. Only a part of which every field is known holds a
 * file that can be read: a field that nobody here knows may be what a model is given in its place.
 */
import type { Json } from '../base/chat.js'
import { parseDataUrl } from './data-url.js'
import { isObject, pointerSegment } from './rewrite.js'

export interface Carrier {
  /** RFC 6901 pointer of the leaf. */
  pointer: string
  /** Base64. */
  data: string
  /** What stands before it in a `data:` URL. */
  header: string
  /** The media type, lower case, without parameters; empty where none is told. */
  type: string
  charset: string | undefined
  name: string
}

/** Why there is nothing to read: a name of something elsewhere, or a field that nobody here knows. */
export type NoCarrier = 'reference' | 'unknown_field' | 'type_mismatch' | 'bad_encoding'

/** Fields of bytes, by the dialects: OpenAI's; Anthropic's and Gemini's. */
const bytes = new Set(['file_data', 'data'])
const names = new Set(['filename', 'file_name', 'name', 'title', 'displayName', 'display_name'])
const types = new Set(['media_type', 'mimeType', 'mime_type'])
/** Objects within the part that the bytes may stand in. */
const holders = new Set(['file', 'input_file', 'source', 'document'])
/** Texts that are judged as they stand, and what says how the API should treat the part. */
const beside = new Set(['cache_control', 'citations', 'context', 'detail'])
const references = new Set('file_id fileId file_url url fileUri file_uri uri'.split(' '))
const partTypes = new Set(['file', 'input_file', 'document', 'base64'])

/** What a part may be made of, by what it carries. */
interface Form {
  holders: ReadonlySet<string>
  partTypes: ReadonlySet<string>
  /** A field that names the container of sound instead of a media type: OpenAI's. */
  format?: string
}
const ofFile: Form = { holders, partTypes }
const ofSound: Form = { holders: new Set(['input_audio']), partTypes: new Set(['input_audio']), format: 'format' }

/**
 * @param value what stands at `pointer`: the part, or the object in it that holds the bytes
 */
export function carrierOf(
  value: Json | undefined,
  pointer: string,
  kind: 'file' | 'audio' = 'file'
): Carrier | NoCarrier {
  const found: { pointer: string; text: string }[] = []
  const told: { name: string; type: string } = { name: '', type: '' }
  const refused = collect(value, pointer, kind === 'file' ? ofFile : ofSound, found, told, 0)
  if (refused !== undefined) return refused
  const [leaf] = found
  if (leaf === undefined) return 'reference'
  if (found.length > 1) return 'unknown_field'
  return read(leaf.pointer, leaf.text, told)
}

function read(pointer: string, text: string, told: { name: string; type: string }): Carrier | NoCarrier {
  const [claimed = '', ...claims] = told.type.split(';').map((each) => each.trim())
  const url = parseDataUrl(text)
  // An address is a string in the place of bytes, too.
  if (url === undefined && /^\s*[a-z][a-z0-9+.-]*:/i.test(text.slice(0, 64))) return 'reference'
  const charsetOf = (parameters: readonly string[]) =>
    parameters
      .find((each) => each.startsWith('charset='))
      ?.slice('charset='.length)
      .replace(/^"(.*)"$/, '$1')
  if (url === undefined)
    return { pointer, data: text, header: '', type: claimed, charset: charsetOf(claims), name: told.name }
  if (!url.isBase64) return 'bad_encoding'
  if (claimed !== '' && claimed !== url.type) return 'type_mismatch'
  const { data, header, type, charset = charsetOf(claims) } = url
  return { pointer, data, header, type, charset, name: told.name }
}

const deepest = 4

function collect(
  value: Json | undefined,
  pointer: string,
  form: Form,
  found: { pointer: string; text: string }[],
  told: { name: string; type: string },
  depth: number
): NoCarrier | undefined {
  if (!isObject(value) || depth > deepest) return 'unknown_field'
  for (const key of Object.keys(value)) {
    const child = value[key]!
    const at = `${pointer}/${pointerSegment(key)}`
    if (child === null || beside.has(key)) continue
    if (references.has(key)) return 'reference'
    if (form.holders.has(key) && isObject(child)) {
      const refused = collect(child, at, form, found, told, depth + 1)
      if (refused !== undefined) return refused
    } else if (typeof child !== 'string') return 'unknown_field'
    else if (bytes.has(key)) found.push({ pointer: at, text: child })
    else if (names.has(key)) told.name ||= child
    else if (types.has(key)) {
      if (told.type !== '') return 'unknown_field'
      told.type = child.trim().toLowerCase()
    } else if (key === form.format) {
      if (told.type !== '') return 'unknown_field'
      told.type = `audio/${child.trim().toLowerCase()}`
    } else if (key !== 'type' || !form.partTypes.has(child))
      return key === 'type' && child === 'url' ? 'reference' : 'unknown_field'
  }
  return undefined
}
