/**
 * What was found in texts that come again: a chat brings its whole history with each turn, an agent with each step, and only
 * what is new in it has to be scanned. What is kept of a text is a digest and what was found in it, never the text. The digest
 * is keyed by a secret of the process and by the account, so that nobody can tell from it what was said, and nobody's texts
 * are known by another's. It names all that a scan depends on: the text, its role, whether it is a key, the direction, what
 * the chat's system prompts keep. What comes after a scan is worked out anew with each call: the place, the context, what
 * people have excepted, the session, the bands. One memory per policy and thread: another version of a constitution
 * remembers nothing of this one, and what the encoder said is compared before it is taken.
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

/** What came of a text, by what the encoder had said of it: at first nothing, in the second pass its readings. Plain data. */
interface Outcome {
  /** UTF-16 units of other readings of the text: a call has a budget of them, remembered or not. */
  units: number
  records: readonly Recorded[]
  /** What was put to the encoder, and what it had said. */
  asked: readonly { put: Put; reading: EncoderReading | undefined }[]
}

/** What a scan came to. */
export interface Scanned {
  /** False where the text could not be looked at in full. */
  isComplete: boolean
  /** UTF-16 units of other readings. */
  units: number
}

/** UTF-16 units of other readings that a call may still have. */
export interface Allowance {
  units: number
}

/** What one thread tells another of texts. Plain data: most texts hold nothing, and of them there is only the name. */
export interface Learnt {
  /** One after the other, with a line feed between. */
  empty: string
  others: readonly (readonly [key: string, outcomes: readonly Outcome[]])[]
}

/** A long day of many chats; some 200 bytes each where nothing was found. */
const maxTexts = 20_000
/** Texts with more findings than this are scanned again. */
const maxRecords = 64
/** In a chat that goes on, more than one text is longer than this. */
const shortest = 64

/** Most texts: nothing was found, and nothing was put to the encoder. */
const nothing: readonly Outcome[] = [{ units: 0, records: [], asked: [] }]
/** One before the encoder was asked, and one after. */
const maxOutcomes = 2

export class PartMemory {
  readonly #rules: readonly CompiledRule[]
  readonly #texts = new LRUCache<string, readonly Outcome[]>({ max: maxTexts })
  /** Keys of what was learnt since it was last asked for; undefined: nobody asks. */
  #learnt: Set<string> | undefined

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules
  }

  /**
   * Records what was found in this text before, and puts to the encoder what was put to it then; or scans the text.
   * @param key names the text and everything else that its findings depend on, but for what the encoder says of it
   * @param room is charged with other readings, remembered or not; a text for whose readings it has no room is scanned
   * @param scan finds into the sink it is given
   * @returns what scanning the text came to; undefined where it was remembered
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

  /** Whether anything is remembered of a text. */
  has(key: string): boolean {
    return this.#texts.has(key)
  }

  /** From now on what is learnt is kept apart as well, for `learnt`. */
  listen(): void {
    this.#learnt = new Set()
  }

  /** What was learnt since `listen`, for the memory of another thread; undefined: nothing. */
  learnt(): Learnt | undefined {
    const keys = this.#learnt ?? []
    this.#learnt = undefined
    return this.told(keys)
  }

  /** What is remembered under some of these keys, for the memory of another thread; undefined: nothing. */
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

  /** Takes in what another thread has learnt by the same policy. */
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

/** Scans a text. @returns what came of it; undefined where that cannot be had again without the text */
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

/** Whether the encoder has said of a question what it said then: nothing yet, or the same. */
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

/** The digests of a call's texts, each worked out once, when first asked for. */
export class Digests {
  readonly #parts: readonly ChatPart[]
  readonly #named: string
  readonly #known: (string | undefined)[] = []

  /** @param named secret; names the account, and all but the texts themselves that a scan of them depends on */
  constructor(parts: readonly ChatPart[], named: string) {
    this.#parts = parts
    this.#named = named
  }

  /** Of a part: its text, its role, whether it is a key. */
  of(index: number): string {
    let digest = this.#known[index]
    if (digest === undefined) {
      const { text, role, isKey } = this.#parts[index]!
      // What stands before the text has one end: no text can be written that passes for another, or for two.
      digest = hash('sha256', `${this.#named}|${role}${isKey === true ? '#' : '='}${text}`, 'base64')
      this.#known[index] = digest
    }
    return digest
  }
}

/** Whether a call is one of a chat that goes on, of which most was said before. */
export function isTranscript(parts: readonly ChatPart[]): boolean {
  let long = 0
  for (const { text } of parts) if (text.length > shortest && ++long > 1) return true
  return false
}
