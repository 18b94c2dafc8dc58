/** Messages over a socket between processes of one machine: four bytes of length, then a value as V8 writes it. */
import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'

/** Bytes. A part of a text, or what a window scores, takes some ten thousand. */
const longest = 4 * 1024 * 1024
const headBytes = 4

export function send(socket: Socket, value: unknown): void {
  const body = serialize(value)
  const frame = Buffer.allocUnsafe(headBytes + body.length)
  frame.writeUInt32LE(body.length)
  body.copy(frame, headBytes)
  socket.write(frame)
}

/** Tells each message as it has come in full. A socket that sends none of this form is destroyed. */
export function receive(socket: Socket, told: (value: unknown) => void): void {
  let chunks: Buffer[] = []
  let held = 0
  /** Bytes until something can be read. */
  let needed = headBytes
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    held += chunk.length
    if (held < needed) return
    let bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks, held)
    while (true) {
      const length = bytes.length < headBytes ? 0 : bytes.readUInt32LE()
      needed = headBytes + length
      if (length > longest) {
        socket.destroy()
        return
      }
      if (bytes.length < headBytes || bytes.length < needed) break
      let value: unknown
      try {
        // A copy, aligned as the numbers in it are.
        value = deserialize(Buffer.from(bytes.subarray(headBytes, needed)))
      } catch {
        socket.destroy()
        return
      }
      bytes = bytes.subarray(needed)
      told(value)
    }
    chunks = bytes.length === 0 ? [] : [bytes]
    held = bytes.length
  })
}
