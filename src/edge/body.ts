/**
 * Checks and decodes a body before it is read: one content type, one layer of content coding, a cap on the decoded
 * size. Types are compared exactly, by our own code, since a type with a tab or a space before `;` has made routers and
 * upstreams disagree (CVE-2025-32442, CVE-2026-25223, GHSA-v2v2-hph8-q5xp).
 */
import type { IncomingMessage } from 'node:http'
import { Http2ServerRequest } from 'node:http2'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { Fault, invalid } from '../base/errors.js'
import { boundaryOf } from '../dialects/form.js'

const jsonType = /^application\/json(?:; ?charset=(?:utf-8|"utf-8"))?$/i

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** zstd stands in node:zlib from Node 22.15 on; before that it is refused like any unknown coding. */
const zstd = (zlib as { zstdDecompress?: typeof zlib.gunzip }).zstdDecompress

const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(zlib.gunzip) as Decoder,
  deflate: promisify(zlib.inflate) as Decoder,
  br: promisify(zlib.brotliDecompress) as Decoder,
  ...(zstd === undefined ? {} : { zstd: promisify(zstd) as Decoder })
}

const zstdStream = (zlib as { createZstdDecompress?: () => Transform }).createZstdDecompress

const streamDecoders: Readonly<Record<string, () => Transform>> = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  ...(zstdStream === undefined ? {} : { zstd: zstdStream })
}

/** The names this process can decode, for the error's sentence. */
export const supportedEncodings = ['identity', ...Object.keys(decoders)]

/** A small text that unpacks to more than this many times its size is a bomb, not a chat. */
const maxRatio = 100
/** Below this size no ratio is dangerous. */
const ratioFloorBytes = 65_536

/** True where the framing announces a body. HTTP/2 needs no header for that: there it is what follows the headers. */
export function hasBody(message: Pick<IncomingMessage, 'headers'>): boolean {
  if (message instanceof Http2ServerRequest) return !message.stream.endAfterHeaders
  const { headers } = message
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The kind of body that a route takes: JSON, or a form (`dialects/form.ts`). */
export type BodyKind = 'json' | 'form'

/** The name of a coding, which knows no case (RFC 9110, section 8.4.1). */
function codingNamed(encoding = 'identity'): string {
  return encoding.toLowerCase()
}

/** A 415 for a body that is not of its kind (JSON in UTF-8), or comes in an unknown coding or in more than one. */
export function checkBodyHeaders(
  message: Pick<IncomingMessage, 'headers'>,
  kind: BodyKind = 'json'
): Fault | undefined {
  if (!hasBody(message)) return undefined
  const { headers } = message
  const type = headers['content-type'] ?? ''
  if (kind === 'form') {
    if (boundaryOf(type) === undefined) return new Fault('unsupported_media_type', { message: formMessage })
  } else if (!jsonType.test(type)) return new Fault('unsupported_media_type')
  const coding = codingNamed(headers['content-encoding'])
  if (coding === 'identity' || Object.hasOwn(decoders, coding)) return undefined
  return new Fault('unsupported_encoding', {
    message: `The content encoding must be one of ${supportedEncodings.join(', ')}, once.`
  })
}

const formMessage = 'The content type must be multipart/form-data with a boundary, and no other parameter.'

/** A 400 for a body that is required and missing. */
export function bodyMissing(kind: BodyKind = 'json'): Fault {
  return invalid('', 'missing', kind === 'form' ? 'A form is required.' : 'A JSON body is required.')
}

export function payloadTooLarge(limit: number): Fault {
  return new Fault('payload_too_large', {
    message: `The body is too large: at most ${limit} bytes are allowed.`,
    fields: { limit },
    // The rest of the body is not waited for.
    headers: { connection: 'close' }
  })
}

/**
 * Takes the one layer of coding off a body.
 * @param limit bytes allowed after decoding
 * @throws Fault `payload_too_large` beyond the limit or a ratio of 100:1; `unsupported_encoding` for bytes that are not in the coding they claim
 */
export function decodeBody(bytes: Buffer, encoding: string | undefined, limit: number): Buffer | Promise<Buffer> {
  if (bytes.length > limit) throw payloadTooLarge(limit)
  const coding = codingNamed(encoding)
  if (coding === 'identity') return bytes
  const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  if (decode === undefined) throw new Fault('unsupported_encoding')
  const cap = Math.min(limit, Math.max(ratioFloorBytes, bytes.length * maxRatio))
  return decode(bytes, { maxOutputLength: cap }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE') throw payloadTooLarge(limit)
    throw new Fault('unsupported_encoding', { message: `The body is not valid ${coding}.` })
  })
}

/**
 * Takes the one layer of coding off a body that is read as it comes. What comes out is bounded by its reader, piece by piece.
 * @returns a stream that fails where the body is cut or is not in the coding it claims; undefined for an unknown coding
 */
export function decodeStream(body: Readable, encoding: string | undefined): Readable | undefined {
  const coding = codingNamed(encoding)
  if (coding === 'identity') return body
  if (!Object.hasOwn(streamDecoders, coding)) return undefined
  // Each side's failure ends the other; its reader is told by the stream itself.
  return pipeline(body, streamDecoders[coding]!(), () => {})
}
