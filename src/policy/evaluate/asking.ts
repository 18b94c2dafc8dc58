/**
 * Questions of a call to the encoder: texts in which a nominating rule has matched, or with a thorough constitution
 * every text. The first pass judges without the encoder and collects questions; the second pass judges with its
 * answers. Both passes visit the same texts in the same way, so an answer is found by its text, whatever part, reading
 * or seam it came from.
 */
import type { Role } from '../../base/chat.js'
import type { Encoder, EncoderQuestion, EncoderReading, Pay, Stretch } from '../../encoder/index.js'
import { confidenceOf, shareOf } from '../../encoder/scale.js'
import { outsideOf } from '../../text/places.js'
import { merged } from '../../text/spans.js'
import type { View } from '../../text/view.js'
import type { Constitution } from '../constitution/parse.js'
import { noisyOr, signsOf } from '../decide/decide.js'
import type { Cancellation, Category } from '../evaluation.js'
import type { CompiledRule } from '../match/compile.js'
import type { Beside } from '../match/guarded/beside.js'
import type { Quotations } from '../match/quotations.js'

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
  /** Its raised stretches, from left to right; undefined: all of it is read. */
  spans: readonly Stretch[] | undefined
  /** What it quotes: see `EncoderQuestion`. */
  quoted?: readonly Stretch[]
  /** The rules that raised it. */
  rules: readonly string[]
  /** The band that the first reader alone reaches. */
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
  /** Number of raised questions; results with questions are not remembered. */
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

  /** Questions without an answer. */
  get questions(): Question[] {
    return [...this.#open.values()]
  }

  /** Questions with their answers. */
  get answered(): Answered[] {
    return [...this.#read.values()]
  }

  /** @returns the encoder's reading of the text, where it was asked */
  readingOf(question: Pick<Question, 'role' | 'text' | 'guard'>): EncoderReading | undefined {
    return this.#readings.get(keyOf(question))
  }

  /** @returns the encoder's reading of the text; undefined: the question is noted */
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

/** Above this number stretches closer than `near` are joined: a request has fewer windows. */
const mostStretches = 256
/** UTF-16 units. */
const near = 100

/** Stretches from left to right, each once. They may overlap: a sentence in a paragraph is read by itself, too. */
function distinct(stretches: readonly Stretch[]): Stretch[] {
  if (stretches.length > mostStretches) return merged(stretches, near)
  const sorted = [...stretches].sort((a, b) => a.start - b.start || a.end - b.end)
  return sorted.filter(({ start, end }, i) => i === 0 || start !== sorted[i - 1]!.start || end !== sorted[i - 1]!.end)
}

const wordUnit = /[\p{L}\p{N}]/u

/**
 * The stretches without the noise at their ends, and without those that are noise alone. What stands between noise stays one
 * stretch: in pieces, each would be read by itself. @param spans undefined: all of the view
 */
function saying({ text, noise }: View, spans: readonly Stretch[] | undefined): readonly Stretch[] | undefined {
  if (noise.length === 0) return spans
  const isWord = (from: number, to: number) => wordUnit.test(text.slice(from, to))
  return (spans ?? [{ start: 0, end: text.length }]).flatMap(({ start, end }) => {
    const left = outsideOf([start, end], noise)
    let first = 0
    let last = left.length
    while (first < last && !isWord(left[first]!, left[first + 1]!)) first += 2
    while (last > first && !isWord(left[last - 2]!, left[last - 1]!)) last -= 2
    return first < last ? [{ start: left[first]!, end: left[last - 1]! }] : []
  })
}

/** A match, which the encoder decides over if its rule nominates. */
export interface Nomination {
  rule: CompiledRule
  /** In the reading. */
  from: number
  to: number
  /** Its score where the encoder does not read it. */
  confidence: number
  shown: Stretch | undefined
}

/** The result for a completely scanned reading. */
export interface Read {
  /** `isDecided`: the encoder reads it, or is about to, so that it counts nothing by itself. */
  nominations: readonly (Nomination & { isDecided: boolean })[]
  reading: EncoderReading | undefined
  /** At a seam, the whole raised stretch: a finding must cover it, or it would belong to one text alone. */
  over: Stretch | undefined
}

/** The role of a text, and where its findings are shown. */
export interface Place {
  role: Role
  part: number
  /** Where a reading of it stands in the part. */
  placeOf(view: View): Stretch
  /** Whether a match of the rule counts there, in UTF-16 units of the text. */
  counts(rule: CompiledRule, start: number, end: number): boolean
  /** Set where texts meet. */
  isSeam: boolean
  /** Whether a thorough constitution has it read although no rule raised it. */
  isReadAnyway: boolean
  /** The chat's system prompts, where the speaker may try to get guarded content. */
  guard?: Beside | undefined
  /** What a user's text quotes, where rules read that. */
  quotations?: Quotations | undefined
}

/** A question about an unchanged text, without the text: the memory keeps this after the call. */
export interface Put extends Pick<Question, 'start' | 'end' | 'spans' | 'quoted' | 'rules' | 'reaches'> {
  /** Whether it is read together with the chat's system prompts. */
  isBeside: boolean
}

/** Collects the questions raised in the readings of one text. */
export class Raised {
  /**
   * Called with each question and its answer while a text is scanned.
   * @param put undefined for other readings than the plain one: without the text they cannot be asked again
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

  /** Called when a reading is scanned completely. @returns undefined where nothing in it concerns the encoder */
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
    const spans = saying(view, all ? undefined : distinct(raised))
    // Noise alone: the encoder would find nothing in it.
    if (spans?.length === 0) {
      return {
        nominations: nominations.map((each) => ({ ...each, isDecided: true })),
        reading: beside,
        over: undefined
      }
    }
    const rules = [...new Set(nominations.map(({ rule }) => rule.name))]
    const { layer, text } = view
    const reaches = bandOf(nominations, this.#asking.bands)
    const stretches = layer === 'plain' ? (this.#place.quotations?.stretches ?? []) : []
    const quoted = stretches.length > 0 && { quoted: stretches }
    const reading = this.#put({ part, ...placeOf(view), layer, role, text, spans, ...quoted, rules, reaches })
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

  /** For a chat with guarded prompts: asks whether the text tries to get their content. */
  #putBeside(view: View): EncoderReading | undefined {
    const { part, role, placeOf, guard } = this.#place
    if (guard === undefined) return undefined
    const { layer, text } = view
    // People who paste a long text ask before or after it. Only phrases search the middle.
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
    const { layer, text: _, part: __, role: ___, guard, ...rest } = question
    const put = layer === 'plain' ? { ...rest, isBeside: guard !== undefined } : undefined
    this.heard?.(put, reading)
    return reading
  }

  /** @returns the encoder's answer to a question of an earlier call about the same text */
  readingOf(put: Put, text: string): EncoderReading | undefined {
    return this.#asking.readingOf(this.#questionOf(put, text))
  }

  /** Repeats a question of an earlier call about the same text. */
  again(put: Put, text: string): void {
    this.#asking.put(this.#questionOf(put, text))
  }

  #questionOf({ isBeside, ...put }: Put, text: string): Question {
    const { part, role, guard } = this.#place
    return { ...put, part, layer: 'plain', role, text, ...(isBeside && guard !== undefined && { guard }) }
  }
}

/** UTF-16 units at either end of a text that are read together with a prompt. */
const asked = 1500

function higher(a: Question['reaches'], b: Question['reaches']): Question['reaches'] {
  return a === 'high' || b === 'high' ? 'high' : (a ?? b)
}

/** Rules with `agreed_from` count by their own weight, and make no other finding surer. */
function bandOf(all: readonly Nomination[], { middle, high }: Constitution['bands']): Question['reaches'] {
  const nominations = all.filter(({ rule }) => rule.agreedFrom === undefined)
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
  /** Name of the caller, so that callers take turns. */
  whose: string
  /** Ends the wait where the caller leaves. */
  cancel?: Cancellation | undefined
  /** Charges for its windows. */
  pay?: Pay | undefined
}

/** The readings of the first pass. */
export const noReadings: Readings = new Map()

/**
 * UTF-16 units. In longer texts the first reader finds something just because of the length: in a quarter of long
 * documents.
 */
const short = 500
/**
 * The factor on the encoder's false-alarm share where the first reader agrees, by the band that it reaches alone. Of
 * harmless texts of unseen sources 0.1 to 2 % reach these bands. But both readers learnt from the same rows and err on
 * the same texts more often than by chance, so the factors are set far higher.
 */
const left = { high: 0.05, middle: 0.2 } as const

/** The confidence that one in twenty harmless texts reaches; below it the encoder does not agree. */
const doubtful = 0.25

/**
 * The two readers look at different signs, words and language: few short texts that both flag are harmless. The first
 * flags harm: its agreement makes nobody more in need, and nobody is refused for that.
 */
function agreed({ text, reaches }: Question, reading: EncoderReading): EncoderReading {
  if (reaches === undefined || text.length > short) return reading
  const findings = reading.findings.map((finding) => {
    if (finding.confidence < doubtful || finding.kind === 'in_need') return finding
    const confidence = confidenceOf(shareOf(finding.confidence) * left[reaches])
    return { ...finding, confidence: Math.max(finding.confidence, confidence) }
  })
  return { ...reading, findings }
}

/**
 * Asks the encoder the questions of a call.
 * @throws EncoderError where not all could be read: the first reader alone gives no verdict then
 */
export async function askEncoder(
  encoder: Pick<Encoder, 'read'>,
  questions: readonly Question[],
  { whose, cancel, pay }: Asker
): Promise<Readings> {
  const abort = cancel === undefined ? undefined : new AbortController()
  const off = cancel?.onCancel((reason) => abort?.abort(reason))
  try {
    const put = questions.map(({ role, text, guard, spans, quoted }): EncoderQuestion => {
      const beside = guard !== undefined && { guard: guard.text }
      const stretches = { ...(spans && { spans }), ...(quoted && { quoted }) }
      return { role, text, whose, ...beside, ...stretches, ...(abort && { cancel: abort.signal }) }
    })
    const readings = await encoder.read(put, pay)
    if (readings.length !== questions.length) throw new Error('the encoder has not answered all questions')
    return new Map(questions.map((question, i) => [keyOf(question), agreed(question, readings[i]!)]))
  } finally {
    off?.()
  }
}
