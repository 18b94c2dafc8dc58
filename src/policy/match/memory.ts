/**
 * What was found in texts that come again: a chat brings its whole history with each turn, and only what is new in it has
 * to be scanned. Kept by digest, so that no text outlives its call. One per policy and thread: another version of a
 * constitution remembers nothing of this one.
 */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ChatPart } from '../../base/chat.js'
import type { EncoderReading } from '../../encoder/index.js'
import type { Put } from '../evaluate/asking.js'
import type { Sink } from './match.js'

/** The arguments of one call of `Sink.record` that counted. */
type Recorded = Parameters<Sink['record']>

/** What came of a text, by what the encoder had said of it: at first nothing, in the second pass its readings. */
interface Remembered {
  records: readonly Recorded[]
  /** What was put to the encoder, and what it had said. */
  asked: readonly { put: Put; reading: EncoderReading | undefined }[]
}

/** A long day of many chats; some 200 bytes each where nothing was found. */
const maxTexts = 20_000
/** Texts with more findings than this are scanned again. */
const maxRecords = 64
/** Up to this length a text is its own digest. */
const shortest = 64

/** Most texts: nothing was found, and nothing was put to the encoder. */
const nothing: readonly Remembered[] = [{ records: [], asked: [] }]
/** One before the encoder was asked, and one after. */
const maxOutcomes = 2

export class PartMemory {
  readonly #texts = new LRUCache<string, readonly Remembered[]>({ max: maxTexts })

  /**
   * Records what was found in this text before, and puts to the encoder what was put to it then; or scans the text.
   * @param key names the text and everything else that its findings depend on, but for what the encoder says of it
   * @param scan finds into the sink it is given; returns false where the text could not be looked at in full
   * @returns whether the text was looked at in full
   */
  replay(key: string, text: string, sink: Sink, scan: (sink: Sink) => boolean): boolean {
    const known = this.#texts.get(key) ?? []
    const same = known.find(({ asked }) => asked.every(({ put, reading }) => hasSaid(sink, put, text, reading)))
    if (same !== undefined) {
      for (const { put } of same.asked) sink.raised?.again(put, text)
      for (const found of same.records) sink.record(...found)
      return true
    }
    const { isComplete, outcome } = listened(sink, scan)
    if (isComplete && outcome !== undefined) {
      const isNothing = outcome.records.length === 0 && outcome.asked.length === 0
      this.#texts.set(key, isNothing ? nothing : [outcome, ...known].slice(0, maxOutcomes))
    }
    return isComplete
  }
}

/** Scans a text. @returns what came of it; undefined where that cannot be had again without the text */
function listened(sink: Sink, scan: (sink: Sink) => boolean): { isComplete: boolean; outcome: Remembered | undefined } {
  const records: Recorded[] = []
  const asked: { put: Put; reading: EncoderReading | undefined }[] = []
  let isKept = true
  const recording: Sink = Object.assign(Object.create(sink) as Sink, {
    record(...found: Recorded): boolean {
      const counts = sink.record(...found)
      if (counts) records.push(found)
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
    const isComplete = scan(recording)
    return { isComplete, outcome: isKept && records.length <= maxRecords ? { records, asked } : undefined }
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
  readonly #known: (string | undefined)[] = []

  constructor(parts: readonly ChatPart[]) {
    this.#parts = parts
  }

  /** Of a part: its text, its role, whether it is a key. */
  of(index: number): string {
    let digest = this.#known[index]
    if (digest === undefined) {
      const { text, role, isKey } = this.#parts[index]!
      // With its length before it, no text can be written that passes for the digest of another, or for two texts.
      const named = text.length <= shortest ? `${text.length}:${text}` : hash('sha256', text, 'base64')
      digest = `${role}${isKey === true ? '#' : '='}${named}`
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
