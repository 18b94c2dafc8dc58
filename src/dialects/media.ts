/**
 * Recognises media in base64 by its decoded bytes. A declared type (`data:image/png;base64,`) proves nothing: bytes
 * without a signature of that kind, or readable as text behind it, are judged as text.
 */
import { isUtf8 } from 'node:buffer'
import { isBase64 } from '../base/base64.js'
import type { Json, Media } from '../base/chat.js'
import { bytesOf, type DataUrl, parseDataUrl, textOf, zeroed } from './data-url.js'

type Kind = Media['kind']

interface Format {
  kinds: readonly Kind[]
  /** Subtypes of media types that name it. */
  names: readonly string[]
  /** Hexadecimal; `..` is any byte. */
  signature: string
}

/** Signatures of the formats that models accept. Other formats are judged as text, so the list need not be complete. */
const formats: readonly Format[] = [
  { kinds: ['image'], names: ['png'], signature: '89504e470d0a1a0a' },
  { kinds: ['image'], names: ['jpeg', 'jpg'], signature: 'ffd8ff' },
  { kinds: ['image'], names: ['gif'], signature: '47494638..61' },
  { kinds: ['image'], names: ['webp'], signature: '52494646........57454250' },
  { kinds: ['image'], names: ['bmp'], signature: '424d............00000000' },
  { kinds: ['image'], names: ['tiff'], signature: '49492a00' },
  { kinds: ['image'], names: ['tiff'], signature: '4d4d002a' },
  {
    kinds: ['image', 'audio', 'video'],
    names: ['mp4', 'm4a', 'x-m4a', 'quicktime', 'avif', 'heic', 'heif'],
    signature: '........66747970'
  },
  { kinds: ['audio'], names: ['wav', 'x-wav', 'wave'], signature: '52494646........57415645' },
  { kinds: ['audio'], names: ['mpeg', 'mp3'], signature: '494433' },
  { kinds: ['audio'], names: ['mpeg', 'mp3', 'aac'], signature: 'fff.' },
  { kinds: ['audio'], names: ['mpeg', 'mp3'], signature: 'ffe.' },
  { kinds: ['audio'], names: ['flac', 'x-flac'], signature: '664c6143' },
  { kinds: ['audio', 'video'], names: ['ogg', 'opus'], signature: '4f676753' },
  { kinds: ['audio', 'video'], names: ['webm', 'x-matroska'], signature: '1a45dfa3' },
  { kinds: ['video'], names: ['mpeg'], signature: '000001b.' },
  { kinds: ['video'], names: ['x-msvideo', 'avi'], signature: '52494646........41564920' },
  { kinds: ['file'], names: ['pdf'], signature: '255044462d' },
  { kinds: ['file'], names: ['zip', 'epub+zip'], signature: '504b0304' },
  { kinds: ['file'], names: ['gzip', 'x-gzip'], signature: '1f8b08' },
  { kinds: ['file'], names: ['msword', 'vnd.ms-excel', 'vnd.ms-powerpoint'], signature: 'd0cf11e0a1b11ae1' }
]
const signatures = formats.map(({ signature, ...rest }) => ({ ...rest, pattern: new RegExp(`^${signature}`) }))
/** Names of media types that carry no message of their own. */
const subtypes = new Set([...formats.flatMap(({ names }) => names), 'octet-stream', 'pcm', 'x-pcm'])

const strict = /^[A-Za-z0-9+/]*={0,2}$/
/** Least bytes of sound without a signature, in a place for sound. Shorter base64 may be words. */
const rawFewest = 64

/** Types whose bytes a model is given as text. */
const textual =
  /^text\/|[/+.-](?:json|jsonl|ndjson|xml|html|csv|svg|yaml|javascript|ecmascript|typescript|sql|toml|rtf|markdown|text)$/

/** Whether these bytes are media of the declared type; without one, of any kind that the place accepts. */
function isMedia(bytes: Buffer, type: string, kind: Kind | undefined): boolean {
  if (textual.test(type)) return false
  const family = type.slice(0, type.indexOf('/'))
  const claimed = family === 'image' || family === 'audio' || family === 'video' ? family : undefined
  const start = bytes.toString('hex', 0, 16)
  const known = signatures.filter(({ pattern }) => pattern.test(start))
  const wanted = claimed ?? (kind === 'file' ? undefined : kind)
  const fits = wanted === undefined ? known.length > 0 : known.some(({ kinds }) => kinds.includes(wanted))
  return fits && !readsAsText(bytes)
}

/**
 * Whether bytes begin with the signature of this sound container. @param name of the container: `wav`, `mp3`, a subtype
 */
export function beginsAsSound(bytes: Buffer, name: string): boolean {
  const start = bytes.toString('hex', 0, 16)
  return signatures.some(
    ({ kinds, names, pattern }) => kinds.includes('audio') && names.includes(name) && pattern.test(start)
  )
}

const containers = ['wav', 'flac', 'ogg', 'webm', 'mp4', 'mp3'] as const

/** The type of sound without a declared type, by its first bytes; empty where they are no known container. */
export function soundTypeOf(bytes: Buffer): string {
  const container = containers.find((name) => beginsAsSound(bytes, name))
  return container === undefined ? '' : `audio/${container}`
}

/** Least units of a readable run. */
const fewestRead = 16

/** Whether most of it can be read: text, or text behind a few bytes that are none. */
export function readsAsText(bytes: Buffer): boolean {
  let read = 0
  let run = 0
  for (let i = 0; i <= bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if ((byte >= 32 && byte < 127) || byte === 9 || byte === 10 || byte === 13) run++
    else {
      if (run >= fewestRead) read += run
      run = 0
    }
  }
  return read * 2 > bytes.length
}

/** The decoded text of a `data:` URL in a text field; undefined where it is media or empty. */
export function decodedText(text: string): string | undefined {
  const url = parseDataUrl(text)
  if (url === undefined) return undefined
  const bytes = bytesOf(url)
  return bytes.length === 0 || isMedia(bytes, url.type, undefined) ? undefined : textOf(bytes, url.charset)
}

/** The kind of media that a `data:` URL in base64 truly carries, wherever it stands; undefined for any other string. */
export function dataKind(text: string): Kind | undefined {
  const url = parseDataUrl(text)
  if (url === undefined || !url.isBase64 || !isMedia(bytesOf(url), url.type, undefined)) return undefined
  return kinds.find((kind) => url.type.startsWith(`${kind}/`)) ?? 'file'
}

const kinds = ['image', 'audio', 'video'] as const

/** Characters of base64 that hold every signature. */
const signed = 24

/**
 * The kind of bytes in base64 in a place that takes any: by the declared type, in whatever case it is written; where
 * that names no kind, by the bytes. A container of several kinds counts as the last of them.
 */
export function kindOf(type: Json | undefined, data: Json | undefined): Kind {
  const declared = typeof type === 'string' ? type.trim().toLowerCase() : ''
  const named = kinds.find((kind) => declared.startsWith(`${kind}/`))
  if (named !== undefined || typeof data !== 'string') return named ?? 'file'
  const start = Buffer.from(data.slice(0, signed), 'base64').toString('hex')
  return signatures.find(({ pattern }) => pattern.test(start))?.kinds.at(-1) ?? 'file'
}

/** The texts to judge in a place where an API accepts bytes. */
export interface ReadBytes {
  /** True where the whole value is judged as text. */
  isText: boolean
  /** Further texts to judge: its decoded form, or the header of its data. */
  decoded: string[]
}

const nothing: ReadBytes = { isText: false, decoded: [] }

/**
 * @param kind the kind that the place accepts
 * @param claim the declared media type
 */
export function readBytes(text: string, kind: Kind, claim: string | undefined): ReadBytes {
  const url = parseDataUrl(text)
  const type = url?.type ?? claim?.trim().toLowerCase() ?? ''
  const data = url?.data ?? text
  const isCoded = url === undefined || url.isBase64
  if (isCoded && strict.test(data)) {
    const bytes = Buffer.from(data, 'base64')
    if (isMedia(bytes, type, kind) || (kind === 'audio' && !textual.test(type) && isSound(data, bytes))) {
      return url === undefined || isPlainHeader(url) ? nothing : { isText: false, decoded: [url.header] }
    }
    return { isText: true, decoded: textsOf(bytes, url?.charset) }
  }
  return { isText: true, decoded: url === undefined ? [] : textsOf(bytesOf(url), url.charset) }
}

/** One piece of media that is spelled out in base64 over the events of a stream. */
export function isPieceOfMedia(text: string, kind: 'image' | 'audio'): boolean {
  if (!strict.test(text)) return false
  const bytes = Buffer.from(text, 'base64')
  return kind === 'audio' ? isSound(text, bytes) : isMedia(bytes, '', kind)
}

function textsOf(bytes: Buffer, charset: string | undefined): string[] {
  return bytes.length === 0 ? [] : [textOf(bytes, charset)]
}

/** A type and `base64`: a parameter is whatever its author likes. */
function isPlainHeader({ type, header }: DataUrl): boolean {
  return header.toLowerCase() === `${type};base64` && subtypes.has(type.slice(type.indexOf('/') + 1))
}

/**
 * Samples have no signature. Their bytes are not readable as text, and their base64 is no run of words: only 26 of the
 * 64 characters are lower-case letters.
 */
function isSound(data: string, bytes: Buffer): boolean {
  if (data.length < rawFewest || data.length % 4 !== 0 || readsAsText(bytes)) return false
  if (isUtf8(bytes) && zeroed(bytes) === undefined && !bytes.includes(0)) return false
  let lower = 0
  for (let i = 0; i < data.length; i++) {
    const code = data.charCodeAt(i)
    if (code >= 97 && code <= 122) lower++
  }
  return lower * 3 < data.length * 2
}

const anyBase64 = /^[A-Za-z0-9+/_-]{64,}={0,2}$/

/**
 * Whether it is base64 of ciphertext, in either alphabet: all characters are equally frequent, unlike in words, and the
 * decoded bytes are no text.
 */
export function isCiphertext(text: string): boolean {
  return anyBase64.test(text) && isEven(text) && !isUtf8(Buffer.from(text, 'base64'))
}

/**
 * Whether the shares of lower-case letters, capitals, digits and signs are those of random data, within five standard
 * deviations.
 */
function isEven(text: string): boolean {
  const counts = [0, 0, 0, 0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 97 && code <= 122) counts[0]!++
    else if (code >= 65 && code <= 90) counts[1]!++
    else if (code >= 48 && code <= 57) counts[2]!++
    else counts[3]!++
  }
  const length = text.length
  return [26, 26, 10, 2].every((each, i) => {
    const share = each / 64
    const allowed = Math.max(5 * Math.sqrt((share * (1 - share)) / length), leastAllowed)
    return Math.abs(counts[i]! / length - share) <= allowed
  })
}

/** Sealed data often has an unsealed header or frame. */
const leastAllowed = 0.12

/** A vector as base64 of 32-bit floats (little-endian), each of a size that an embedding's can have. */
export function isPackedVector(text: string): boolean {
  if (text.length < rawFewest || !isBase64(text)) return false
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % 4 !== 0) return false
  for (let i = 0; i < bytes.length; i += 4) {
    const size = Math.abs(bytes.readFloatLE(i))
    // NaN fails too.
    if (!(size === 0 || (size > 1e-20 && size < 1e4))) return false
  }
  return true
}
