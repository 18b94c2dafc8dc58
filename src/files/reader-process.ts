/**
 * The child that reads files: started by `child.ts` with an empty environment, and with neither network nor secrets. Files
 * come one after the other over its input, and what was read of each goes out over its output.
 */
import type { FileInput, Reading } from './file.js'
import { shutDoors } from './guard.js'
import { warmingPdf } from './warm.js'
import { Frames, frame, type RequestHead } from './wire.js'

const { stdin, stdout } = process
const answer = (value: object) => stdout.write(frame(value))
// What a library prints would stand between the answers.
for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) console[name] = () => undefined
shutDoors()
// pdf.js takes it for granted; Node 20 has none.
const buffers = ArrayBuffer.prototype as { transferToFixedLength?: (length?: number) => ArrayBuffer }
buffers.transferToFixedLength ??= function (this: ArrayBuffer, length) {
  return this.slice(0, length)
}

const { readFile } = await import('./read/index.js')

const frames = new Frames()
let head: RequestHead | undefined
let isReading = false

async function turn(): Promise<void> {
  if (isReading) return
  isReading = true
  try {
    for (let input = next(); input !== undefined; input = next()) {
      say(await read(input))
      head = undefined
    }
  } finally {
    isReading = false
  }
}

/** A frame for each text, and one for the end: whoever takes them reads none that is long in one go with all others. */
function say(reading: Reading): void {
  if (!reading.whole) {
    answer(reading)
    return
  }
  for (const text of reading.texts) answer(text)
  answer({ whole: true, kind: reading.kind })
}

/** The file that has come whole. */
function next(): FileInput | undefined {
  if (head === undefined) {
    const length = frames.next()
    const bytes = length === undefined ? undefined : frames.take(4 + length)
    if (bytes === undefined) return undefined
    head = JSON.parse(bytes.toString('utf8', 4)) as RequestHead
  }
  const bytes = frames.take(head.size)
  if (bytes === undefined) return undefined
  const { type, charset, name } = head
  return { bytes, type, charset, name }
}

async function read(input: FileInput): Promise<Reading> {
  try {
    return await readFile(input)
  } catch {
    return { whole: false, reason: 'reader_failed' }
  }
}

// Whoever stops the whole group stops the gateway, which ends what it has under way first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
stdin.on('data', (part: Buffer) => {
  frames.push(part)
  void turn()
})
// The gateway has gone.
stdin.on('end', () => process.exit(0))
// The first file of somebody does not wait until tables of glyphs are made.
await read({ bytes: warmingPdf(), type: 'application/pdf', name: '' })
answer({ ready: true })
