/**
 * The model file: little-endian binary, versioned and checksummed. A damaged file, or one of another version, is
 * refused, since scores from wrong weights look plausible.
 *
 *   8 bytes   magic
 *   u32 × 6   version, lanes, classes of windows, places of the two tables (powers of two), CRC-32 of all that follows
 *   text      names of the lanes, 24 bytes each, padded with zeros
 *   f64       by lane: unit of a weight; by class and lane: bias; by lane: slope, offset and ceiling of the calibration
 *   u16       tags of the table of words, then of the table of pairs
 *   i8        weights of the table of words, then of the table of pairs: a row of lanes for each place
 */
import { readFileSync } from 'node:fs'
import { endianness } from 'node:os'
import { crc32 } from 'node:zlib'
import { lanes, WIDTH } from './lanes.js'
import { FeatureTable } from './table.js'
import { classes } from './windows.js'

export interface Model {
  wordTable: FeatureTable
  pairTable: FeatureTable
  /** In units of the lane; by table row and lane, `WIDTH` to a row. */
  words: Int8Array
  pairs: Int8Array
  unit: Float64Array
  /** By class of window and lane. */
  bias: Float64Array
  /** By lane: a score `z` is the confidence `sigmoid(slope · z + offset)`. */
  slope: Float64Array
  offset: Float64Array
  /** By lane: the highest confidence of a text of few words, whose context could change its meaning. */
  ceiling: Float64Array
}

export class ModelError extends Error {
  constructor(file: string, reason: string) {
    super(`the classifier's model ${file} ${reason}`)
    this.name = 'ModelError'
  }
}

const magic = 'SLGCLASS'
/** Incremented with every change of layout or features: a model fits only the code that made its features. */
const version = 3
const nameBytes = 24
const headerBytes = 32
/** The largest accepted file. */
const maxBytes = 8 * 1024 * 1024

/** @throws ModelError */
export function readModel(file: string): Model {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    throw new ModelError(file, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
  return decodeModel(bytes, file)
}

/** @param file only for messages */
export function decodeModel(bytes: Buffer, file: string): Model {
  const fail = (reason: string) => new ModelError(file, reason)
  if (bytes.length < headerBytes || bytes.toString('latin1', 0, 8) !== magic) throw fail('is not a model file')
  if (bytes.length > maxBytes) throw fail(`has ${bytes.length} bytes; at most ${maxBytes} are read`)
  const header = Array.from({ length: 6 }, (_, i) => bytes.readUInt32LE(8 + 4 * i))
  const [fileVersion, laneCount, classCount, wordPlaces, pairPlaces, checksum] = header as [
    number,
    number,
    number,
    number,
    number,
    number
  ]
  if (fileVersion !== version)
    throw fail(`has version ${fileVersion}; this program reads version ${version}: train it anew`)
  if (laneCount !== lanes.length || classCount !== classes) throw fail('scores other categories than this program')
  if (!isTableSize(wordPlaces) || !isTableSize(pairPlaces)) throw fail('gives table sizes that are no powers of two')
  const numbers = lanes.length * (4 + classes)
  const expected = headerBytes + lanes.length * nameBytes + numbers * 8 + (wordPlaces + pairPlaces) * (2 + lanes.length)
  if (bytes.length !== expected) throw fail(`has ${bytes.length} bytes where its header announces ${expected}`)
  if (crc32(bytes.subarray(headerBytes)) !== checksum) throw fail('is damaged: its checksum does not match')
  const cursor = new Cursor(bytes, headerBytes)
  for (const lane of lanes) {
    const name = cursor.name()
    if (name !== lane) throw fail(`scores "${name}" where "${lane}" was expected`)
  }
  return {
    unit: widened(cursor.numbers(lanes.length)),
    bias: widened(cursor.numbers(classes * lanes.length)),
    slope: widened(cursor.numbers(lanes.length)),
    offset: widened(cursor.numbers(lanes.length)),
    ceiling: widened(cursor.numbers(lanes.length)),
    wordTable: new FeatureTable(cursor.tags(wordPlaces)),
    pairTable: new FeatureTable(cursor.tags(pairPlaces)),
    words: cursor.weights(wordPlaces),
    pairs: cursor.weights(pairPlaces)
  }
}

export function encodeModel(model: Model): Buffer {
  const { wordTable, pairTable, words, pairs } = model
  const parts: Buffer[] = lanes.map((lane) => Buffer.from(lane.padEnd(nameBytes, '\0'), 'latin1'))
  for (const list of [model.unit, model.bias, model.slope, model.offset, model.ceiling].map((list) => narrowed(list))) {
    const part = Buffer.alloc(list.length * 8)
    for (const [i, number] of list.entries()) part.writeDoubleLE(number, i * 8)
    parts.push(part)
  }
  for (const { tags } of [wordTable, pairTable]) {
    const part = Buffer.alloc(tags.length * 2)
    for (const [i, tag] of tags.entries()) part.writeUInt16LE(tag, i * 2)
    parts.push(part)
  }
  for (const rows of [words, pairs]) parts.push(Buffer.from(narrowed(rows)))
  const body = Buffer.concat(parts)
  const header = Buffer.alloc(headerBytes)
  header.write(magic, 'latin1')
  const fields = [version, lanes.length, classes, wordTable.tags.length, pairTable.tags.length, crc32(body)]
  for (const [i, field] of fields.entries()) header.writeUInt32LE(field, 8 + 4 * i)
  return Buffer.concat([header, body])
}

function isTableSize(places: number): boolean {
  return places >= 2 && places <= 1 << 20 && (places & (places - 1)) === 0
}

class Cursor {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  name(): string {
    return this.#take(nameBytes).toString('latin1').replace(/\0+$/, '')
  }

  numbers(count: number): Float64Array<ArrayBuffer> {
    const bytes = this.#take(count * 8)
    return Float64Array.from({ length: count }, (_, i) => bytes.readDoubleLE(i * 8))
  }

  tags(count: number): Uint16Array {
    const bytes = Buffer.from(this.#take(count * 2))
    if (endianness() === 'BE') bytes.swap16()
    return new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
  }

  weights(places: number): Int8Array {
    const bytes = this.#take(places * lanes.length)
    return widened(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length))
  }

  #take(length: number): Buffer {
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}

/** Rows of the lanes in use to rows of `WIDTH`, and back. */
function widened<T extends Int8Array | Float64Array>(rows: T): T {
  const used = lanes.length
  const wide = new (rows.constructor as new (length: number) => T)((rows.length / used) * WIDTH)
  for (let from = 0, to = 0; from < rows.length; from += used, to += WIDTH) {
    for (let lane = 0; lane < used; lane++) wide[to + lane] = rows[from + lane]!
  }
  return wide
}

function narrowed<T extends Int8Array | Float64Array>(rows: T): T {
  const narrow = new (rows.constructor as new (length: number) => T)((rows.length / WIDTH) * lanes.length)
  for (let row = 0; row * WIDTH < rows.length; row++) {
    for (let lane = 0; lane < lanes.length; lane++) narrow[row * lanes.length + lane] = rows[row * WIDTH + lane]!
  }
  return narrow
}
