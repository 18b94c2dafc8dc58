/**
 * Forms (`multipart/form-data`, RFC 7578 over RFC 2046): read strictly into the object that is judged, and written anew
 * from that object, so that nothing of the client's own framing reaches an upstream. Common libraries are lenient: they
 * drop unknown parts, skip text before and after, decode any charset and accept text that is not UTF-8. Here each of
 * these is refused, and the refusal names the part.
 *
 * A text field is a string under its name, a file is an object (`FormFile`); a name that ends with `[]` holds a list.
 */
import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { isBase64 } from '../base/base64.js'
import type { Json, JsonObject, Media } from '../base/chat.js'
import { Fault, invalid, tooComplex, type ValidationReason } from '../base/errors.js'
import { isObject, setOwn } from './rewrite.js'

/** The kind of content of a form's files, by field. */
export type FormFiles = Readonly<Record<string, Media['kind']>>

/** A file of a form, its bytes in base64. */
export interface FormFile extends JsonObject {
  filename: string
  mime_type: string
  data: string
}

/** RFC 2046 section 5.1.1, 70 characters at most. No other parameter: parsers differ on the meaning of a charset. */
const contentType =
  /^multipart\/form-data; ?boundary=(?:"([A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-])"|([A-Za-z0-9'+_.-]{1,70}))$/i

/** @returns undefined where this is no content type of a form as it is read here */
export function boundaryOf(type: string): string | undefined {
  const match = contentType.exec(type)
  return match?.[1] ?? match?.[2]
}

/** Bytes of the headers of one part. */
const mostHeaders = 4096
/** Parts of a form. */
const mostParts = 1000
/** A field's name as SDKs write it: `file`, `timestamp_granularities[]`, `chunking_strategy[type]`. */
const nameForm = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}(?:\[[A-Za-z0-9_.-]{0,64}\]){0,3}$/
/** RFC 7578 section 4.6: its value changes the decoding of every other text. */
const charsetField = '_charset_'
const token = "[A-Za-z0-9!#$&'*+.^_`|~\\[\\]-]+"
/** `filename*` is refused: parsers differ in which of two names they take. */
const disposition = new RegExp(
  `^form-data; ?name=(?:"([^"\\\\]*)"|(${token}))(?:; ?filename=(?:"([^"\\\\]+)"|(${token})))?$`,
  'i'
)
const textType = /^text\/plain(?:; ?charset="?utf-8"?)?$/i
const fileType = /^(?!multipart\/|message\/)[a-z0-9-]{1,32}\/[a-z0-9.+-]{1,64}(?:; ?codecs="?[a-z0-9.,-]{1,32}"?)?$/i
const identity = /^(?:7bit|8bit|binary)$/i
const lineEnd = Buffer.from('\r\n')
const headersEnd = Buffer.from('\r\n\r\n')

/**
 * @param files the fields that hold files
 * @throws Fault `validation_error` that names the field, or says which part is meant; `too_complex`
 */
export function readForm(bytes: Buffer, boundary: string, files: FormFiles): JsonObject {
  const body: JsonObject = {}
  const first = Buffer.from(`--${boundary}\r\n`)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  if (!bytes.subarray(0, first.length).equals(first)) {
    throw malformed('The form must begin with its boundary.')
  }
  let at = first.length
  for (let number = 1; ; number++) {
    if (number > mostParts) throw tooComplex('parts', number, mostParts)
    const end = bytes.indexOf(delimiter, at - lineEnd.length)
    if (end === -1) throw malformed(`Part ${number} does not end with the boundary.`)
    readPart(body, bytes.subarray(at, Math.max(at, end)), number, files)
    const behind = end + delimiter.length
    const mark = bytes.toString('latin1', behind, behind + 2)
    at = behind + 2
    if (mark === '--') break
    // Some parsers accept a longer line that begins with the boundary.
    if (mark !== '\r\n') throw malformed(`After part ${number}, a line begins with the boundary and goes on.`)
  }
  const rest = bytes.subarray(at)
  if (rest.length > 0 && !rest.equals(lineEnd)) throw malformed('Nothing may follow the last boundary.')
  return body
}

function readPart(body: JsonObject, part: Buffer, number: number, files: FormFiles): void {
  const end = part.indexOf(headersEnd)
  if (end === -1 || end > mostHeaders) throw malformed(`Part ${number} has no headers, or too many.`)
  const headers = readHeaders(part.subarray(0, end), number)
  const content = part.subarray(end + headersEnd.length)
  const match = disposition.exec(headers.get('content-disposition') ?? '')
  if (match === null) {
    throw malformed(
      `Part ${number}: Content-Disposition must be form-data with a name, and for a file a filename; nothing else.`
    )
  }
  const name = match[1] ?? match[2] ?? ''
  const filename = match[3] ?? match[4]
  if (!nameForm.test(name) || name === charsetField) throw malformed(`Part ${number} has a name that no field has.`)
  const length = headers.get('content-length')
  if (length !== undefined && length !== String(content.length)) {
    throw wrong(name, 'invalid_format', 'the Content-Length of its part is another than its length')
  }
  if (!identity.test(headers.get('content-transfer-encoding') ?? 'binary')) {
    throw wrong(name, 'invalid_format', 'a part may not be in a transfer encoding')
  }
  const isFile = Object.hasOwn(files, name)
  if (isFile !== (filename !== undefined)) {
    throw wrong(
      name,
      'wrong_type',
      isFile ? 'it must be a file, with a filename' : 'it must be a text, without a filename'
    )
  }
  const type = headers.get('content-type')
  add(body, name, filename === undefined ? readText(name, type, content) : readFile(name, filename, type, content))
}

/** By name in lower case. A header that is not known could change how the part is read. */
const known = new Set(['content-disposition', 'content-type', 'content-length', 'content-transfer-encoding'])

function readHeaders(bytes: Buffer, number: number): ReadonlyMap<string, string> {
  if (!isUtf8(bytes)) throw malformed(`The headers of part ${number} are not UTF-8.`)
  const headers = new Map<string, string>()
  for (const line of bytes.toString().split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    // Folded lines have no name that is known.
    if (colon === -1 || !known.has(name) || headers.has(name)) {
      throw malformed(`Part ${number} has a header that is not known here, or one twice.`)
    }
    headers.set(name, line.slice(colon + 1).replace(/^ /, ''))
  }
  return headers
}

function readText(name: string, type: string | undefined, content: Buffer): string {
  if (type !== undefined && !textType.test(type)) {
    throw wrong(name, 'wrong_type', 'a text must be text/plain in UTF-8')
  }
  if (!isUtf8(content)) throw wrong(name, 'invalid_utf8', 'it is not UTF-8')
  return content.toString()
}

function readFile(name: string, filename: string, type: string | undefined, content: Buffer): FormFile {
  if (/[\u0000-\u001f\u007f]/.test(filename) || filename.length > 255) {
    throw wrong(name, 'invalid_format', 'the filename must be at most 255 characters, without control characters')
  }
  if (type !== undefined && !fileType.test(type)) {
    throw wrong(name, 'invalid_format', 'the Content-Type of a file must be a plain media type')
  }
  return { filename, mime_type: type ?? 'application/octet-stream', data: content.toString('base64') }
}

/** @throws Fault for a name that comes again and does not end with `[]` */
function add(body: JsonObject, name: string, value: Json): void {
  if (name.endsWith('[]')) {
    const list = Object.hasOwn(body, name) ? (body[name] as Json[]) : []
    list.push(value)
    setOwn(body, name, list)
  } else if (Object.hasOwn(body, name)) {
    throw invalid(name, 'duplicate_key', `${name} is given twice; a list is named ${name}[].`)
  } else {
    setOwn(body, name, value)
  }
}

function malformed(sentence: string): Fault {
  return invalid('', 'invalid_format', sentence)
}

function wrong(name: string, reason: ValidationReason, why: string): Fault {
  return invalid(name, reason, `${name}: ${why}.`)
}

/**
 * Writes a form in the framing that every parser reads alike.
 * @param boundary default: one that no client can know
 * @throws Fault `unscannable_content` where the base64 of a file was redacted, which would change its bytes
 */
export function writeForm(
  body: JsonObject,
  boundary = `form-${randomBytes(24).toString('hex')}`
): { type: string; bytes: Buffer } {
  const pieces: Buffer[] = []
  for (const name of Object.keys(body)) {
    const value = body[name]!
    for (const each of Array.isArray(value) ? value : [value]) {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`
      if (isObject(each)) {
        const { filename, mime_type: type, data } = each as FormFile
        pieces.push(
          Buffer.from(`${head}; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`),
          bytesOf(name, data)
        )
      } else {
        pieces.push(Buffer.from(`${head}\r\n\r\n${String(each)}`))
      }
      pieces.push(lineEnd)
    }
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`))
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(pieces) }
}

/**
 * Whether every parser reads this form from the bytes: their framing equals ours, and the boundary occurs nowhere else.
 * Some parsers end a part at a boundary after a bare line feed.
 */
export function isFramedAlike(bytes: Buffer, boundary: string, body: JsonObject): boolean {
  if (!writeForm(body, boundary).bytes.equals(bytes)) return false
  const parts = Object.values(body).reduce((sum: number, value) => sum + (Array.isArray(value) ? value.length : 1), 0)
  const mark = `--${boundary}`
  let found = 0
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) found++
  return found === parts + 1
}

function bytesOf(name: string, data: string): Buffer {
  if (isBase64(data)) return Buffer.from(data, 'base64')
  throw new Fault('unscannable_content', {
    message: 'The request holds a file with what the route replaces, and a file is not rewritten.',
    fields: { details: { pointer: `/${name}` } }
  })
}
