/**
 * Packed messages between threads: a call's texts as one string with numbers, and a verdict's detections as numbers.
 * Copying tens of thousands of objects would block the event loop for longer than most of their judging takes, and
 * their pointers may be many times as long as the texts.
 */
import { type ChatPart, roles } from '../../base/chat.js'
import { type Detection, decisions } from '../evaluation.js'
import type { Learnt } from '../match/memory.js'
import type { JudgeInput, TextCounts, Verdict } from './verdict.js'

export interface PackedInput extends Omit<JudgeInput, 'parts' | 'joined'> {
  /** All texts, one after the other. */
  text: string
  /** UTF-16 units of each. */
  lengths: Uint32Array
  /** Index of each one's role, with `keyBit` for a key, and the bit of `fileBits` for a text read out of a file. */
  roles: Uint8Array
  /** Runs, one after the other: how many texts, then which. */
  joined: Uint32Array
}

const keyBit = 0x80
const fileBits = { writable: 0x10, read: 0x20, heard: 0x40 } as const
const readFrom = Object.entries(fileBits) as [keyof typeof fileBits, number][]
const roleBits = 0x0f

export function pack({ parts, joined, ...rest }: JudgeInput): PackedInput {
  const lengths = new Uint32Array(parts.length)
  const kinds = new Uint8Array(parts.length)
  let text = ''
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!
    lengths[i] = part.text.length
    kinds[i] =
      roles.indexOf(part.role) |
      (part.isKey === true ? keyBit : 0) |
      (part.file === undefined ? 0 : fileBits[part.file])
    text += part.text
  }
  const runs = new Uint32Array(joined.reduce((sum, run) => sum + 1 + run.length, 0))
  let at = 0
  for (const run of joined) {
    runs[at++] = run.length
    runs.set(run, at)
    at += run.length
  }
  return { ...rest, text, lengths, roles: kinds, joined: runs }
}

/** Pointers are the numbers of the texts: see `packVerdict`. */
export function unpack({ text, lengths, roles: kinds, joined: runs, ...rest }: PackedInput): JudgeInput {
  let from = 0
  const parts = Array.from(lengths, (length, i) => {
    const kind = kinds[i]!
    const part: ChatPart = { role: roles[kind & roleBits]!, text: text.slice(from, from + length), pointer: String(i) }
    from += length
    if (kind & keyBit) part.isKey = true
    const [file] = readFrom.find(([, bit]) => kind & bit) ?? []
    if (file !== undefined) part.file = file
    return part
  })
  const joined: number[][] = []
  for (let at = 0; at < runs.length; at += runs[at]! + 1)
    joined.push(Array.from(runs.subarray(at + 1, at + 1 + runs[at]!)))
  return { ...rest, parts, joined }
}

export interface PackedVerdict extends Omit<Verdict, 'detections'> {
  /** Detections that differ in more than their place; each holds an arbitrary place. */
  kinds: readonly Detection[]
  /** `placeWidth` numbers for each detection: its kind, its text, and the start and end of its span. */
  places: Uint32Array
  told?: Told
}

/** Further results of a thread beside its verdict. */
export interface Told {
  texts: TextCounts
  /** New memory of texts that may come again. */
  learnt: Learnt | undefined
}

const placeWidth = 4

/** @param verdict over an unpacked call */
export function packVerdict({ detections, ...rest }: Verdict): PackedVerdict {
  const kinds: Detection[] = []
  const known = new Map<string, number>()
  const places = new Uint32Array(detections.length * placeWidth)
  let at = 0
  for (const detection of detections) {
    const { span, pointer, ...said } = detection
    const key = JSON.stringify(said)
    let kind = known.get(key)
    if (kind === undefined) {
      kind = kinds.push(detection) - 1
      known.set(key, kind)
    }
    places[at++] = kind
    places[at++] = Number(pointer)
    places[at++] = span.start
    places[at++] = span.end
  }
  return { ...rest, kinds, places }
}

/** The verdict over a packed call, with the pointers of its texts. */
export function placed({ kinds, places, told: _, ...rest }: PackedVerdict, parts: JudgeInput['parts']): Verdict {
  const unplaced = kinds.map(({ pointer: _, ...kind }) => kind)
  const detections: Detection[] = []
  for (let at = 0; at < places.length; at += placeWidth) {
    const kind = places[at]!
    const span = { start: places[at + 2]!, end: places[at + 3]! }
    const pointer = parts[places[at + 1]!]?.pointer ?? ''
    // In the order of the verdict.
    detections.push(pointer === '' ? { ...unplaced[kind]!, span } : { ...kinds[kind]!, span, pointer })
  }
  return { ...rest, detections }
}

/** Checks a verdict from another thread: a malformed one decides nothing. */
export function isVerdict({ decision, riskScore, ownRisk, scores, ...lists }: Verdict): boolean {
  return (
    decisions.includes(decision) &&
    isShare(riskScore) &&
    isShare(ownRisk) &&
    typeof scores === 'object' &&
    scores !== null &&
    (lists.questions === undefined || Array.isArray(lists.questions)) &&
    [lists.matchedRules, lists.missingContext, lists.categories, lists.detections, lists.rules].every(Array.isArray)
  )
}

const isShare = (value: number) => value >= 0 && value <= 1
