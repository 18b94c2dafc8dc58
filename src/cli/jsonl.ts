/** `evaluate --jsonl`: evaluates lines of input in order, as fast as one core allows. */
import type { Json } from '../base/chat.js'
import { Fault, invalid } from '../base/errors.js'
import { type EvaluateInput, readEvaluateInput } from '../edge/evaluate-input.js'
import { parseJson } from '../json/parse.js'
import { print, Told } from './terminal.js'

/** One evaluation of a checked input. */
export type Evaluate = (input: EvaluateInput) => Promise<object>

/** A text of 100,000 units in escapes and a context of 16 KiB fit six times over. */
const maxLineBytes = 4 * 1024 * 1024
/** Most output per write: saves system calls without delaying answers of a slow source. */
const batchLength = 65_536
const progressEveryMs = 500

/**
 * Answers every line, a bad one with its error. Blank lines are skipped.
 * @throws Told where the evaluator failed on a line: that line was answered with an error, but not judged
 */
export async function evaluateLines(source: AsyncIterable<Buffer>, evaluate: Evaluate): Promise<void> {
  const progress = createProgress()
  let failed = false
  let batch = ''
  for await (const lines of splitLines(source)) {
    for (const line of lines) {
      const answer = await answerLine(line, evaluate)
      failed ||= answer.failed
      batch += answer.text
      progress.count()
      if (batch.length >= batchLength) {
        await print(batch)
        batch = ''
      }
    }
    if (batch !== '') await print(batch)
    batch = ''
  }
  progress.end()
  if (failed) throw new Told()
}

interface LineAnswer {
  text: string
  /** True where the evaluator failed, not the line. */
  failed: boolean
}

async function answerLine(line: Buffer | undefined, evaluate: Evaluate): Promise<LineAnswer> {
  let id: Json = null
  try {
    if (line === undefined)
      throw invalid('', 'too_long', `The line is too long: at most ${maxLineBytes} bytes are allowed.`)
    const value = parseJson(line)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalid('', 'wrong_type', 'The line must be a JSON object.')
    }
    const { id: given, ...input } = value
    if (given === undefined) throw invalid('id', 'missing', 'The field "id" is required.')
    if (typeof given !== 'string' && typeof given !== 'number') {
      throw invalid('id', 'wrong_type', 'The field "id" must be of type string or number.')
    }
    id = given
    return answered(id, await evaluate(readEvaluateInput(input)))
  } catch (error) {
    return refused(id, error)
  }
}

function answered(id: Json, evaluation: object): LineAnswer {
  return { text: `${JSON.stringify({ id, ...evaluation })}\n`, failed: false }
}

function refused(id: Json, error: unknown): LineAnswer {
  const isLine = error instanceof Fault && error.code === 'validation_error'
  const fault = isLine ? error : new Fault('evaluator_unavailable')
  const body = { code: fault.code, message: fault.message, ...fault.fields }
  return { text: `${JSON.stringify({ id, error: body })}\n`, failed: !isLine }
}

/** Whole lines of each chunk that arrives, without their ends; undefined for one that is too long to hold. */
async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<(Buffer | undefined)[]> {
  let held: Buffer[] = []
  let heldBytes = 0
  const take = (end: Buffer): Buffer | undefined => {
    const line = heldBytes === 0 ? end : Buffer.concat([...held, end])
    const isTooLong = heldBytes + end.length > maxLineBytes
    held = []
    heldBytes = 0
    return isTooLong ? undefined : line
  }
  for await (const chunk of source) {
    const lines: (Buffer | undefined)[] = []
    let start = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      lines.push(take(chunk.subarray(start, end)))
      start = end + 1
    }
    const rest = chunk.subarray(start)
    heldBytes += rest.length
    // For a line that is too long only the length is kept.
    if (heldBytes > maxLineBytes) held = []
    else held.push(rest)
    yield lines.filter((line) => !isBlank(line))
  }
  const last = heldBytes === 0 ? undefined : [take(Buffer.alloc(0))]
  if (last !== undefined && !isBlank(last[0])) yield last
}

function isBlank(line: Buffer | undefined): boolean {
  return line !== undefined && (line.length === 0 || (line.length === 1 && line[0] === 0x0d))
}

/** Shows progress on standard error for a waiting person; silent where standard error is a file. */
function createProgress(): { count(): void; end(): void } {
  if (!process.stderr.isTTY) return { count() {}, end() {} }
  const started = performance.now()
  let lines = 0
  let shown = 0
  const show = () => {
    const seconds = (performance.now() - started) / 1000
    process.stderr.write(`\r${lines} lines, ${Math.round(lines / Math.max(seconds, 0.001))} a second`)
  }
  return {
    count() {
      lines++
      // The clock is read only sometimes: it costs as much as a short text.
      if (lines % 64 !== 0 || performance.now() - shown < progressEveryMs) return
      shown = performance.now()
      show()
    },
    end() {
      show()
      process.stderr.write('\n')
    }
  }
}
