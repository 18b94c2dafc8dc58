/** The encoder at work: questions become pieces, pieces windows, windows logits, logits findings. */
import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.js'
import { Calibration, type Scored, type Speaker, speakers, toSpeaker } from './calibration.js'
import {
  type Encoder,
  EncoderError,
  type EncoderFailure,
  type EncoderQuestion,
  type EncoderReading,
  type EncoderReport
} from './index.js'
import type { EncoderFiles } from './manifest.js'
import { isSpace } from './normalise.js'
import type { Threads } from './threads.js'
import {
  firstFrom,
  mostWindows,
  type Pieced,
  type Planned,
  plan,
  stretchOf,
  unreadOf,
  windowPieces
} from './windows.js'
import type { Outcome } from './worker.js'

export interface ReaderOptions {
  files: EncoderFiles
  threads: Threads
  clock: Pick<Clock, 'monotonic'>
  /** For all questions of one request; infinite: none. */
  deadlineMs: number
  report: EncoderReport
}

/** Units that a thread cuts at once: as long as a window takes, at most. */
const chunkUnits = 8192
/** How far back from there a chunk may end at a space. */
const chunkSlack = 1024
/** Pieces after the last that was raised: to the end of the windows beside it. */
const piecesBeyond = 2 * windowPieces
/**
 * What is remembered, since histories come again with each turn and streams with each sentence: texts in pieces, by how
 * many pieces (8 bytes each), and what windows scored (some 300 bytes each).
 */
const mostPieces = 1_000_000
const mostScores = 16_384
/** What a text in pieces takes beside them, in pieces. */
const pieceless = 50
const longestRemembered = 65_536
/** Marks around a window, by number: `training/encoder/vocabulary.py`. */
const startMark = 0n
const endMark = 2n
const firstSpeaker = 4

export class Reader implements Encoder {
  readonly label: string
  readonly #options: ReaderOptions
  readonly #calibration: Calibration
  readonly #pieces = new LRUCache<string, Pieced>({
    maxSize: mostPieces,
    sizeCalculation: ({ ids }) => ids.length + pieceless
  })
  readonly #scores = new LRUCache<string, Float32Array>({ max: mostScores })

  constructor(options: ReaderOptions) {
    this.#options = options
    this.label = options.files.label
    this.#calibration = new Calibration(options.files.manifest)
  }

  async read(questions: readonly EncoderQuestion[]): Promise<readonly EncoderReading[]> {
    const { clock, deadlineMs, report } = this.#options
    const started = clock.monotonic()
    const abort = new AbortController()
    // Every window of the request listens.
    setMaxListeners(0, abort.signal)
    const give = (failure: EncoderFailure) => () => abort.abort(new EncoderError(failure))
    const timer = Number.isFinite(deadlineMs) ? setTimeout(give('deadline'), deadlineMs) : undefined
    const cancel = give('cancelled')
    const signals = new Set(questions.flatMap(({ cancel }) => (cancel === undefined ? [] : [cancel])))
    for (const signal of signals) {
      if (signal.aborted) cancel()
      signal.addEventListener('abort', cancel)
    }
    try {
      return await this.#readAll(questions, abort.signal)
    } catch (error) {
      const fault = error instanceof EncoderError ? error : new EncoderError('crashed', error)
      // What of this request still waits leaves the queue.
      abort.abort(fault)
      report.failure(fault.failure)
      throw fault
    } finally {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', cancel)
      report.reading((clock.monotonic() - started) / 1000)
    }
  }

  close(): Promise<void> {
    return this.#options.threads.close()
  }

  async #readAll(questions: readonly EncoderQuestion[], signal: AbortSignal): Promise<EncoderReading[]> {
    // Each has a window at least, so that more of them than windows cannot be read; raised ones come first.
    const first = questions
      .map((question, i) => ({ question, i }))
      .sort((a, b) => Number(a.question.spans === undefined) - Number(b.question.spans === undefined) || a.i - b.i)
      .slice(0, mostWindows)
    const texts = await all(
      first.map(async ({ question }) => ({ pieced: await this.#cut(question, signal), spans: question.spans }))
    )
    const planned = plan(texts)
    const scored = await all(
      planned.map((window) => {
        const { pieced } = texts[window.question]!
        return this.#score(first[window.question]!.question, pieced, window, signal)
      })
    )
    const readings = questions.map(({ text, spans }): EncoderReading => {
      return { findings: [], unread: spans ?? (text.length === 0 ? [] : [{ start: 0, end: text.length }]) }
    })
    for (const [n, { question, i }] of first.entries()) {
      const mine = planned.filter((window) => window.question === n)
      const windows = scored.filter((_, at) => planned[at]!.question === n)
      readings[i] = {
        findings: this.#calibration.findings(question.role, texts[n]!.pieced.ids.length, windows),
        unread: unreadOf(texts[n]!, mine)
      }
    }
    return readings
  }

  /** In pieces, from its beginning until behind what was raised. */
  async #cut(question: EncoderQuestion, signal: AbortSignal): Promise<Pieced> {
    const { text, spans } = question
    const last = spans?.reduce((most, { end }) => Math.max(most, end), 0) ?? text.length
    // Longer texts than that are not looked up, which would take the event loop as long as it takes a thread to cut them.
    const key = text.length > longestRemembered ? undefined : keyOf(text, last)
    const known = key === undefined ? undefined : this.#pieces.get(key)
    if (known !== undefined) return known
    const pieced = await this.#cutUpTo(last, question, signal)
    if (key !== undefined) this.#pieces.set(key, pieced)
    return pieced
  }

  async #cutUpTo(last: number, { text, spans, whose }: EncoderQuestion, signal: AbortSignal): Promise<Pieced> {
    let ids = new Int32Array(Math.min(text.length, chunkUnits) + 1)
    let starts = new Uint32Array(ids.length)
    let count = 0
    let at = 0
    for (let continues = false; at < text.length; ) {
      const end = chunkEnd(text, at)
      const cut = taken(await this.#options.threads.run({ cut: text.slice(at, end), continues }, whose, signal))
      if (count + cut.ids.length > ids.length) {
        ids = grown(ids, new Int32Array((count + cut.ids.length) * 2))
        starts = grown(starts, new Uint32Array(ids.length))
      }
      ids.set(cut.ids, count)
      for (let i = 0; i < cut.starts.length; i++) starts[count + i] = cut.starts[i]! + at
      count += cut.ids.length
      at = end
      continues = at < text.length && !isSpace(text.charCodeAt(at)) && !isSpace(text.charCodeAt(at - 1))
      const beyond = count - firstFrom(starts.subarray(0, count), last)
      if (spans !== undefined && beyond >= piecesBeyond && count >= this.#calibration.longestFrom) break
    }
    return { ids: ids.slice(0, count), starts: starts.slice(0, count), end: at }
  }

  async #score(
    { role, whose }: EncoderQuestion,
    pieced: Pieced,
    { from, to }: Planned,
    signal: AbortSignal
  ): Promise<Scored> {
    const { threads, report } = this.#options
    const ids = framed(pieced.ids.subarray(from, to), toSpeaker(role))
    const key = createHash('sha256').update(ids).digest('base64')
    let logits = this.#scores.get(key)
    if (logits === undefined) {
      const outcome = await threads.run({ ids }, whose, signal)
      if (!('logits' in outcome)) throw new EncoderError('crashed')
      report.window(outcome.ms / 1000)
      report.windows('model', 1)
      logits = outcome.logits
      this.#scores.set(key, logits)
    } else report.windows('memory', 1)
    return { ...stretchOf(pieced, from, to), logits }
  }
}

/** As `Promise.all`, for promises whose failures after the first are nobody's concern. */
function all<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  for (const promise of promises) promise.catch(() => undefined)
  return Promise.all(promises)
}

function keyOf(text: string, last: number): string {
  return createHash('sha256').update(`${last}\n`).update(text).digest('base64')
}

/** Before a space where there is one near, so that words stay whole; never within a pair of units. */
function chunkEnd(text: string, from: number): number {
  const most = from + chunkUnits
  if (most >= text.length) return text.length
  for (let end = most; end > most - chunkSlack; end--) {
    if (isSpace(text.charCodeAt(end)) && !isSpace(text.charCodeAt(end - 1))) return end
  }
  return (text.charCodeAt(most) & 0xfc00) === 0xdc00 ? most - 1 : most
}

function framed(ids: Int32Array, speaker: Speaker): BigInt64Array<ArrayBuffer> {
  const whole = new BigInt64Array(ids.length + 3)
  whole[0] = startMark
  whole[1] = BigInt(firstSpeaker + speakers.indexOf(speaker))
  for (let i = 0; i < ids.length; i++) whole[i + 2] = BigInt(ids[i]!)
  whole[ids.length + 2] = endMark
  return whole
}

function taken(outcome: Outcome): { ids: Int32Array<ArrayBuffer>; starts: Uint32Array<ArrayBuffer> } {
  if (!('ids' in outcome)) throw new EncoderError('crashed')
  return outcome
}

function grown<T extends Int32Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
