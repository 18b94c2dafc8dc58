/** The bytes of a streamed answer as text, in small pieces: strict UTF-8 across their borders. What network chunks look like says nothing. */
import type { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { Fault } from '../base/errors.js'

/** One event, or one line, may be this long, in UTF-16 units. */
export const maxEventLength = 4 * 1024 * 1024
/**
 * Bytes that are made text, and so events, at a time. An event that is read takes many times its bytes: of what a client does
 * not take, all but this stays bytes; and of what comes fast, no more than this is read in one turn of the loop.
 */
const pieceLength = 4096
/** After the end marker an upstream has this long to close its answer properly, so that the connection can be kept. */
const lingerMs = 1000

/** @throws Fault `upstream_error` for bytes that are not UTF-8; the stream's own error where the connection breaks */
export async function* readText(body: Readable): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let ended = false
  try {
    // Not destroyed on return: see `finish`.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += pieceLength) {
        const text = decode(decoder, chunk.subarray(at, at + pieceLength))
        if (text !== '') yield text
      }
    }
    ended = true
    const rest = decode(decoder)
    if (rest !== '') yield rest
  } finally {
    if (!ended) finish(body)
  }
}

function decode(decoder: TextDecoder, chunk?: Buffer): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch {
    throw unreadableStream('not UTF-8')
  }
}

export function unreadableStream(internal: string): Fault {
  return new Fault('upstream_error', { internal: `stream: ${internal}` })
}

/** Reads off what little an upstream may still send after its end marker; a long tail is cut with the connection. */
function finish(body: Readable): void {
  if (body.destroyed || body.readableEnded) return
  body.on('error', () => {})
  const timer = setTimeout(() => body.destroy(), lingerMs)
  timer.unref()
  body.once('close', () => clearTimeout(timer))
  body.resume()
}
