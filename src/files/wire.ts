/**
 * What goes over the pipes between the gateway and a child: heads of JSON with their length before them (32 bits, big-endian),
 * and behind a request's head the bytes of its file.
 */

export interface RequestHead {
  size: number
  /** Whether pictures in it are read, too. */
  readsPictures: boolean
  isPicture?: boolean | undefined
  type: string
  charset?: string | undefined
  name: string
}

/** Bytes of one answer: more than the texts of a file can come to, each unit of them escaped. */
export const maxAnswerBytes = 32 * 1024 * 1024

export function frame(value: object): Buffer {
  const body = Buffer.from(JSON.stringify(value))
  const head = Buffer.alloc(4)
  head.writeUInt32BE(body.length)
  return Buffer.concat([head, body])
}

/** Cuts the frames out of what comes over a pipe. */
export class Frames {
  #parts: Buffer[] = []
  #length = 0

  push(part: Buffer): void {
    this.#parts.push(part)
    this.#length += part.length
  }

  /** @returns so many bytes, once they are all there */
  take(size: number): Buffer | undefined {
    if (this.#length < size) return undefined
    const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    this.#parts = all.length === size ? [] : [all.subarray(size)]
    this.#length = all.length - size
    return all.subarray(0, size)
  }

  /** @returns how long the next frame is, once that is known; its four bytes stay */
  next(): number | undefined {
    if (this.#length < 4) return undefined
    if (this.#parts[0]!.length < 4) this.#parts = [Buffer.concat(this.#parts)]
    return this.#parts[0]!.readUInt32BE(0)
  }
}
