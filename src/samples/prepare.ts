/** Makes the text of a sample from a call: chooses the parts to keep, and replaces content that must not be kept. */
import type { ChatPart, JsonObject } from '../base/chat.js'
import type { Redactable } from '../base/decision.js'
import type { Decided, Said } from '../observe/record.js'
import { replacementOf } from '../policy/decide/names.js'
import type { Detection, Evaluation } from '../policy/evaluation.js'
import { covered, coverOf, type Mask, type Masked, moved, textsIn, withoutMedia, withTexts } from './masking.js'
import type { SampleText } from './sample.js'

/** UTF-16 units of one sample, without its context. */
export const maxUnits = 100_000
const maxParts = 1_000
/** Units that are searched beyond the cut of a text: a secret at the cut is recognised by the text behind it. */
const margin = 8_192

/** The part of a call that a sample needs. */
export type Sampled = Pick<Decided, 'evaluation' | 'parts'> & { said: Said }

export interface Draft {
  parts: ChatPart[]
  joined: number[][]
  /** Kept length of each part. */
  rooms: number[]
  /** The parts, and then the texts of the context. */
  texts: ChatPart[]
  isCut: boolean
}

/** Whether it involves minors and so is never kept: detected, or scored from the middle band on. */
export function isOfMinors({ detections, scores }: Evaluation, middle: number): boolean {
  return scores.sexual_minors >= middle || detections.some(({ category }) => category === 'sexual_minors')
}

/** Sexual content, which is never kept beside a word for a child. */
export function isSexual({ detections }: Evaluation): boolean {
  return detections.some(({ category }) => category === 'sexual')
}

/** Chooses the kept parts: first those with findings, then from the last one back. */
export function draftOf({ evaluation, parts: all, said }: Sampled): Draft {
  const found = new Set(evaluation.detections.map(({ pointer = '' }) => pointer))
  const isMarked = ({ pointer }: ChatPart) => found.has(pointer)
  const kept = [...all.keys()].filter((i) => all[i]!.isDecoded !== true)
  const order = [...kept.filter((i) => isMarked(all[i]!)), ...kept.filter((i) => !isMarked(all[i]!)).reverse()]
  const rooms = new Map<number, number>()
  let left = maxUnits
  for (const i of order) {
    if (rooms.size >= maxParts || left === 0) break
    const room = Math.min(all[i]!.text.length, left)
    rooms.set(i, room)
    left -= room
  }
  const chosen = [...rooms.keys()].sort((a, b) => a - b)
  const numbers = new Map(chosen.map((i, number) => [i, number]))
  const parts = chosen.map((i): ChatPart => {
    const { role, text, pointer, isKey } = all[i]!
    return { role, text: text.slice(0, rooms.get(i)! + margin), pointer, ...(isKey && { isKey }) }
  })
  const joined = said.joined.map((run) => run.flatMap((i) => numbers.get(i) ?? [])).filter((run) => run.length > 1)
  const ofContext = said.context === undefined ? [] : textsIn(said.context)
  return {
    parts,
    joined,
    rooms: chosen.map((i) => rooms.get(i)!),
    texts: [...parts, ...ofContext.map((text): ChatPart => ({ role: 'parameter', text, pointer: '' }))],
    isCut: order.some((i) => rooms.get(i) !== all[i]!.text.length)
  }
}

/** @param found findings in the texts of the draft */
export function sampleOf({ evaluation, said }: Sampled, draft: Draft, { masks }: Masked): SampleText {
  const { parts, joined, rooms, texts, isCut } = draft
  const numbers = new Map<string, number>()
  for (const [i, { pointer }] of parts.entries()) if (!numbers.has(pointer)) numbers.set(pointer, i)
  const all = [...masks, ...judged(evaluation.detections, numbers, [...said.redact, 'secrets'])]
  const covers = texts.map((_, i) => coverOf(all, i))
  const shown = parts.map(({ role, text, isKey }, i) => {
    const cover = covers[i]!.filter(({ start }) => start < rooms[i]!)
    const end = Math.max(rooms[i]!, cover.at(-1)?.end ?? 0)
    return { role, text: withoutMedia(covered(text.slice(0, end), cover)), ...(isKey && { isKey }) }
  })
  let next = parts.length
  const context =
    said.context === undefined
      ? undefined
      : (withTexts(said.context, (text) => withoutMedia(covered(text, covers[next++]!))) as JsonObject)
  return {
    direction: said.direction,
    parts: shown,
    joined,
    ...(context !== undefined && { context }),
    detections: evaluation.detections.flatMap(({ pointer = '', ...detection }) => {
      const part = numbers.get(pointer)
      if (part === undefined || detection.span.start >= rooms[part]!) return []
      const { length } = shown[part]!.text
      const start = Math.min(length, moved(detection.span.start, covers[part]!, 'start'))
      const end = Math.min(length, moved(detection.span.end, covers[part]!, 'end'))
      return [{ ...detection, span: { start, end }, part }]
    }),
    scores: Object.fromEntries(Object.entries(evaluation.scores).filter(([, score]) => score > 0)),
    isCut
  }
}

/** Maskable findings of the constitution in force, which may know secrets without an issuer's prefix. */
function judged(
  detections: readonly Detection[],
  numbers: ReadonlyMap<string, number>,
  redact: readonly Redactable[]
): Mask[] {
  return detections.flatMap((detection) => {
    const text = replacementOf(detection, redact)
    const part = numbers.get(detection.pointer ?? '')
    return text === undefined || part === undefined ? [] : [{ part, ...detection.span, text }]
  })
}
