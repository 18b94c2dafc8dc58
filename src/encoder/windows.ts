/** Chooses the windows to read: a request has a limit, and raised stretches come first. */
import { createHash } from 'node:crypto'
import type { Role } from '../base/chat.js'
import type { PassagesAround } from '../text/sentences.js'
import { type Speaker, speakers, toSpeaker } from './calibration.js'
import type { Stretch } from './index.js'
import type { Cut } from './pieces.js'

/** Pieces of a window; the encoder reads 128 at once, with its marks. */
export const windowPieces = 125
/** Pieces of guarding sentences that are read with a text: `GUARD` in `training/encoder/windows.py`. */
export const guardPieces = 64
/** The start of a window, who speaks, and its end. */
export const marks = 3
/** Most windows of one request, cached ones included, so that a verdict never depends on the cache. */
export const mostWindows = 64
/** Windows overlap by a quarter, so that text across the end of one is whole in another. */
const strideOf = (room: number) => Math.floor((room * 3) / 4)

/** A passage that fills more than this share of its window is not read separately. */
const mostOfWindow = 0.8

/** A text in pieces, from its beginning. */
export interface Pieced extends Cut {
  /** Units of the text that these are the pieces of. */
  end: number
}

/** Where the windows of a text begin, by piece. All but the last stay where they are while a text grows. */
export function windowStarts(pieces: number, room = windowPieces): number[] {
  const starts: number[] = []
  for (let start = 0; start + room < pieces; start += strideOf(room)) starts.push(start)
  if (pieces > 0) starts.push(Math.max(0, pieces - room))
  return starts
}

/**
 * Assigns pieces to windows where all are read: of overlapping windows, the one whose end is farther from the piece.
 * @param starts as of `windowStarts` @returns by window, the piece after the last that it tells of
 */
export function toldBy(starts: readonly number[], pieces: number): number[] {
  return starts.map((start, i) => {
    const next = starts[i + 1]
    return next === undefined ? pieces : Math.ceil((start + windowPieces + next) / 2)
  })
}

export interface Planned {
  /** Index of the question. */
  question: number
  /** Pieces. */
  from: number
  to: number
  /** A sentence without the rest of its paragraph. */
  isTorn: boolean
  /** A paragraph or sentence read by itself, not a window of the text. */
  isPassage: boolean
}

/** @param spans the raised stretches; undefined: all of the text. @param room the pieces of it that a window holds */
interface Asked {
  pieced: Pieced
  room?: number
  /** Whether others are read before it. */
  isLast?: boolean
  spans: readonly Stretch[] | undefined
  /** The raised stretches, extended to whole paragraphs and sentences; called for texts longer than a window. */
  passages?: (() => PassagesAround) | undefined
  /** Whether a paragraph alone may mislead, as a sentence without its paragraph may. */
  tearsParagraphs?: boolean
}

/**
 * The windows to read: first raised paragraphs and sentences alone, then their windows, the neighbouring ones, and
 * those of texts to be read completely; texts take turns. A harmful request among harmless text is diluted in its
 * window, but not when it is read alone.
 */
export function plan(asked: readonly Asked[]): Planned[] {
  const ranked: { tier: number; turn: number; planned: Planned }[] = []
  for (const [
    question,
    { pieced, spans, passages, room = windowPieces, isLast = false, tearsParagraphs = false }
  ] of asked.entries()) {
    const count = pieced.ids.length
    const starts = windowStarts(count, room)
    const seen = new Set<string>()
    const turns = [0, 0, 0, 0]
    const add = (own: number, from: number, to: number, isPassage = false, isTorn = false) => {
      const key = `${from} ${to}`
      if (seen.has(key)) return
      seen.add(key)
      const tier = isLast ? 3 : own
      ranked.push({ tier, turn: turns[tier]!++, planned: { question, from, to, isTorn, isPassage } })
    }
    const addWindow = (tier: number, window: number) => {
      const from = starts[window]
      if (from !== undefined) add(tier, from, Math.min(count, from + room))
    }
    if (spans === undefined) {
      // The opening and the end matter most; texts that are too long are read from the beginning.
      addWindow(3, 0)
      addWindow(3, starts.length - 1)
      for (let i = 1; i < starts.length && i < mostWindows; i++) addWindow(3, i)
      continue
    }
    const addPassages = (stretches: readonly Stretch[] = [], isTorn: boolean) => {
      for (const stretch of stretches) {
        const [from, to] = piecesOf(pieced, stretch)
        if (to - from <= room * mostOfWindow) add(0, from, to, true, isTorn)
      }
    }
    // A text that fits a window is read whole only.
    const around = count > room ? passages?.() : undefined
    addPassages(around?.paragraphs, tearsParagraphs)
    addPassages(around?.sentences, true)
    const raised = spans.map((span) => windowsAt(starts, piecesOf(pieced, span), room))
    for (const [first, last] of raised) for (let i = first; i <= last && i < first + mostWindows; i++) addWindow(1, i)
    for (const [first, last] of raised) {
      addWindow(2, first - 1)
      addWindow(2, last + 1)
    }
  }
  return ranked
    .sort((a, b) => a.tier - b.tier || a.turn - b.turn || a.planned.question - b.planned.question)
    .slice(0, mostWindows)
    .map(({ planned }) => planned)
}

/** The stretches of a text that no read window covers. */
export function unreadOf({ pieced, spans }: Asked, read: readonly Planned[]): Stretch[] {
  const windows = [...read].sort((a, b) => a.from - b.from)
  const whole = { start: 0, end: pieced.end }
  const unread: Stretch[] = []
  for (const span of spans ?? [whole]) {
    const [first, last] = piecesOf(pieced, span)
    const gap = (from: number, to: number) => {
      if (from >= to) return
      const place = stretchOf(pieced, from, to)
      unread.push({ start: Math.max(span.start, place.start), end: Math.min(span.end, place.end) })
    }
    let at = first
    for (const { from, to } of windows) {
      if (to <= at) continue
      if (from >= last) break
      gap(at, Math.min(from, last))
      at = Math.max(at, to)
    }
    gap(at, last)
  }
  return unread
}

/** The stretch of the text under a run of pieces. */
export function stretchOf({ ids, starts, end }: Pieced, from: number, to: number): Stretch {
  return { start: starts[from]!, end: to < ids.length ? starts[to]! : end }
}

/** The pieces that a stretch of the text touches. */
export function piecesOf({ ids, starts }: Pieced, { start, end }: Stretch): [number, number] {
  if (ids.length === 0) return [0, 0]
  const from = Math.max(0, firstFrom(starts, start + 1) - 1)
  return [from, Math.max(from + 1, firstFrom(starts, end))]
}

/** The windows, first and last, that hold any of those pieces. */
function windowsAt(starts: readonly number[], [from, to]: readonly [number, number], room: number): [number, number] {
  let first = Math.max(0, Math.floor((from - room) / strideOf(room)))
  while (first < starts.length - 1 && starts[first]! + room <= from) first++
  let last = first
  while (last < starts.length - 1 && starts[last + 1]! < to) last++
  return [first, last]
}

/** @returns the index of the first place that is `place` or later */
export function firstFrom(places: Uint32Array, place: number): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (places[middle]! < place) low = middle + 1
    else high = middle
  }
  return low
}

/** Marks around a window, by number: `training/encoder/vocabulary.py`. */
const startMark = 0n
const endMark = 2n
const firstSpeaker = 4

/** A window as a thread reads it, and its digest. */
export interface Window {
  ids: BigInt64Array<ArrayBuffer>
  key: string
}

export function windowOf(pieces: Int32Array, role: Role, guard?: Int32Array): Window {
  const ids = framed(pieces, toSpeaker(role), guard)
  return { ids, key: createHash('sha256').update(ids).digest('base64') }
}

/** A guard follows the text, after the mark of its speaker. */
function framed(ids: Int32Array, speaker: Speaker, guard: Int32Array = new Int32Array(0)): BigInt64Array<ArrayBuffer> {
  const beside = guard.length === 0 ? 0 : guard.length + 1
  const whole = new BigInt64Array(ids.length + beside + marks)
  whole[0] = startMark
  whole[1] = markOf(speaker)
  let at = 2
  for (const id of ids) whole[at++] = BigInt(id)
  if (beside > 0) whole[at++] = markOf('system')
  for (const id of guard) whole[at++] = BigInt(id)
  whole[at] = endMark
  return whole
}

const markOf = (speaker: Speaker) => BigInt(firstSpeaker + speakers.indexOf(speaker))
