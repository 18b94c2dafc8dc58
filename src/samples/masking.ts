/**
 * Masks texts before they are stored or shown. A small constitution of its own finds secrets in every reading of a
 * text, independent of the one in force, in the thread of dry runs: no request waits for it.
 */
import type { ChatPart, Json, JsonObject } from '../base/chat.js'
import type { Redactable } from '../base/decision.js'
import { ages } from '../detectors/children/ages.js'
import { senses } from '../detectors/children/words.js'
import { findNames, replacementOf } from '../policy/decide/names.js'
import { categories, type Detection, type EvaluationInput } from '../policy/evaluation.js'
import type { DryText } from '../policy/explain/dry-run.js'
import type { DryRunner } from '../policy/explain/dry-run-pool.js'

/** A place in one text, and its replacement. */
export interface Mask {
  part: number
  start: number
  end: number
  text: string
}

export interface Masked {
  masks: Mask[]
  /** Whether it asks for contact with children, whatever the constitution in force says. */
  isOfMinors: boolean
  /** Whether it speaks of somebody under age at all. */
  hasMinors: boolean
}

export interface MaskerDeps {
  runner: Pick<DryRunner, 'run'>
  /** The encoder for names; undefined where there is none. */
  encoder: () => Parameters<typeof findNames>[0]
}

type Texts = Pick<EvaluationInput, 'parts' | 'joined'>

/** The words that its rules, versions and verdicts have. */
const name = 'samples'
const minors = 'minors'
const source = JSON.stringify({
  name,
  version: '1',
  bands: { middle: 0.4, high: 0.75 },
  categories: Object.fromEntries(categories.map((category) => [category, { high: 'permit', middle: 'permit' }])),
  rules: [
    { name: 'secrets', category: 'secrets', detector: 'secrets', weight: 1 },
    { name: 'personal_data', category: 'personal_data', detector: 'personal_data', weight: 1 },
    { name: 'children', category: 'sexual_minors', detector: 'children', weight: 1 },
    { name: minors, category: 'profanity', weight: 1, any: underAge() }
  ]
})
/** Words for minors, and phrases that state such an age. */
function underAge(): string[] {
  const words = senses.minor.split(',').map((word) => word.trim().replace(/\s+/g, ' '))
  return [...new Set([...words, ...ages()])]
}

const side = { source, digest: name, name, version: '1' }

export class Masker {
  readonly #deps: MaskerDeps

  constructor(deps: MaskerDeps) {
    this.#deps = deps
  }

  /**
   * @param redact further kinds to replace; secrets always are
   * @returns in the order of the texts; undefined for one that could not be read in full
   * @throws where the thread is busy or ended, and an EvaluatorError where names are asked for and cannot be found
   */
  async find(all: readonly Texts[], redact: readonly Redactable[] = []): Promise<(Masked | undefined)[]> {
    const wanted = [...new Set<Redactable>(['secrets', ...redact])]
    // Texts that a model reads as one are joined: a secret may begin in one part and end in the next.
    const runs = all.map(({ parts, joined }) => joined.map((run) => run.map((i) => ({ i, text: parts[i]!.text }))))
    const texts = all.flatMap(({ parts, joined }, at): DryText[] => [
      dryText(parts, joined),
      ...runs[at]!.map((run) =>
        dryText([{ role: 'user', text: run.map(({ text }) => text).join(''), pointer: '' }], [])
      )
    ])
    const [outcomes = []] = await this.#deps.runner.run({ sides: [side], texts, explain: false, coverage: {} })
    let next = 0
    const found: (Masked | undefined)[] = []
    for (const [at, { parts }] of all.entries()) {
      const [own, ...ofRuns] = outcomes.slice(next, next + 1 + runs[at]!.length).map(({ evaluation }) => evaluation)
      next += 1 + runs[at]!.length
      if (own === undefined || own === null || ofRuns.some((evaluation) => evaluation === null)) {
        found.push(undefined)
        continue
      }
      const masks = masksOf(own.detections, wanted)
      for (const [i, evaluation] of ofRuns.entries())
        masks.push(...spread(masksOf(evaluation!.detections, wanted), runs[at]![i]!))
      if (wanted.includes('names')) masks.push(...(await this.#names(parts)))
      const every = [own, ...ofRuns.flatMap((evaluation) => evaluation ?? [])].flatMap(({ detections }) => detections)
      found.push({
        masks,
        isOfMinors: every.some(({ category }) => category === 'sexual_minors'),
        hasMinors: every.some(({ rule }) => rule === minors)
      })
    }
    return found
  }

  async #names(parts: readonly ChatPart[]): Promise<Mask[]> {
    const numbered = parts.map((part, i) => ({ ...part, pointer: String(i) }))
    const input = { parts: numbered, joined: [], context: undefined, session: undefined, whose: name } as const
    // As an answer: it belongs to no caller, and costs no limit.
    return masksOf(await findNames(this.#deps.encoder(), { ...input, direction: 'answer' }), ['names'])
  }
}

function dryText(parts: readonly ChatPart[], joined: readonly (readonly number[])[]): DryText {
  const numbered = parts.map(({ role, text, isKey }, i) => ({
    role,
    text,
    pointer: String(i),
    ...(isKey && { isKey })
  }))
  return {
    text: '',
    chat: { parts: numbered, joined },
    role: 'user',
    direction: 'request',
    context: undefined,
    history: []
  }
}

/** @param detections whose pointers are the numbers of their parts */
function masksOf(detections: readonly Detection[], redact: readonly Redactable[]): Mask[] {
  return detections.flatMap((detection) => {
    const text = replacementOf(detection, redact)
    return text === undefined ? [] : { part: Number(detection.pointer), ...detection.span, text }
  })
}

/** Maps places in joined texts to places in each text. */
function spread(masks: readonly Mask[], run: readonly { i: number; text: string }[]): Mask[] {
  const found: Mask[] = []
  for (const { start, end, text } of masks) {
    let from = 0
    for (const { i: part, text: piece } of run) {
      const own = { start: Math.max(0, start - from), end: Math.min(piece.length, end - from) }
      if (own.start < own.end) found.push({ part, ...own, text })
      from += piece.length
    }
  }
  return found
}

/** The masks of one part, in order, none over another. */
export type Cover = readonly Cut[]

interface Cut extends Omit<Mask, 'part'> {
  /** By how much those before it have made the text longer. */
  shift: number
}

export function coverOf(masks: readonly Mask[], part: number): Cover {
  const own = masks.filter((mask) => mask.part === part).sort((a, b) => a.start - b.start || b.end - a.end)
  const cover: Cut[] = []
  for (const { start, end, text } of own) {
    const last = cover.at(-1)
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end)
    else if (start < end) cover.push({ start, end, text, shift: last === undefined ? 0 : shiftAfter(last) })
  }
  return cover
}

function shiftAfter({ start, end, text, shift }: Cut): number {
  return shift + text.length - (end - start)
}

export function covered(text: string, cover: Cover): string {
  let out = ''
  let at = 0
  for (const { start, end, text: mask } of cover) {
    out += text.slice(at, start) + mask
    at = end
  }
  return out + text.slice(at)
}

/** The new position of an offset once the text is masked. @param side of a mask, for an offset within one */
export function moved(offset: number, cover: Cover, side: 'start' | 'end'): number {
  let low = 0
  let high = cover.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (cover[middle]!.start < offset) low = middle + 1
    else high = middle
  }
  if (low === 0) return offset
  const before = cover[low - 1]!
  if (offset >= before.end) return offset + shiftAfter(before)
  return before.start + before.shift + (side === 'start' ? 0 : before.text.length)
}

/** Every text of a value, names of fields too, in a fixed order. */
export function textsIn(value: Json): string[] {
  const texts: string[] = []
  withTexts(value, (text) => {
    texts.push(text)
    return text
  })
  return texts
}

/** The value with other texts in the places of its own, in the order of `textsIn`. */
export function withTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => withTexts(one, change))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]) => [change(key), withTexts(one, change)] as const)
  return Object.fromEntries(entries) as JsonObject
}

const dataUrl =
  /data:[\w.+-]{1,40}\/[\w.+-]{1,80}(?:;[\w.=+-]{1,80}){0,8},(?:[A-Za-z0-9+/=_%-]|\r?\n(?=[A-Za-z0-9+/]{20}))*/gi
/** How pictures, documents, archives and sounds begin in base64. */
const encodedFile =
  /(?<![A-Za-z0-9+/])(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi0|UEsDB|T2dnUw|SUQz|GkXfo|H4sI|AAAA[A-Za-z0-9+/]{4}ZnR5c)[A-Za-z0-9+/=\r\n]{200,}/g

/** Removes encoded files from a text. */
export function withoutMedia(text: string): string {
  return text.replace(dataUrl, '<MEDIA>').replace(encodedFile, '<MEDIA>')
}
