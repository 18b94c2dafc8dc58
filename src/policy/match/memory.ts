/**
 * Remembers the findings in repeated texts: a chat repeats its whole history with each turn, an agent with each step,
 * and only the new texts have to be scanned. The memory holds a digest and the findings of a text, never the text. The
 * digest is keyed by a secret of the process and by the account, so that it reveals nothing, and accounts never share
 * entries. It covers everything that a scan depends on: the text, its role, whether it is a key, the direction, the
 * guarded content of the system prompts. Everything after a scan is computed anew with each call: the place, the
 * context, exceptions, the session, the bands. One memory per policy and thread: another version of a constitution
 * starts empty, and the encoder's answers are compared before an entry is used.
 */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ChatPart } from '../../base/chat.js'
import type { EncoderReading } from '../../encoder/index.js'
import type { Span } from '../../text/fold.js'
import type { Put } from '../evaluate/asking.js'
import type { CompiledRule } from './compile.js'
import type { Sink } from './match.js'

/** The arguments of one call of `Sink.record` that counted, with the index of its rule. */
type Recorded = readonly [
  rule: number,
  layer: string,
  start: number,
  end: number,
  confidence: number,
  shown: Span | undefined,
  isNominated: boolean | undefined
]

/**
 * The result of a text for one state of the encoder's answers: none in the first pass, its readings in the second.
 * Plain data.
 */
interface Outcome {
  /** UTF-16 units of other readings of the text: they count against a call's budget even if remembered. */
  units: number
  records: readonly Recorded[]
  /** Questions to the encoder, with its answers then. */
  asked: readonly { put: Put; reading: EncoderReading | undefined }[]
}

/** The result of a scan. */
export interface Scanned {
  /** False where the text could not be scanned completely. */
  isComplete: boolean
  /** UTF-16 units of other readings. */
  units: number
}

/** UTF-16 units of other readings that a call may still use. */
export interface Allowance {
  units: number
}

/** Memory entries for another thread. Plain data: most texts have no findings, and only their keys are sent. */
export interface Learnt {
  /** One after the other, with a line feed between. */
  empty: string
  others: readonly (readonly [key: string, outcomes: readonly Outcome[]])[]
}

/** Enough for a day of many chats; some 200 bytes each without findings. */
const maxTexts = 20_000
/** Texts with more findings than this are scanned again. */
const maxRecords = 64
/** A repeated chat has more than one text longer than this. */
const shortest = 64

/** The result of most texts: no findings, and no questions to the encoder. */
const nothing: readonly Outcome[] = [{ units: 0, records: [], asked: [] }]
/** One before the encoder was asked, and one after. */
const maxOutcomes = 2

export class PartMemory {
  readonly #rules: readonly CompiledRule[]
  readonly #texts = new LRUCache<string, readonly Outcome[]>({ max: maxTexts })
  /** Keys of new entries since the last request; undefined: they are not collected. */
  #learnt: Set<string> | undefined

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules
  }

  /**
   * Records the remembered findings of this text and repeats its questions to the encoder; or scans the text.
   * @param key names the text and everything that its findings depend on, except the encoder's answers
   * @param room is charged for other readings, remembered or not; a text whose readings exceed it is scanned
   * @param scan finds into the sink it is given
   * @returns the result of the scan; undefined where the text was remembered
   */
  replay(
    key: string,
    text: string,
    { sink, room, scan }: { sink: Sink; room: Allowance; scan: (sink: Sink) => Scanned }
  ): Scanned | undefined {
    const known = this.#texts.get(key)
    const same = known?.find(
      ({ units, asked }) => units <= room.units && asked.every(({ put, reading }) => hasSaid(sink, put, text, reading))
    )
    if (same !== undefined) {
      room.units -= same.units
      for (const { put } of same.asked) sink.raised?.again(put, text)
      for (const [rule, ...found] of same.records) sink.record(this.#rules[rule]!, ...found)
      return undefined
    }
    const { scanned, outcome } = listened(sink, scan)
    if (scanned.isComplete && outcome !== undefined) this.#set(key, [outcome, ...(known ?? [])].slice(0, maxOutcomes))
    return scanned
  }

  /** Whether the text has an entry. */
  has(key: string): boolean {
    return this.#texts.has(key)
  }

  /** Starts collecting new entries, for `learnt`. */
  listen(): void {
    this.#learnt = new Set()
  }

  /** New entries since `listen`, for the memory of another thread; undefined: none. */
  learnt(): Learnt | undefined {
    const keys = this.#learnt ?? []
    this.#learnt = undefined
    return this.told(keys)
  }

  /** The entries under these keys, for the memory of another thread; undefined: none. */
  told(keys: Iterable<string>): Learnt | undefined {
    const empty: string[] = []
    const others: [string, readonly Outcome[]][] = []
    for (const key of keys) {
      const outcomes = this.#texts.peek(key)
      if (outcomes === nothing) empty.push(key)
      else if (outcomes !== undefined) others.push([key, outcomes])
    }
    return empty.length + others.length === 0 ? undefined : { empty: empty.join('\n'), others }
  }

  /** Adds entries of another thread with the same policy. */
  learn({ empty, others }: Learnt): void {
    if (empty !== '') for (const key of empty.split('\n')) this.#set(key, nothing)
    for (const [key, outcomes] of others) this.#set(key, outcomes)
  }

  #set(key: string, outcomes: readonly Outcome[]): void {
    const [{ units, records, asked }] = outcomes as readonly [Outcome]
    const isNothing = units === 0 && records.length === 0 && asked.length === 0
    this.#texts.set(key, isNothing ? nothing : outcomes)
    this.#learnt?.add(key)
  }
}

/** Scans a text. @returns the outcome to remember; undefined where it cannot be replayed without the text */
function listened(sink: Sink, scan: (sink: Sink) => Scanned): { scanned: Scanned; outcome: Outcome | undefined } {
  const records: Recorded[] = []
  const asked: { put: Put; reading: EncoderReading | undefined }[] = []
  let isKept = true
  const recording: Sink = Object.assign(Object.create(sink) as Sink, {
    record(...found: Parameters<Sink['record']>): boolean {
      const counts = sink.record(...found)
      const [rule, layer, start, end, confidence, shown, isNominated] = found
      if (counts) records.push([rule.index, layer, start, end, confidence, shown, isNominated])
      return counts
    }
  })
  const { raised } = sink
  if (raised !== undefined) {
    raised.heard = (put, reading) => {
      if (put === undefined) isKept = false
      else asked.push({ put, reading })
    }
  }
  try {
    const scanned = scan(recording)
    const isRemembered = isKept && records.length <= maxRecords
    return { scanned, outcome: isRemembered ? { units: scanned.units, records, asked } : undefined }
  } finally {
    if (raised !== undefined) raised.heard = undefined
  }
}

/** Whether the encoder's answer to a question is the same as then: none yet, or an equal one. */
function hasSaid({ raised }: Sink, put: Put, text: string, then: EncoderReading | undefined): boolean {
  const now = raised?.readingOf(put, text)
  if (now === undefined || then === undefined) return now === then
  const { findings, unread } = now
  return (
    findings.length === then.findings.length &&
    unread.length === then.unread.length &&
    findings.every(({ kind, confidence, start, end }, i) => {
      const other = then.findings[i]!
      return kind === other.kind && confidence === other.confidence && start === other.start && end === other.end
    }) &&
    unread.every(({ start, end }, i) => start === then.unread[i]!.start && end === then.unread[i]!.end)
  )
}

/** The digests of a call's texts, each computed once, on first use. */
export class Digests {
  readonly #parts: readonly ChatPart[]
  readonly #named: string
  readonly #known: (string | undefined)[] = []

  /** @param named secret; names the account, and everything that a scan depends on besides the texts */
  constructor(parts: readonly ChatPart[], named: string) {
    this.#parts = parts
    this.#named = named
  }

  /** Digest of a part: its text, its role, whether it is a key. */
  of(index: number): string {
    let digest = this.#known[index]
    if (digest === undefined) {
      const { text, role, isKey } = this.#parts[index]!
      // The prefix has an unambiguous end, so that no text can imitate another one, or two.
      digest = hash('sha256', `${this.#named}|${role}${isKey === true ? '#' : '='}${text}`, 'base64')
      this.#known[index] = digest
    }
    return digest
  }
}

/** Whether a call belongs to a continued chat, most of which was judged before. */
export function isTranscript(parts: readonly ChatPart[]): boolean {
  let long = 0
  for (const { text } of parts) if (text.length > shortest && ++long > 1) return true
  return false
}
