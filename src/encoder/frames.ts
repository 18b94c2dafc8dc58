/**
 * Messages over a socket between processes of one machine: four bytes of length, then a value in V8's serialisation.
 */
import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'

/** Longest message, bytes. A part of a text, or the scores of a window, takes some ten thousand. */
const longest = 4 * 1024 * 1024
const headBytes = 4

export function send(socket: Socket, value: unknown): void {
  const body = serialize(value)
  const frame = Buffer.allocUnsafe(headBytes + body.length)
  frame.writeUInt32LE(body.length)
  body.copy(frame, headBytes)
  socket.write(frame)
}

/** Calls `told` with each complete message. A socket that sends malformed data is destroyed. */
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
        // A copy, so that the numbers in it are aligned.
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
