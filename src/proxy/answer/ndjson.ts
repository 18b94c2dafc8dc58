/** One JSON value per line (github.com/ndjson/ndjson-spec); empty lines say nothing. */
import type { Readable } from 'node:stream'
import type { WireEvent } from '../../dialects/reply-stream.js'
import { maxEventLength, readText, unreadableStream } from './text-chunks.js'

/** @throws Fault `upstream_error` for a line that is too long, and as `readText` */
export async function* readLines(body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
  let pieces: string[] = []
  let length = 0
  for await (const text of readText(body)) {
    const events: WireEvent[] = []
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      pieces.push(text.slice(start, end))
      start = end + 1
      const line = pieces.join('')
      pieces = []
      length = 0
      if (line.trim() !== '') events.push({ data: line })
    }
    if (events.length > 0) yield events
    pieces.push(text.slice(start))
    length += text.length - start
    if (length > maxEventLength) throw unreadableStream('a line is too long')
  }
  // A last line without its end is taken if it is whole; a cut one does not parse and is refused as such.
  const line = pieces.join('')
  if (line.trim() !== '') yield [{ data: line }]
}
