/**
 * The protocol on the pipes between gateway and child: JSON heads with a length prefix (32 bits, big-endian); the bytes
 * of the file follow a request's head.
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

/** Most bytes of one answer: more than the fully escaped texts of a file. */
export const maxAnswerBytes = 32 * 1024 * 1024

export function frame(value: object): Buffer {
  const body = Buffer.from(JSON.stringify(value))
  const head = Buffer.alloc(4)
  head.writeUInt32BE(body.length)
  return Buffer.concat([head, body])
}

/** Cuts frames from the bytes of a pipe. */
export class Frames {
  #parts: Buffer[] = []
  #length = 0

  push(part: Buffer): void {
    this.#parts.push(part)
    this.#length += part.length
  }

  /** @returns this many bytes, once all have arrived */
  take(size: number): Buffer | undefined {
    if (this.#length < size) return undefined
    const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    this.#parts = all.length === size ? [] : [all.subarray(size)]
    this.#length = all.length - size
    return all.subarray(0, size)
  }

  /** @returns the length of the next frame, once known; its four bytes are not consumed */
  next(): number | undefined {
    if (this.#length < 4) return undefined
    if (this.#parts[0]!.length < 4) this.#parts = [Buffer.concat(this.#parts)]
    return this.#parts[0]!.readUInt32BE(0)
  }
}
