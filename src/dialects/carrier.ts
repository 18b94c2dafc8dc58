/**
 * Carriers: the bytes of a file or sound in a part of a request, with their declared type. Only a part whose fields are
 * all known can be read as a file: an unknown field may be what the model really gets.
 */
import type { Json } from '../base/chat.js'
import { parseDataUrl } from './data-url.js'
import { isObject, pointerSegment } from './rewrite.js'

export interface Carrier {
  /** RFC 6901 pointer of the leaf. */
  pointer: string
  /** Base64. */
  data: string
  /** The header of its `data:` URL. */
  header: string
  /** The media type, lower case, without parameters; empty where none is told. */
  type: string
  charset: string | undefined
  /** The type declared beside the bytes, with its parameters. */
  claim: string
  name: string
}

/** Why no bytes can be read: a reference to content elsewhere, an unknown field, or a contradicting type. */
export type NoCarrier = 'reference' | 'unknown_field' | 'type_mismatch' | 'bad_encoding'

const names = new Set(['filename', 'file_name', 'name', 'title', 'displayName', 'display_name'])
const types = new Set(['media_type', 'mimeType', 'mime_type'])
/** Fields of ordinary text, and options of the part. */
const beside = new Set(['cache_control', 'citations', 'context', 'detail', 'annotations', '_meta', 'revised_prompt'])

/** The fields in which dialects carry one kind of media. */
interface Spelling {
  bytes: ReadonlySet<string>
  /** Objects within the part that the bytes may stand in. */
  holders: ReadonlySet<string>
  references: ReadonlySet<string>
  /** Values of `type`. */
  parts: ReadonlySet<string>
  /** Fields for times and names, beside texts that are judged. */
  told?: ReadonlySet<string>
  /** A field that names the second half of a media type, and the first half. */
  format?: { field: string; type: string }
}

const words = (list: string) => new Set(list.split(' '))

/** Spellings of OpenAI, Anthropic, Gemini and MCP. */
const files: Spelling = {
  bytes: words('file_data data'),
  holders: words('file input_file source document'),
  references: words('file_id fileId file_url url fileUri file_uri uri'),
  parts: words('file input_file document base64')
}

/** A picture's address may be one of its own bytes (`data:`). */
const pictures: Spelling = {
  bytes: words('data bytes url image_url b64_json'),
  holders: words('image_url source'),
  references: words('file_id fileId fileUri file_uri uri s3Location'),
  parts: words('image_url input_image image computer_screenshot base64'),
  format: { field: 'format', type: 'image' }
}

/** OpenAI's. */
const sounds: Spelling = {
  bytes: files.bytes,
  holders: words('input_audio'),
  references: files.references,
  parts: words('input_audio'),
  format: { field: 'format', type: 'audio' }
}

/** OpenAI's, of an answer. In a request its `id` stands for sound that is somewhere else. */
const spoken: Spelling = { ...sounds, told: words('id expires_at transcript') }

const spellings = { file: files, image: pictures, audio: sounds, spoken }

/**
 * @param value what stands at `pointer`: the part, the object in it that holds the bytes, or the bytes
 * @param kind the kind that the place accepts: pictures only, sound only, or all files; `spoken`: sound of an answer
 */
export function carrierOf(
  value: Json | undefined,
  pointer: string,
  kind: keyof typeof spellings = 'file'
): Carrier | NoCarrier {
  const told: Told = { name: '', type: '' }
  if (kind === 'image' && typeof value === 'string') return read(pointer, value, told)
  const found: { pointer: string; text: string }[] = []
  const refused = collect(value, pointer, spellings[kind], found, told, 0)
  if (refused !== undefined) return refused
  const [leaf] = found
  if (leaf === undefined) return 'reference'
  if (found.length > 1) return 'unknown_field'
  return read(leaf.pointer, leaf.text, told)
}

interface Told {
  name: string
  type: string
}

function read(pointer: string, text: string, told: Told): Carrier | NoCarrier {
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
    return {
      pointer,
      data: text,
      header: '',
      type: claimed,
      charset: charsetOf(claims),
      claim: told.type,
      name: told.name
    }
  if (!url.isBase64) return 'bad_encoding'
  if (claimed !== '' && claimed !== url.type) return 'type_mismatch'
  const { data, header, type, charset = charsetOf(claims) } = url
  return { pointer, data, header, type, charset, claim: told.type, name: told.name }
}

const deepest = 4

function collect(
  value: Json | undefined,
  pointer: string,
  spelling: Spelling,
  found: { pointer: string; text: string }[],
  told: Told,
  depth: number
): NoCarrier | undefined {
  if (!isObject(value) || depth > deepest) return 'unknown_field'
  for (const key of Object.keys(value)) {
    const child = value[key]!
    const at = `${pointer}/${pointerSegment(key)}`
    if (child === null || beside.has(key)) continue
    if (spelling.told?.has(key) === true && typeof child !== 'object') continue
    if (spelling.references.has(key)) return 'reference'
    if (spelling.holders.has(key) && isObject(child)) {
      const refused = collect(child, at, spelling, found, told, depth + 1)
      if (refused !== undefined) return refused
    } else if (typeof child !== 'string') return 'unknown_field'
    else if (spelling.bytes.has(key)) found.push({ pointer: at, text: child })
    else if (names.has(key)) told.name ||= child
    else if (types.has(key) || key === spelling.format?.field) {
      if (told.type !== '') return 'unknown_field'
      const type = child.trim().toLowerCase()
      // Bedrock names the format of pictures alone, OpenAI the container of sound.
      told.type = key === spelling.format?.field ? `${spelling.format.type}/${type}` : type
    } else if (key !== 'type' || !spelling.parts.has(child))
      return key === 'type' && (child === 'url' || child === 'file') ? 'reference' : 'unknown_field'
  }
  return undefined
}
