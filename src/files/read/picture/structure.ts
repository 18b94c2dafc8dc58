/**
 * Checks the structure of a picture's bytes before decoding: exactly one picture with nothing behind it; and collects
 * its metadata texts. A file with two pictures, or a picture and other data, would be shown differently elsewhere, so
 * it is refused.
 */
import { crc32, inflateSync } from 'node:zlib'
import { Unread } from '../../file.js'

export const pictureFormats = ['png', 'jpeg', 'gif', 'webp', 'bmp', 'tiff'] as const
export type PictureFormat = (typeof pictureFormats)[number]

export interface Structure {
  format: PictureFormat
  /** Whether the encoding is lossy, so that it adds noise. */
  isLossy: boolean
  /** Texts that the format marks as such. */
  texts: string[]
  /** Binary structures that may hold texts anywhere (EXIF, colour profiles, unknown ones). */
  blobs: Buffer[]
  /** Metadata in XML (XMP). */
  packets: Buffer[]
}

/** Most unpacked bytes of a comment or profile. */
const mostUnpacked = 4 * 1024 * 1024

/** By the first bytes alone. */
export function formatOf(bytes: Buffer): PictureFormat | undefined {
  const start = bytes.toString('latin1', 0, 16)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (/^GIF8[79]a/.test(start)) return 'gif'
  if (/^RIFF.{4}WEBP/s.test(start)) return 'webp'
  if (/^BM.{4}\0\0\0\0/s.test(start)) return 'bmp'
  return start.startsWith('II*\0') || start.startsWith('MM\0*') ? 'tiff' : undefined
}

/** @throws Unread `unsupported_type`, `several_pictures`, `picture_unread`, `damaged`, `too_large` */
export function structureOf(bytes: Buffer): Structure {
  const format = formatOf(bytes)
  if (format === undefined) throw new Unread('unsupported_type')
  const found: Structure = { format, isLossy: format === 'jpeg', texts: [], blobs: [], packets: [] }
  try {
    readers[format](bytes, found)
  } catch (error) {
    // Lengths that lead beyond the end.
    throw error instanceof RangeError ? new Unread('damaged') : error
  }
  return found
}

type Read = (bytes: Buffer, found: Structure) => void
const readers: Readonly<Record<PictureFormat, Read>> = {
  png: readPng,
  jpeg: readJpeg,
  gif: readGif,
  webp: readWebp,
  bmp: readBmp,
  tiff: readTiff
}

/** Chunks that hold numbers alone (PNG, third edition, section 11). */
const numbers = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB sBIT bKGD pHYs tIME hIST cICP mDCV cLLI oFFs sTER'.split(' ')
)

function readPng(bytes: Buffer, found: Structure): void {
  let at = 8
  let last = ''
  while (at < bytes.length) {
    const length = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    const data = bytes.subarray(at + 8, at + 8 + length)
    if (last === 'IEND' || (last === '' && type !== 'IHDR')) throw new Unread('damaged')
    if (bytes.readUInt32BE(at + 8 + length) !== crc32(bytes.subarray(at + 4, at + 8 + length)))
      throw new Unread('damaged')
    // An animation has more pictures than the first one.
    if (type === 'acTL' || type === 'fcTL' || type === 'fdAT') throw new Unread('several_pictures')
    readChunk(type, data, found)
    last = type
    at += 12 + length
  }
  if (last !== 'IEND') throw new Unread('damaged')
}

function readChunk(type: string, data: Buffer, found: Structure): void {
  if (numbers.has(type)) return
  const end = data.indexOf(0)
  const name = data.toString('latin1', 0, Math.max(end, 0))
  if (type === 'tEXt') found.texts.push(data.toString('latin1').replace('\0', ': '))
  else if (type === 'zTXt') found.texts.push(`${name}: ${unpacked(data.subarray(end + 2)).toString('latin1')}`)
  else if (type === 'iCCP') found.blobs.push(data.subarray(0, Math.max(end, 0)), unpacked(data.subarray(end + 2)))
  else if (type === 'iTXt') {
    const isPacked = data[end + 1] === 1
    const language = data.indexOf(0, end + 3)
    const keyword = data.indexOf(0, language + 1)
    if (end < 0 || language < 0 || keyword < 0) throw new Unread('damaged')
    const text = isPacked ? unpacked(data.subarray(keyword + 1)) : data.subarray(keyword + 1)
    found.texts.push(`${name}: ${data.toString('utf8', end + 3, keyword).replace('\0', ' ')}`)
    if (name === 'XML:com.adobe.xmp') found.packets.push(text)
    else found.texts.push(text.toString())
  } else found.blobs.push(data)
}

function unpacked(data: Buffer): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: mostUnpacked })
  } catch (error) {
    throw new Unread((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'damaged')
  }
}

const xmpHead = 'http://ns.adobe.com/xap/1.0/\0'
const moreXmpHead = 'http://ns.adobe.com/xmp/extension/\0'
/** Its head is followed by a digest and two lengths. */
const moreXmpFacts = 40

function readJpeg(bytes: Buffer, found: Structure): void {
  const end = readSegments(bytes, found)
  const rest = bytes.subarray(end)
  if (rest.every((byte) => byte === 0)) return
  throw new Unread(rest.indexOf('\xff\xd8\xff', 0, 'latin1') === -1 ? 'damaged' : 'several_pictures')
}

/** Segments of a JPEG (ITU-T T.81, annex B). @returns where it ends */
export function readSegments(bytes: Buffer, found: Structure): number {
  let at = 2
  let frames = 0
  for (;;) {
    if (bytes[at] !== 0xff) throw new Unread('damaged')
    while (bytes[at + 1] === 0xff) at++
    const marker = bytes[at + 1]
    if (marker === undefined) throw new Unread('damaged')
    if (marker === 0xd9) return at + 2
    const length = bytes.readUInt16BE(at + 2)
    const data = bytes.subarray(at + 4, at + 2 + length)
    if (length < 2 || data.length !== length - 2) throw new Unread('damaged')
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc && ++frames > 1)
      throw new Unread('damaged')
    readSegment(marker, data, found)
    at += 2 + length
    if (marker === 0xda) at = behindScan(bytes, at)
  }
}

/** Within a scan a marker is `FF` and neither a stuffed zero nor a restart. */
function behindScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1]!
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
  }
  throw new Unread('damaged')
}

function readSegment(marker: number, data: Buffer, found: Structure): void {
  if (marker === 0xfe) found.texts.push(data.toString(), data.toString('latin1'))
  if (marker < 0xe0 || marker > 0xef) return
  const head = data.toString('latin1', 0, 40)
  if (head.startsWith('MPF\0')) throw new Unread('several_pictures')
  // A thumbnail.
  if (head.startsWith('JFXX\0') || (head.startsWith('JFIF\0') && data[12]! * data[13]! > 0))
    throw new Unread('picture_unread')
  if (head.startsWith(xmpHead)) found.packets.push(data.subarray(xmpHead.length))
  else if (head.startsWith(moreXmpHead)) found.blobs.push(data.subarray(moreXmpHead.length + moreXmpFacts))
  else found.blobs.push(data)
}

/** GIF89a, sections 18 to 27. */
function readGif(bytes: Buffer, found: Structure): void {
  const tableOf = (flags: number) => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0)
  let at = 13 + tableOf(bytes[10]!)
  let pictures = 0
  const blocks = (): Buffer => {
    const parts: Buffer[] = []
    for (let size = bytes.readUInt8(at++); size > 0; size = bytes.readUInt8(at++)) {
      parts.push(bytes.subarray(at, at + size))
      at += size
    }
    return Buffer.concat(parts)
  }
  for (;;) {
    const kind = bytes.readUInt8(at++)
    if (kind === 0x3b) break
    if (kind === 0x2c) {
      if (++pictures > 1) throw new Unread('several_pictures')
      at += 9 + tableOf(bytes.readUInt8(at + 8)) + 1
      blocks()
    } else if (kind === 0x21) {
      const label = bytes.readUInt8(at++)
      const data = blocks()
      if (label === 0xfe) found.texts.push(data.toString())
      // Text that viewers draw over the picture.
      else if (label === 0x01) throw new Unread('drawing_unread')
      else if (label !== 0xf9) found.blobs.push(data)
    } else throw new Unread('damaged')
  }
  if (at !== bytes.length) throw new Unread('damaged')
}

/** https://developers.google.com/speed/webp/docs/riff_container */
function readWebp(bytes: Buffer, found: Structure): void {
  const size = bytes.readUInt32LE(4) + 8
  if (size !== bytes.length && size + 1 !== bytes.length) throw new Unread('damaged')
  let pictures = 0
  for (let at = 12; at < size; ) {
    const type = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    const data = bytes.subarray(at + 8, at + 8 + length)
    if (data.length !== length) throw new Unread('damaged')
    if (type === 'ANIM' || type === 'ANMF') throw new Unread('several_pictures')
    if (type === 'VP8 ' || type === 'VP8L') {
      if (++pictures > 1) throw new Unread('damaged')
      found.isLossy = type === 'VP8 '
    } else if (type === 'XMP ') found.packets.push(data)
    else if (type !== 'VP8X' && type !== 'ALPH') found.blobs.push(data)
    at += 8 + length + (length & 1)
  }
  if (pictures === 0) throw new Unread('damaged')
}

/** Checks the length of its pixels, and collects the bytes between header and pixels. */
function readBmp(bytes: Buffer, found: Structure): void {
  const told = bytes.readUInt32LE(2)
  const pixels = bytes.readUInt32LE(10)
  const head = 14 + bytes.readUInt32LE(14)
  if ((told !== 0 && told !== bytes.length) || pixels > bytes.length || head > pixels) throw new Unread('damaged')
  const [width, height] = [bytes.readInt32LE(18), Math.abs(bytes.readInt32LE(22))]
  const row = Math.ceil((width * bytes.readUInt16LE(28)) / 32) * 4
  const isPacked = bytes.readUInt32LE(30) === 1 || bytes.readUInt32LE(30) === 2
  if (!isPacked && Math.abs(pixels + row * height - bytes.length) > 4) throw new Unread('damaged')
  found.blobs.push(bytes.subarray(head, pixels))
}

const textTypes = new Set([1, 2, 7])
/** Tags for the place and compression of the pixels. */
const pixelTags = new Set([273, 279, 324, 325, 347, 437])

/** TIFF 6.0, section 2: one directory. */
function readTiff(bytes: Buffer, found: Structure): void {
  const isLittle = bytes[0] === 0x49
  const short = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))
  const long = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))
  const directories = [long(4)]
  const known = new Set<number>()
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    if (known.has(at)) throw new Unread('damaged')
    known.add(at)
    const count = short(at)
    for (let i = 0; i < count; i++) {
      const entry = at + 2 + 12 * i
      const [tag, type, length] = [short(entry), short(entry + 2), long(entry + 4)]
      if (tag === 330) throw new Unread('several_pictures')
      // Directories of EXIF, of places and of how they work together.
      if (tag === 34665 || tag === 34853 || tag === 40965) directories.push(long(entry + 8))
      if (!textTypes.has(type) || pixelTags.has(tag)) continue
      const from = length <= 4 ? entry + 8 : long(entry + 8)
      if (from + length > bytes.length) throw new Unread('damaged')
      const data = bytes.subarray(from, from + length)
      if (tag === 700) found.packets.push(data)
      else found.blobs.push(data)
    }
    if (long(at + 2 + 12 * count) !== 0) throw new Unread('several_pictures')
  }
}
