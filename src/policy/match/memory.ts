/**
 * What was found in texts that come again: a chat brings its whole history with each turn, and only what is new in it has
 * to be scanned. Kept by digest, so that no text outlives its call. One per policy and thread: another version of a
 * constitution remembers nothing of this one.
 */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ChatPart } from '../../base/chat.js'
import type { Span } from '../../text/fold.js'
import type { CompiledRule } from './compile.js'
import type { Sink } from './match.js'

/** One call of `Sink.record` that counted. */
interface Recorded {
  rule: CompiledRule
  layer: string
  start: number
  end: number
  confidence: number
  shown: Span | undefined
}

/** A long day of many chats; some 200 bytes each where nothing was found. */
const maxTexts = 20_000
/** Texts with more findings than this are scanned again. */
const maxRecords = 64
/** Up to this length a text is its own digest. */
const shortest = 64

const nothing: readonly Recorded[] = []

export class PartMemory {
  readonly #texts = new LRUCache<string, readonly Recorded[]>({ max: maxTexts })

  /**
   * Records what was found in this text before, or scans it.
   * @param key names the text and everything else that its findings depend on
   * @param scan finds into the sink it is given; returns false where the text could not be looked at in full
   * @param mayKeep asked after a scan: what has raised a question has to raise it again
   * @returns whether the text was looked at in full
   */
  replay(key: string, sink: Sink, scan: (sink: Sink) => boolean, mayKeep: () => boolean): boolean {
    const known = this.#texts.get(key)
    if (known !== undefined) {
      for (const { rule, layer, start, end, confidence, shown } of known)
        sink.record(rule, layer, start, end, confidence, shown)
      return true
    }
    const records: Recorded[] = []
    const recording: Sink = Object.assign(Object.create(sink) as Sink, {
      record(...found: Parameters<Sink['record']>): boolean {
        const counts = sink.record(...found)
        const [rule, layer, start, end, confidence, shown] = found
        if (counts) records.push({ rule, layer, start, end, confidence, shown })
        return counts
      }
    })
    const isComplete = scan(recording)
    if (isComplete && records.length <= maxRecords && mayKeep())
      this.#texts.set(key, records.length === 0 ? nothing : records)
    return isComplete
  }
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
