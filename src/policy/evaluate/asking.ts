/**
 * What a call puts to the encoder: texts in which a rule that nominates has matched, or, of a thorough constitution, every
 * text. First the call is judged without readings, and what was raised comes out as questions; then once more, with what
 * the encoder has said of each. Both passes go over the same texts in the same way, so that an answer is found by the
 * text that it is about, whatever part, reading or seam that was.
 */
import type { Role } from '../../base/chat.js'
import type { Encoder, EncoderQuestion, EncoderReading, Pay, Stretch } from '../../encoder/index.js'
import { confidenceOf, shareOf } from '../../encoder/scale.js'
import type { View } from '../../text/view.js'
import type { Constitution } from '../constitution/parse.js'
import { noisyOr, signsOf } from '../decide/decide.js'
import type { Cancellation, Category } from '../evaluation.js'
import type { CompiledRule } from '../match/compile.js'
import type { Beside } from '../match/guarded/beside.js'

/** A text for the encoder to read. Plain data, so that it can come from another thread. */
export interface Question {
  /** The part that shows it, and where it stands there, in UTF-16 units. */
  part: number
  start: number
  end: number
  /** The reading of the text that was raised. */
  layer: string
  role: Role
  /** All of that reading. */
  text: string
  /** The chat's system prompts, where the text is read beside what they keep and for that alone. */
  guard?: Beside
  /** What of it was raised, from left to right; undefined: all of it is to be read. */
  spans: readonly Stretch[] | undefined
  /** The rules that raised it. */
  rules: readonly string[]
  /** What the first reader alone would do with it: `high` or `middle`, the band that it reaches. */
  reaches: 'high' | 'middle' | undefined
}

export interface Answered {
  question: Question
  reading: EncoderReading
}

/** By `keyOf`. Empty in the first pass. */
export type Readings = ReadonlyMap<string, EncoderReading>

export function keyOf({ role, text, guard }: Pick<Question, 'role' | 'text' | 'guard'>): string {
  return `${role}|${guard?.key ?? ''}|${text}`
}

/** The questions of one call. */
export class Asking {
  /** How often anything was raised: what is remembered of a text holds no questions. */
  raised = 0
  readonly isThorough: boolean
  readonly bands: Constitution['bands']
  readonly #readings: Readings
  readonly #open = new Map<string, Question>()
  readonly #read = new Map<string, Answered>()

  constructor(readings: Readings, { readers, bands }: Pick<Constitution, 'readers' | 'bands'>) {
    this.#readings = readings
    this.isThorough = readers === 'thorough'
    this.bands = bands
  }

  /** What was raised and has not been read. */
  get questions(): Question[] {
    return [...this.#open.values()]
  }

  /** What was raised and has been read. */
  get answered(): Answered[] {
    return [...this.#read.values()]
  }

  /** @returns what the encoder has said of the text, where it was asked */
  readingOf(question: Pick<Question, 'role' | 'text' | 'guard'>): EncoderReading | undefined {
    return this.#readings.get(keyOf(question))
  }

  /** @returns what the encoder has said of the text; undefined: the question is noted */
  put(question: Question): EncoderReading | undefined {
    this.raised++
    const key = keyOf(question)
    const reading = this.#readings.get(key)
    const before = this.#open.get(key) ?? this.#read.get(key)?.question
    const all = before === undefined ? question : both(before, question)
    if (reading === undefined) this.#open.set(key, all)
    else this.#read.set(key, { question: all, reading })
    return reading
  }
}

function both(a: Question, b: Question): Question {
  const spans = a.spans === undefined || b.spans === undefined ? undefined : distinct([...a.spans, ...b.spans])
  return { ...a, spans, rules: [...new Set([...a.rules, ...b.rules])], reaches: higher(a.reaches, b.reaches) }
}

/** More stretches than that are no longer told apart, and those closer than `near` are one: a request has fewer windows. */
const mostStretches = 256
/** UTF-16 units. */
const near = 100

/** Stretches from left to right, each once. They may overlap: a sentence in a paragraph is read by itself, too. */
function distinct(stretches: readonly Stretch[]): Stretch[] {
  if (stretches.length > mostStretches) return merged(stretches, near)
  const sorted = [...stretches].sort((a, b) => a.start - b.start || a.end - b.end)
  return sorted.filter(({ start, end }, i) => i === 0 || start !== sorted[i - 1]!.start || end !== sorted[i - 1]!.end)
}

/** Stretches from left to right, those that touch, or are no further apart than `gap`, as one. */
export function merged(stretches: readonly Stretch[], gap = 0): Stretch[] {
  const all: Stretch[] = []
  for (const { start, end } of [...stretches].sort((a, b) => a.start - b.start)) {
    const last = all.at(-1)
    if (last !== undefined && start <= last.end + gap) last.end = Math.max(last.end, end)
    else all.push({ start, end })
  }
  return all
}

/** A match, which the encoder decides over if its rule nominates. */
export interface Nomination {
  rule: CompiledRule
  /** In the reading. */
  from: number
  to: number
  /** What it counts where the encoder does not read it. */
  confidence: number
  shown: Stretch | undefined
}

/** Of a reading that has been looked at to its end. */
export interface Read {
  /** `isDecided`: the encoder reads it, or is about to, so that it counts nothing by itself. */
  nominations: readonly (Nomination & { isDecided: boolean })[]
  reading: EncoderReading | undefined
  /** Where texts meet, what was raised: a finding is about all of that, or it would be one of a text by itself. */
  over: Stretch | undefined
}

/** Whose words a text is, and where it is shown. */
export interface Place {
  role: Role
  part: number
  /** Where a reading of it stands in the part. */
  placeOf(view: View): Stretch
  /** Whether a match of the rule counts there, in UTF-16 units of the text. */
  counts(rule: CompiledRule, start: number, end: number): boolean
  /** Set where texts meet. */
  isSeam: boolean
  /** Whether it is read by a thorough constitution though nothing raised it. */
  isReadAnyway: boolean
  /** The chat's system prompts, where whoever speaks may go for what they keep. */
  guard?: Beside | undefined
}

/** A question over a text as it stands, without the text: what is remembered of it when the call is over. */
export interface Put extends Pick<Question, 'start' | 'end' | 'spans' | 'rules' | 'reaches'> {
  /** Whether it is read beside what the chat's system prompts keep. */
  isBeside: boolean
}

/** Collects what is raised in the readings of one text. */
export class Raised {
  /**
   * Told of each question while a text is scanned, and of what the encoder has said.
   * @param put undefined of another reading than the plain one, which nobody can put again without it
   */
  heard: ((put: Put | undefined, reading: EncoderReading | undefined) => void) | undefined
  readonly #asking: Asking
  readonly #place: Place
  #nominations: Nomination[] = []

  constructor(asking: Asking, place: Place) {
    this.#asking = asking
    this.#place = place
  }

  /** @returns false where no rule of its category has the encoder read there: then the match counts as any other */
  raise(view: View, nomination: Nomination): boolean {
    const { readBy } = nomination.rule
    if (readBy.length === 0) return false
    const { start, end } = view.textSpan(nomination.from, nomination.to)
    const { counts } = this.#place
    if (!counts(nomination.rule, start, end) || !readBy.some((rule) => counts(rule, start, end))) return false
    if (nomination.rule.raises) this.#nominations.push(nomination)
    return true
  }

  /** Told that a reading has been looked at to its end. @returns undefined where nothing in it concerns the encoder */
  close(view: View): Read | undefined {
    const { part, role, placeOf, isSeam, isReadAnyway } = this.#place
    const all = isReadAnyway && view.layer === 'plain'
    const nominations = this.#nominations
    const beside = view.layer === 'plain' ? this.#putBeside(view) : undefined
    if (nominations.length === 0 && !all) {
      return beside && { nominations: [], reading: beside, over: undefined }
    }
    this.#nominations = []
    const raised = nominations.map(({ from, to }) => ({ start: from, end: to }))
    const spans = all ? undefined : distinct(raised)
    const rules = [...new Set(nominations.map(({ rule }) => rule.name))]
    const { layer, text } = view
    const reaches = bandOf(nominations, this.#asking.bands)
    const reading = this.#put({ part, ...placeOf(view), layer, role, text, spans, rules, reaches })
    const unread = merged(reading?.unread ?? [])
    const over =
      isSeam && spans !== undefined
        ? { start: spans[0]!.start, end: spans.reduce((most, { end }) => Math.max(most, end), 0) }
        : undefined
    return {
      nominations: nominations.map((each) => ({ ...each, isDecided: !touches(unread, each.from, each.to) })),
      reading:
        beside && reading ? { ...reading, findings: [...reading.findings, ...beside.findings] } : (reading ?? beside),
      over
    }
  }

  /** Of a chat whose prompts keep something: whether the text goes for that. */
  #putBeside(view: View): EncoderReading | undefined {
    const { part, role, placeOf, guard } = this.#place
    if (guard === undefined) return undefined
    const { layer, text } = view
    // Who pastes much asks before it or after it. What stands between is left to the phrases.
    const spans =
      text.length <= 2 * asked
        ? undefined
        : [
            { start: 0, end: asked },
            { start: text.length - asked, end: text.length }
          ]
    const question = { part, ...placeOf(view), layer, role, text, guard, spans, rules: [], reaches: undefined }
    return this.#put(question)
  }

  #put(question: Question): EncoderReading | undefined {
    const reading = this.#asking.put(question)
    const { layer, start, end, spans, rules, reaches, guard } = question
    const put = layer === 'plain' ? { start, end, spans, rules, reaches, isBeside: guard !== undefined } : undefined
    this.heard?.(put, reading)
    return reading
  }

  /** @returns what the encoder has said of a question that was put about the same text in an earlier call */
  readingOf(put: Put, text: string): EncoderReading | undefined {
    return this.#asking.readingOf(this.#questionOf(put, text))
  }

  /** Puts a question again that was put about the same text in an earlier call. */
  again(put: Put, text: string): void {
    this.#asking.put(this.#questionOf(put, text))
  }

  #questionOf({ isBeside, ...put }: Put, text: string): Question {
    const { part, role, guard } = this.#place
    return { ...put, part, layer: 'plain', role, text, ...(isBeside && guard !== undefined && { guard }) }
  }
}

/** UTF-16 units at either end of a text that are read beside what a prompt keeps. */
const asked = 1500

function higher(a: Question['reaches'], b: Question['reaches']): Question['reaches'] {
  return a === 'high' || b === 'high' ? 'high' : (a ?? b)
}

function bandOf(nominations: readonly Nomination[], { middle, high }: Constitution['bands']): Question['reaches'] {
  if (stops(nominations, high)) return 'high'
  return stops(nominations, middle) ? 'middle' : undefined
}

/** Whether a category reaches a score by nominations alone, each rule counted once. */
function stops(nominations: readonly Nomination[], middle: number): boolean {
  const byCategory = new Map<Category, Map<CompiledRule, number>>()
  for (const { rule, confidence } of nominations) {
    const rules = byCategory.get(rule.category) ?? new Map<CompiledRule, number>()
    byCategory.set(rule.category, rules.set(rule, Math.max(rules.get(rule) ?? 0, confidence)))
  }
  return [...byCategory.values()].some((rules) => {
    const scored = [...rules].map(([rule, score]) => ({ rule, score }))
    return noisyOr(signsOf(scored)) >= middle
  })
}

/** @param stretches from left to right, none overlapping another */
function touches(stretches: readonly Stretch[], from: number, to: number): boolean {
  let low = 0
  let high = stretches.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (stretches[middle]!.end > from) high = middle
    else low = middle + 1
  }
  return low < stretches.length && stretches[low]!.start < to
}

interface Asker {
  /** Whose call it is, so that callers take turns. */
  whose: string
  /** Ends the wait where the caller leaves. */
  cancel?: Cancellation | undefined
  /** What its windows cost. */
  pay?: Pay | undefined
}

/** Before anything was asked. */
export const noReadings: Readings = new Map()

/** UTF-16 units. In longer texts the first reader finds something for their length: in a quarter of long documents. */
const short = 500
/**
 * By the band that the first reader reaches alone, what is left of the encoder's share of false alarms where both are against
 * a text. Of harmless texts of unseen sources 0.1 to 2 % reach these bands; but both readers learnt from the same rows and err
 * on the same texts more often than by chance, so the shares are put far higher.
 */
const left = { high: 0.05, middle: 0.2 } as const

/** What one in twenty harmless texts reaches. Below it the encoder sees nothing that would agree. */
const doubtful = 0.25

/** The two readers look at different things, words and language: where both are against a short text, few are harmless. */
function agreed({ text, reaches }: Question, reading: EncoderReading): EncoderReading {
  if (reaches === undefined || text.length > short) return reading
  const findings = reading.findings.map((finding) => {
    if (finding.confidence < doubtful) return finding
    const confidence = confidenceOf(shareOf(finding.confidence) * left[reaches])
    return { ...finding, confidence: Math.max(finding.confidence, confidence) }
  })
  return { ...reading, findings }
}

/**
 * Puts what a call has raised to the encoder.
 * @throws EncoderError where they could not all be read: what the first reader says alone is then no verdict
 */
export async function askEncoder(
  encoder: Pick<Encoder, 'read'>,
  questions: readonly Question[],
  { whose, cancel, pay }: Asker
): Promise<Readings> {
  const abort = cancel === undefined ? undefined : new AbortController()
  const off = cancel?.onCancel((reason) => abort?.abort(reason))
  try {
    const put = questions.map(({ role, text, guard, spans }): EncoderQuestion => {
      const beside = guard !== undefined && { guard: guard.text }
      return { role, text, whose, ...beside, ...(spans && { spans }), ...(abort && { cancel: abort.signal }) }
    })
    const readings = await encoder.read(put, pay)
    if (readings.length !== questions.length) throw new Error('the encoder has not read what it was asked to')
    return new Map(questions.map((question, i) => [keyOf(question), agreed(question, readings[i]!)]))
  } finally {
    off?.()
  }
}
