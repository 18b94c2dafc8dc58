/** Reads the metadata texts of a picture, which a model may get and a viewer does not see. */
import type { Texts } from '../../file.js'
import { packetTexts } from '../packet.js'
import { readSegments, type Structure } from './structure.js'

/** Consecutive letters from which bytes count as text. */
const fewest = 6
const runs8 = new RegExp(`[^\\p{Cc}\\p{Cn}\\p{Co}\\uFFFD]{${fewest},}`, 'gu')
/** In any other alphabet every two bytes are a letter. */
const runs16 = new RegExp(`[\\t\\n\\r\\x20-\\x7e\\u00a0-\\u06ff]{${fewest},}`, 'gu')

export function addMetadata({ texts, blobs, packets }: Structure, out: Texts, where: string): void {
  const found = new Set<string>()
  for (const text of texts) found.add(text)
  for (const blob of blobs) for (const text of stringsOf(blob)) found.add(text)
  for (const packet of packets) for (const text of packetTexts(packet)) found.add(text)
  out.add([...found].join('\n'), where, 'metadata')
}

/** Texts within bytes, in UTF-8 and in both orders of UTF-16, at even and odd offsets. */
function stringsOf(blob: Buffer): string[] {
  const swapped = (from: number) => {
    const bytes = Buffer.from(blob.subarray(from, from + ((blob.length - from) & ~1)))
    return bytes.swap16().toString('utf16le')
  }
  const wide = [blob.toString('utf16le'), blob.subarray(1).toString('utf16le'), swapped(0), swapped(1)]
  return [...(blob.toString().match(runs8) ?? []), ...wide.flatMap((text) => text.match(runs16) ?? [])]
}

/** Small pictures that cameras and editors put beside the large one. */
export function thumbnailsOf({ blobs }: Structure): Buffer[] {
  const found: Buffer[] = []
  for (const blob of blobs) {
    for (let at = blob.indexOf('\xff\xd8\xff', 0, 'latin1'); at !== -1; ) {
      const rest = blob.subarray(at)
      const end = readSegments(rest, { format: 'jpeg', isLossy: true, texts: [], blobs: [], packets: [] })
      found.push(rest.subarray(0, end))
      at = blob.indexOf('\xff\xd8\xff', at + end, 'latin1')
    }
  }
  return found
}
