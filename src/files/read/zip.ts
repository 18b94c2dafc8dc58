/**
 * Unpacks and checks all files of an archive, or none: an archive that unzip programs could read differently is
 * refused.
 */
import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { bounds, Unread } from '../file.js'

/** By name, in the order of the directory. */
export type Archive = Map<string, Buffer>

const localHead = Buffer.from('PK\x03\x04', 'latin1')
const directoryEnd = Buffer.from('PK\x05\x06', 'latin1')

/** @throws Unread */
export async function unzip(bytes: Buffer): Promise<Archive> {
  // The directory must be at the very end, and only once: data behind it, or in an earlier directory, would stay
  // unread.
  if (bytes.length < 22 || bytes.indexOf(directoryEnd) !== bytes.length - 22) throw new Unread('damaged')
  let zip: ZipFile
  try {
    zip = await fromBufferPromise(bytes, { strictFileNames: true, validateEntrySizes: true })
  } catch {
    throw new Unread('damaged')
  }
  if (zip.entryCount > bounds.entries) throw new Unread('too_large')
  const entries: Entry[] = []
  try {
    for await (const entry of zip.eachEntry()) entries.push(entry)
  } catch {
    throw new Unread('damaged')
  }
  checkPlaces(bytes, entries)
  const archive: Archive = new Map()
  const names = new Set<string>()
  let total = 0
  for (const entry of entries) {
    const { fileName, uncompressedSize, crc32: sum } = entry
    if (entry.isEncrypted()) throw new Unread('encrypted')
    if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) throw new Unread('damaged')
    const folded = fileName.toLowerCase()
    if (names.has(folded)) throw new Unread('damaged')
    names.add(folded)
    total += uncompressedSize
    if (uncompressedSize > bounds.entryBytes || total > bounds.unpackedBytes) throw new Unread('too_large')
    if (fileName.endsWith('/')) {
      if (uncompressedSize > 0) throw new Unread('damaged')
      continue
    }
    const content = await readEntry(zip, entry)
    if (crc32(content) !== sum) throw new Unread('damaged')
    archive.set(fileName, content)
  }
  return archive
}

/** Checks that programs that use the local headers instead of the directory find the same files. */
function checkPlaces(bytes: Buffer, entries: readonly Entry[]): void {
  const places = new Set(entries.map(({ relativeOffsetOfLocalHeader }) => relativeOffsetOfLocalHeader))
  if (places.size !== entries.length) throw new Unread('damaged')
  for (let at = bytes.indexOf(localHead); at !== -1; at = bytes.indexOf(localHead, at + 4)) {
    if (!places.delete(at)) throw new Unread(entries.length === 0 ? 'damaged' : 'object_unread')
  }
  if (places.size > 0 || (entries.length > 0 && bytes.indexOf(localHead) !== 0)) throw new Unread('damaged')
}

async function readEntry(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  try {
    // The local header must equal the directory entry, since programs use either.
    const { fileName, compressionMethod } = await zip.readLocalFileHeaderPromise(entry)
    if (!fileName.equals(entry.fileNameRaw) || compressionMethod !== entry.compressionMethod)
      throw new Unread('damaged')
    const stream = await zip.openReadStreamPromise(entry)
    for await (const part of stream) {
      size += (part as Buffer).length
      if (size > bounds.entryBytes) throw new Unread('too_large')
      parts.push(part as Buffer)
    }
  } catch (error) {
    throw error instanceof Unread ? error : new Unread('damaged')
  }
  return Buffer.concat(parts)
}
