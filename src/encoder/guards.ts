/**
 * Selects the guarding sentences of a system prompt: those that forbid, limit or hide something, as the encoder scores
 * them. Texts of the chat are then read together with these. `training/encoder/pairs.py` selects them in the same way
 * for training.
 */
import { LRUCache } from 'lru-cache'
import { sentencesOf } from '../text/sentences.js'
import { guardPieces, type Pieced, piecesOf } from './windows.js'

/** Most sentences of a prompt that are read singly; in longer prompts some are read together. */
const mostSentences = 48

/** Cached system prompts. */
const mostPrompts = 500

/** Pieces of a prompt, from the first to the one after the last. */
export interface Run {
  from: number
  to: number
}

/** The sentences of a prompt, none longer than what is read beside a text. */
export function runsOf(prompt: string, pieced: Pieced): Run[] {
  const sentences = sentencesOf(prompt).filter(({ start }) => start < pieced.end)
  const together = Math.max(1, Math.ceil(sentences.length / mostSentences))
  const runs: Run[] = []
  for (let i = 0; i < sentences.length; i += together) {
    const start = sentences[i]!.start
    const end = sentences[Math.min(i + together, sentences.length) - 1]!.end
    const text = prompt.slice(start, end)
    const [first, last] = piecesOf(pieced, {
      start: end - text.trimStart().length,
      end: start + text.trimEnd().length
    })
    for (let from = first; from < last; from += guardPieces) runs.push({ from, to: Math.min(last, from + guardPieces) })
  }
  return runs
}

/**
 * @param keeping by run, the margin by which it guards something: from 0 on it does
 * @returns the pieces to read with texts: all of a short prompt; of a longer one its guarding sentences, the surest
 * first if room is short, plus the sentences that they refer to if room is left. Empty where nothing is guarded
 */
export function keptOf({ ids }: Pieced, runs: readonly Run[], keeping: readonly number[]): Int32Array {
  const kept = runs.map((_, i) => i).filter((i) => keeping[i]! >= 0)
  if (kept.length === 0) return ids.subarray(0, 0)
  const chosen = new Map<number, Run>()
  let room = guardPieces
  const lengthOf = (i: number) => (runs[i] === undefined ? 0 : runs[i].to - runs[i].from)
  const take = (i: number) => {
    if (runs[i] === undefined || chosen.has(i) || room === 0) return
    const { from } = runs[i]
    const to = from + Math.min(lengthOf(i), room)
    chosen.set(i, { from, to })
    room -= to - from
  }
  if (runs.reduce((sum, _, i) => sum + lengthOf(i), 0) <= guardPieces) for (const i of runs.keys()) take(i)
  for (const i of [...kept].sort((a, b) => keeping[b]! - keeping[a]! || a - b)) take(i)
  // "That stays between us" refers to the sentence before.
  for (const i of kept) if (lengthOf(i - 1) <= room) take(i - 1)
  const whole = new Int32Array(guardPieces - room)
  let at = 0
  for (const [, { from, to }] of [...chosen].sort(([a], [b]) => a - b)) {
    whole.set(ids.subarray(from, to), at)
    at += to - from
  }
  return whole
}

/** Functions that cut a prompt and read its sentences, for one request. */
export interface GuardReading {
  cut(prompt: string): Promise<Pieced>
  /**
   * Charges for sentences that were not read before. @returns by sentence, the margin by which it guards something: see
   * `keptOf`
   */
  keeping(sentences: readonly Int32Array[]): Promise<readonly number[]>
}

/** A cache of the guarding sentences of system prompts; each prompt is read once. */
export class Guards {
  readonly #kept = new LRUCache<string, Int32Array>({ max: mostPrompts })

  /** Also false for prompts that were not read yet. */
  keepsNothing(prompt: string): boolean {
    return this.#kept.get(prompt)?.length === 0
  }

  /** @param prompts of one request; duplicates are allowed @returns by prompt, the pieces to read with texts */
  async read(prompts: Iterable<string>, by: GuardReading): Promise<ReadonlyMap<string, Int32Array>> {
    const kept = new Map<string, Int32Array>()
    // One after the other, since a chat has only one text of prompts.
    for (const prompt of new Set(prompts)) kept.set(prompt, await this.#keptBy(prompt, by))
    return kept
  }

  async #keptBy(prompt: string, by: GuardReading): Promise<Int32Array> {
    const known = this.#kept.get(prompt)
    if (known !== undefined) return known
    const pieced = await by.cut(prompt)
    const runs = runsOf(prompt, pieced)
    const kept = keptOf(pieced, runs, await by.keeping(runs.map(({ from, to }) => pieced.ids.subarray(from, to))))
    this.#kept.set(prompt, kept)
    return kept
  }
}
