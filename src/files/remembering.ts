/** The cache in front of the readers of files and sound: decodes base64 in pieces, and looks results up by digest. */
import { setImmediate } from 'node:timers/promises'
import { isBase64 } from '../base/base64.js'
import type { FileReport, FileRequest, Files, Reading } from './file.js'
import type { Memory } from './memory.js'

export interface Decoded {
  head: Pick<FileRequest, 'type' | 'charset' | 'name' | 'readsPictures' | 'isPicture'>
  /** Bytes. */
  size: number
  parts: readonly Buffer[]
}

/** UTF-16 units of base64 that are decoded and digested at once: a multiple of four, well below a millisecond. */
const pieceUnits = 256 * 1024
const unpadded = /^[A-Za-z0-9+/]*$/
const mostNameUnits = 255

/**
 * @param most bytes
 * @param readOne reads a file that is not cached
 */
export function remembering(
  { most, memory, report }: { most: number; memory: Memory; report: FileReport },
  readOne: (request: FileRequest, decoded: Decoded) => Promise<Reading>
): Files['read'] {
  async function read(request: FileRequest): Promise<Reading> {
    const { account, data, type, charset, name, readsPictures, isPicture } = request
    const head = { type, charset, name: name.slice(-mostNameUnits), readsPictures, isPicture }
    const digest = memory.digest(account, head)
    const parts: Buffer[] = []
    let size = 0
    for (let at = 0; at < data.length; at += pieceUnits) {
      const piece = data.slice(at, at + pieceUnits)
      const isLast = at + pieceUnits >= data.length
      if (!(isLast ? isBase64(piece) : unpadded.test(piece))) return { whole: false, reason: 'bad_encoding' }
      const bytes = Buffer.from(piece, 'base64')
      digest.update(bytes)
      size += bytes.length
      parts.push(bytes)
      if (!isLast) await setImmediate()
    }
    if (size > most) return { whole: false, reason: 'too_large' }
    const key = digest.digest('base64')
    const known = memory.get(key)
    if (known !== undefined) return known
    const reading = await readOne(request, { head, size, parts })
    memory.set(key, reading)
    return reading
  }

  return async (request) => {
    const began = performance.now()
    const reading = await read(request)
    report(reading.whole ? reading.kind : reading.reason, (performance.now() - began) / 1000)
    return reading
  }
}
