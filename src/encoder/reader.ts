/** The reader: turns questions into pieces, pieces into windows, windows into logits, and logits into findings. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { severalAtOnce } from '../base/several.js'
import { passagesAround } from '../text/sentences.js'
import { Calibration, type Scored } from './calibration.js'
import { CallQueue, type CallQueueOptions, type EncoderCall } from './call-queue.js'
import { type GuardReading, Guards } from './guards.js'
import {
  type Encoder,
  EncoderError,
  type EncoderQuestion,
  type EncoderReading,
  type EncoderReport,
  type Name,
  type NamesQuestion,
  type Pay,
  type Stretch
} from './index.js'
import type { EncoderFiles } from './manifest.js'
import { Names } from './names.js'
import { isSpace } from './normalise.js'
import { Seconds } from './seconds.js'
import {
  firstFrom,
  marks,
  mostWindows,
  type Pieced,
  plan,
  stretchOf,
  toldBy,
  unreadOf,
  type Window,
  windowOf,
  windowPieces,
  windowStarts
} from './windows.js'
import type { Outcome } from './worker.js'

export interface ReaderOptions extends CallQueueOptions {
  files: EncoderFiles
  report: EncoderReport
}

/** Units that a thread cuts at once: takes at most as long as a window. */
const chunkUnits = 8192
/** How much earlier a chunk may end, at a space. */
const chunkSlack = 1024
/** Pieces to cut after the last raised one: to the end of the neighbouring windows. */
const piecesBeyond = 2 * windowPieces
/**
 * Cache sizes, since histories repeat with each turn and streams with each sentence: pieces of cut texts (8 bytes
 * each), and scores of windows (some 300 bytes each).
 */
const mostPieces = 1_000_000
const mostScores = 16_384
/** Most pieces and window marks that are searched for names in a request: 256 windows, some 100,000 characters. */
const mostNamePieces = 32_768
/** The same limit in UTF-16 units, checked before cutting. */
const mostNameUnits = 16 * mostNamePieces
/** Tasks of one request that wait at once: more would fill the queue and be refused. */
const namesAtOnce = 16
/** Cached scores of name tags (4 bytes each). */
const mostTags = 2_000_000
/** Fixed cost of a cached text, in pieces. */
const pieceless = 50
const longestRemembered = 65_536
export class Reader implements Encoder {
  readonly label: string
  readonly #options: ReaderOptions
  readonly #calls: CallQueue
  readonly #calibration: Calibration
  readonly #pieces = new LRUCache<string, Pieced>({
    maxSize: mostPieces,
    sizeCalculation: ({ ids }) => ids.length + pieceless
  })
  readonly #scores = new LRUCache<string, Float32Array>({ max: mostScores })
  readonly #seconds = new Seconds(mostScores)
  readonly #guards = new Guards()
  readonly #names: Names | undefined
  readonly #tags = new LRUCache<string, Float32Array>({
    maxSize: mostTags,
    sizeCalculation: ({ length }) => length + pieceless
  })

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#calls = new CallQueue(options)
    this.label = options.files.label
    const { manifest } = options.files
    this.#calibration = new Calibration(manifest)
    this.#names = manifest.names && new Names(manifest.names.tags)
  }

  read(questions: readonly EncoderQuestion[], pay?: Pay): Promise<readonly EncoderReading[]> {
    return this.#calls.run(questions, (call) => this.#readAll(questions, pay, call))
  }

  keepsNothing(guard: string): boolean {
    return this.#guards.keepsNothing(guard)
  }

  get findsNames(): boolean {
    return this.#names !== undefined
  }

  names(questions: readonly NamesQuestion[], pay?: Pay): Promise<readonly (readonly Name[])[]> {
    return this.#calls.run(questions, (call) => this.#nameAll(questions, pay, call))
  }

  close(): Promise<void> {
    return this.#options.threads.close()
  }

  async #readAll(
    questions: readonly EncoderQuestion[],
    pay: Pay | undefined,
    call: EncoderCall
  ): Promise<EncoderReading[]> {
    // Every question needs a window, so only as many questions can be read. Raised ones come first; of those with a
    // guard, the latest texts.
    const rank = ({ guard, spans }: EncoderQuestion) => (guard !== undefined ? 2 : spans === undefined ? 1 : 0)
    const first = questions
      .map((question, i) => ({ question, i, rank: rank(question) }))
      .sort((a, b) => a.rank - b.rank || (a.rank === 2 ? b.i - a.i : a.i - b.i))
      .slice(0, mostWindows)
    const prompts = first.flatMap(({ question: { guard } }) => (guard === undefined ? [] : [guard]))
    const whose = first[0]?.question.whose ?? ''
    const guards = await this.#guards.read(prompts, this.#guardReading(whose, pay, call))
    const texts = await all(
      first.map(async ({ question }) => {
        const guard = question.guard === undefined ? undefined : guards.get(question.guard)!
        // Prompts that guard nothing have no content to get.
        if (guard?.length === 0) return { pieced: uncut, guard, spans: [], isLast: true }
        const pieced = await this.#cut(question, call)
        const room = guard === undefined ? windowPieces : windowPieces - guard.length - 1
        const { spans, text } = question
        const passages = guard === undefined && spans !== undefined ? () => passagesAround(text, spans) : undefined
        return {
          pieced,
          guard,
          room,
          spans,
          passages,
          isLast: guard !== undefined,
          tearsParagraphs: question.role === 'tool'
        }
      })
    )
    const planned = plan(texts)
    const windows = planned.map(({ question, from, to }) => {
      const { role } = first[question]!.question
      const { pieced, guard } = texts[question]!
      return windowOf(pieced.ids.subarray(from, to), role, guard)
    })
    await this.#expect(pay, call, new Set(windows.map(({ key }) => key).filter((key) => !this.#scores.has(key))).size)
    // Readings of one text often have windows in common.
    const underWay = new Map<string, Promise<Float32Array>>()
    const score = (window: Window, whose: string): Promise<Float32Array> => {
      let logits = underWay.get(window.key)
      if (logits === undefined) {
        logits = this.#score(window, whose, call)
        underWay.set(window.key, logits)
      }
      return logits
    }
    const scored = await all(
      planned.map(async ({ question, from, to, isTorn, isPassage }, at): Promise<Scored> => {
        const { text, whose, guard, quoted = [] } = first[question]!.question
        const logits = await score(windows[at]!, whose)
        const place = stretchOf(texts[question]!.pieced, from, to)
        const stretch = { ...place, isTorn, isPassage, isQuoted: isMostly(place, quoted) }
        if (!this.#calibration.isSeconded || guard !== undefined) return { ...stretch, logits }
        return {
          ...stretch,
          logits,
          second: this.#seconds.of(text.slice(stretch.start, stretch.end))
        }
      })
    )
    const readings = questions.map(({ text, spans }): EncoderReading => {
      return { findings: [], unread: spans ?? (text.length === 0 ? [] : [{ start: 0, end: text.length }]) }
    })
    for (const [n, { question, i }] of first.entries()) {
      const mine = planned.filter((window) => window.question === n)
      const read = scored.filter((_, at) => planned[at]!.question === n)
      readings[i] = {
        findings: this.#calibration.findings(
          question.role,
          texts[n]!.pieced.ids.length,
          read,
          question.guard !== undefined
        ),
        unread: unreadOf(texts[n]!, mine)
      }
    }
    return readings
  }

  async #nameAll(questions: readonly NamesQuestion[], pay: Pay | undefined, call: EncoderCall): Promise<Name[][]> {
    const names = this.#names
    if (names === undefined) throw new EncoderError('crashed')
    if (questions.reduce((sum, { text }) => sum + text.length, 0) > mostNameUnits) throw new EncoderError('too_long')
    const texts = await severalAtOnce(questions, namesAtOnce, (question) => this.#cut(question, call))
    const windows = texts.map(({ ids }) => windowStarts(ids.length))
    const cost = texts.reduce((sum, { ids }, i) => {
      return sum + windows[i]!.length * (Math.min(ids.length, windowPieces) + marks)
    }, 0)
    if (cost > mostNamePieces) throw new EncoderError('too_long')
    const asked = windows.flatMap((starts, i) => {
      const { ids } = texts[i]!
      const { role, whose } = questions[i]!
      return starts.map((from) => ({
        whose,
        window: windowOf(ids.subarray(from, Math.min(ids.length, from + windowPieces)), role)
      }))
    })
    await this.#expect(pay, call, asked.filter(({ window }) => !this.#tags.has(window.key)).length)
    const said = await severalAtOnce(asked, namesAtOnce, ({ window, whose }) => this.#tag(window, whose, call))
    const { count } = names
    let window = 0
    return questions.map(({ text }, i) => {
      const starts = windows[i]!
      const logits = new Float32Array(texts[i]!.ids.length * count)
      let piece = 0
      for (const [n, to] of toldBy(starts, texts[i]!.ids.length).entries()) {
        const from = starts[n]!
        logits.set(said[window++]!.subarray((piece - from) * count, (to - from) * count), piece * count)
        piece = to
      }
      return names.find(text, texts[i]!, logits)
    })
  }

  /** Cuts a text from its beginning to beyond the last raised stretch. */
  async #cut(question: EncoderQuestion, call: EncoderCall): Promise<Pieced> {
    const { text, spans } = question
    const last = spans?.reduce((most, { end }) => Math.max(most, end), 0) ?? text.length
    // Longer texts than that are not looked up, which would take the event loop as long as it takes a thread to cut them.
    const key = text.length > longestRemembered ? undefined : keyOf(text, last)
    const known = key === undefined ? undefined : this.#pieces.get(key)
    if (known !== undefined) return known
    const pieced = await this.#cutUpTo(last, question, call)
    if (key !== undefined) this.#pieces.set(key, pieced)
    return pieced
  }

  #guardReading(whose: string, pay: Pay | undefined, call: EncoderCall): GuardReading {
    return {
      cut: (text) => this.#cut({ role: 'system', whose, text }, call),
      keeping: async (sentences) => {
        // A sentence of a prompt is framed in the guard's place, with an empty text.
        const windows = sentences.map((ids) => windowOf(none, 'user', ids))
        await this.#expect(pay, call, windows.filter(({ key }) => !this.#scores.has(key)).length)
        const scored = await all(windows.map((window) => this.#score(window, whose, call)))
        return scored.map((logits) => this.#calibration.keeping(logits))
      }
    }
  }

  async #cutUpTo(last: number, { text, spans, whose }: EncoderQuestion, call: EncoderCall): Promise<Pieced> {
    let ids = new Int32Array(Math.min(text.length, chunkUnits) + 1)
    let starts = new Uint32Array(ids.length)
    let count = 0
    let at = 0
    for (let continues = false; at < text.length; ) {
      const end = chunkEnd(text, at)
      const cut = taken(await call.run({ cut: text.slice(at, end), continues }, whose))
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

  /** Before windows are read that are not remembered. @throws EncoderError `unpaid`, with the refusal as its cause */
  async #expect(pay: Pay | undefined, call: EncoderCall, windows: number): Promise<void> {
    if (windows === 0) return
    const refusal = await pay?.(windows)
    if (refusal !== undefined) throw new EncoderError('unpaid', refusal)
    call.expect(windows)
  }

  async #score({ key, ids }: Window, whose: string, call: EncoderCall): Promise<Float32Array> {
    const known = this.#scores.get(key)
    if (known === undefined) return (await this.#run(key, { ids, names: false }, whose, call)).logits
    this.#options.report.windows('memory', 1)
    return known
  }

  /** @returns by piece, the scores of name tags */
  async #tag({ key, ids }: Window, whose: string, call: EncoderCall): Promise<Float32Array> {
    let tags = this.#tags.get(key)
    if (tags === undefined) {
      tags = (await this.#run(key, { ids, names: true }, whose, call)).tags
      if (tags === undefined) throw new EncoderError('crashed')
      this.#tags.set(key, tags)
    } else this.#options.report.windows('memory', 1)
    return tags
  }

  /** One window in a thread; its scores are remembered whatever it was read for. */
  async #run(key: string, task: { ids: BigInt64Array; names: boolean }, whose: string, call: EncoderCall) {
    const { report } = this.#options
    const outcome = await call.run(task, whose)
    if (!('logits' in outcome)) throw new EncoderError('crashed')
    report.window(outcome.ms / 1000)
    report.windows('model', 1)
    this.#scores.set(key, outcome.logits)
    return outcome
  }
}

/** Like `Promise.all`, but later failures are ignored. */
function all<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  for (const promise of promises) promise.catch(() => undefined)
  return Promise.all(promises)
}

/** Whether at least half of a stretch lies within others, none of which overlaps another. */
function isMostly({ start, end }: Stretch, others: readonly Stretch[]): boolean {
  let inside = 0
  for (const other of others) inside += Math.max(0, Math.min(end, other.end) - Math.max(start, other.start))
  return inside > 0 && 2 * inside >= end - start
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

const none = new Int32Array(0)
const uncut: Pieced = { ids: none, starts: new Uint32Array(0), end: 0 }

function taken(outcome: Outcome): { ids: Int32Array<ArrayBuffer>; starts: Uint32Array<ArrayBuffer> } {
  if (!('ids' in outcome)) throw new EncoderError('crashed')
  return outcome
}

function grown<T extends Int32Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
