// What the encoder that ships says of texts: node encoder-says.mjs --rows FILE --out FILE [--threads N]. JSON lines in, `{role, text}`;
// out, in the same order, the highest confidence of anything in it that may stop such words (0 to 1), the classifier's scores added
// as when a gateway reads. All of a text is read. Wants the built program (`npm run build`).
import { createReadStream, createWriteStream } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '../dist/base/clock.js'
import { noReport, openEncoder } from '../dist/encoder/open.js'

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    out: { type: 'string' },
    threads: { type: 'string', default: String(availableParallelism()) }
  }
})
if (values.rows === undefined || values.out === undefined) {
  process.stderr.write('encoder-says needs --rows FILE and --out FILE\n')
  process.exit(2)
}

/** Texts that wait for the threads: enough that none of them rests. */
const atOnce = 64
const told = 10_000
const { encoder, close } = await openEncoder(
  {
    use: 'required',
    folder: fileURLToPath(new URL('../config/models', import.meta.url)),
    threads: Number(values.threads),
    queue: 65_536,
    deadlineMs: Number.POSITIVE_INFINITY
  },
  {
    clock: systemClock,
    report: noReport,
    crashed(error) {
      throw error
    }
  }
)
const out = createWriteStream(values.out)
let waiting = []
let count = 0
async function tell() {
  const batch = await Promise.all(waiting)
  waiting = []
  for (const confidence of batch) out.write(`${confidence.toFixed(3)}\n`)
  const before = count
  count += batch.length
  if (Math.floor(before / told) < Math.floor(count / told)) process.stderr.write(`${count} texts\n`)
}
for await (const line of createInterface({
  input: createReadStream(values.rows),
  crlfDelay: Number.POSITIVE_INFINITY
})) {
  waiting.push(says(JSON.parse(line)))
  if (waiting.length === atOnce) await tell()
}
await tell()
out.end()
await close()

async function says({ role, text }) {
  const [reading] = await encoder.read([{ role, text, whose: 'training' }])
  return reading.findings.reduce((most, { confidence }) => Math.max(most, confidence), 0)
}
