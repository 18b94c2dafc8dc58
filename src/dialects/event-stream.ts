/**
 * AWS's event stream (`application/vnd.amazon.eventstream`): messages of a prelude, headers and a payload, with
 * checksums. They are read strictly, and written with the three headers that AWS's own services write. Source:
 * smithy.io/2.0/aws/amazon-eventstream.html.
 */
import { TextDecoder } from 'node:util'
import { crc32 } from 'node:zlib'

/** A message as it came. */
export interface EventMessage {
  /** By name; headers of other types than text are ignored. */
  headers: Readonly<Record<string, string>>
  /** Text in UTF-8. */
  payload: string
}

/** The two lengths and their checksum. */
const preludeLength = 12
const checksumLength = 4
/** Bytes of headers that AWS's own readers take at most. */
const mostHeaders = 131_072
const stringType = 7
/** Bytes of the value by the type of a header; for 6 and 7 (bytes and text) the value says its own length. */
const valueLengths: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]

/** Bytes that are no message of an event stream. */
export class BadMessage extends Error {}

/** Cuts messages from bytes, independent of network chunks. */
export class MessageReader {
  readonly #most: number
  #chunks: Buffer[] = []
  #length = 0
  #needed = preludeLength

  /** @param most bytes of one message */
  constructor(most: number) {
    this.#most = most
  }

  /** False where a message was begun and not ended. */
  get isComplete(): boolean {
    return this.#length === 0
  }

  /**
   * @returns the messages that these bytes complete
   * @throws BadMessage
   */
  feed(chunk: Buffer): EventMessage[] {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length < this.#needed) return []
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#length)
    const out: EventMessage[] = []
    for (;;) {
      this.#needed = rest.length < preludeLength ? preludeLength : this.#totalOf(rest)
      if (rest.length < this.#needed) break
      out.push(readMessage(rest.subarray(0, this.#needed)))
      rest = rest.subarray(this.#needed)
    }
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#length = rest.length
    return out
  }

  #totalOf(bytes: Buffer): number {
    if (bytes.readUInt32BE(8) !== crc32(bytes.subarray(0, 8))) throw new BadMessage('the prelude is damaged')
    const total = bytes.readUInt32BE(0)
    const headers = bytes.readUInt32BE(4)
    if (total > this.#most) throw new BadMessage('a message is too long')
    if (headers > mostHeaders || total < preludeLength + headers + checksumLength) {
      throw new BadMessage('the lengths do not fit')
    }
    return total
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readMessage(bytes: Buffer): EventMessage {
  const end = bytes.length - checksumLength
  if (bytes.readUInt32BE(end) !== crc32(bytes.subarray(0, end))) throw new BadMessage('a message is damaged')
  const payloadAt = preludeLength + bytes.readUInt32BE(4)
  const headers = readHeaders(bytes.subarray(preludeLength, payloadAt))
  return { headers, payload: textOf(bytes.subarray(payloadAt, end)) }
}

function textOf(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new BadMessage('not UTF-8')
  }
}

function readHeaders(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  const seen = new Set<string>()
  let at = 0
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new BadMessage('a header is cut off')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const name = textOf(take(take(1)[0]!))
    const type = take(1)[0]!
    if (type >= valueLengths.length) throw new BadMessage('a header has an unknown type')
    const value = take(valueLengths[type] ?? take(2).readUInt16BE(0))
    // Parsers differ in which of two equal names they take.
    if (name === '' || seen.has(name)) throw new BadMessage('a header is given twice, or has no name')
    seen.add(name)
    if (type === stringType) headers[name] = textOf(value)
  }
  return headers
}

/**
 * One message with an object in JSON, its bytes as characters of one byte each (`latin1`).
 * @param kind `event`, or `exception` for a failure in mid-stream
 * @param name of the event or exception
 */
export function messageOf(kind: 'event' | 'exception', name: string, json: string): string {
  const headers = Buffer.concat([
    header(kind === 'event' ? ':event-type' : ':exception-type', name),
    header(':content-type', 'application/json'),
    header(':message-type', kind)
  ])
  const payload = Buffer.from(json)
  const total = preludeLength + headers.length + payload.length + checksumLength
  const out = Buffer.alloc(total)
  out.writeUInt32BE(total, 0)
  out.writeUInt32BE(headers.length, 4)
  out.writeUInt32BE(crc32(out.subarray(0, 8)), 8)
  headers.copy(out, preludeLength)
  payload.copy(out, preludeLength + headers.length)
  out.writeUInt32BE(crc32(out.subarray(0, total - checksumLength)), total - checksumLength)
  return out.toString('latin1')
}

function header(name: string, value: string): Buffer {
  const text = Buffer.from(value)
  const head = Buffer.alloc(name.length + 4)
  head.writeUInt8(name.length, 0)
  head.write(name, 1, 'latin1')
  head.writeUInt8(stringType, name.length + 1)
  head.writeUInt16BE(text.length, name.length + 2)
  return Buffer.concat([head, text])
}
