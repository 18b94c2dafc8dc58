/**
 * The child that reads files: started by `child.ts` with an empty environment, and with neither network nor secrets.
 * Files come one after the other over its input; the texts go out over its output.
 */
import type { FileInput, Reading } from './file.js'
import { shutDoors } from './guard.js'
import { warming } from './warm.js'
import { Frames, frame, type RequestHead } from './wire.js'

const { stdin, stdout } = process
const answer = (value: object) => stdout.write(frame(value))
// Muted: output of a library would corrupt the answers.
for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) console[name] = () => undefined
shutDoors()
// pdf.js needs it; Node 20 lacks it.
const buffers = ArrayBuffer.prototype as { transferToFixedLength?: (length?: number) => ArrayBuffer }
buffers.transferToFixedLength ??= function (this: ArrayBuffer, length) {
  return this.slice(0, length)
}

const { readFile } = await import('./read/index.js')
const languages = process.argv.slice(2)
const pictures = languages.length === 0 ? undefined : await openPictures(languages)

async function openPictures(paths: readonly string[]) {
  const [{ Engine }, { Pictures }] = await Promise.all([
    import('./read/picture/engine.js'),
    import('./read/picture/index.js')
  ])
  return new Pictures(await Engine.open(paths))
}

interface Asked {
  input: FileInput
  readsPictures: boolean
}

const frames = new Frames()
let head: RequestHead | undefined
let isReading = false

async function turn(): Promise<void> {
  if (isReading) return
  isReading = true
  try {
    for (let asked = next(); asked !== undefined; asked = next()) {
      say(await read(asked))
      head = undefined
    }
  } finally {
    isReading = false
  }
}

/** A frame for each text, and one for the end, so that the gateway need not parse all long texts at once. */
function say(reading: Reading): void {
  if (!reading.whole) {
    answer(reading)
    return
  }
  const { texts, ...whole } = reading
  for (const text of texts) answer(text)
  answer(whole)
}

/** The next file that has arrived completely. */
function next(): Asked | undefined {
  if (head === undefined) {
    const length = frames.next()
    const bytes = length === undefined ? undefined : frames.take(4 + length)
    if (bytes === undefined) return undefined
    head = JSON.parse(bytes.toString('utf8', 4)) as RequestHead
  }
  const bytes = frames.take(head.size)
  if (bytes === undefined) return undefined
  const { type, charset, name, isPicture, readsPictures } = head
  return { input: { bytes, type, charset, name, isPicture: isPicture === true }, readsPictures }
}

async function read({ input, readsPictures }: Asked): Promise<Reading> {
  try {
    return await readFile(input, readsPictures ? pictures : undefined)
  } catch {
    return { whole: false, reason: 'reader_failed' }
  }
}

// Ignored: a signal to the whole group also reaches the gateway, which must finish its requests first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
stdin.on('data', (part: Buffer) => {
  frames.push(part)
  void turn()
})
// The gateway has gone.
stdin.on('end', () => process.exit(0))
// Warms up, so that the first file need not wait for glyph tables.
for (const input of warming(pictures !== undefined)) await read({ input, readsPictures: true })
answer({ ready: true })
