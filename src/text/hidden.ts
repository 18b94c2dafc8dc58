/**
 * The `hidden` reading: text in invisible characters. Tag characters (U+E0020 to U+E007E) spell ASCII; runs of
 * variation selectors spell bytes (VS1 is 0, VS256 is 255); two zero-width characters by turns spell bits. Models read
 * them; people see nothing.
 */
import { readsAsWords } from './readable.js'
import { Edits } from './rewrite.js'

/** A flag such as Scotland's is spelt in tags after a black flag: a country and a region. */
const BLACK_FLAG = 0x1f3f4
const CANCEL_TAG = 0xe007f

export interface HiddenRun {
  from: number
  to: number
  /** The spelt text; empty where it is not readable. */
  text: string
  kind: 'tags' | 'selectors' | 'bits'
}

/** Linear. A text without the characters costs one search. */
export function hiddenRuns(text: string): HiddenRun[] {
  const runs: HiddenRun[] = []
  if (!/[\ufe00-\ufe0f\udb40]/.test(text)) return bitRuns(text)
  let before = 0
  for (let i = 0; i < text.length; ) {
    const point = text.codePointAt(i)!
    if (isTag(point)) {
      const run = tagRun(text, i)
      if (!(before === BLACK_FLAG && run.text.length <= 6)) runs.push(run)
      i = run.to
    } else if (selectorByte(point) >= 0) {
      const run = selectorRun(text, i)
      // One selector chooses how an emoji or an ideograph is drawn, and some pairs occur.
      if (run.length > 2) runs.push({ from: i, to: run.to, text: bytesToText(run.bytes), kind: 'selectors' })
      i = run.to
    } else {
      i += point > 0xffff ? 2 : 1
    }
    before = point
  }
  const bits = bitRuns(text)
  return bits.length === 0 ? runs : [...runs, ...bits].sort((a, b) => a.from - b.from)
}

/** Four bytes and more in two invisible characters, eight bits each: the rarer meaning (which is 1) is tried second. */
function bitRuns(text: string): HiddenRun[] {
  const runs: HiddenRun[] = []
  if (!/[\u200b-\u200f\u2060-\u2064\ufeff]{32}/.test(text)) return runs
  for (const { 0: run, index } of text.matchAll(/[\u200b-\u200f\u2060-\u2064\ufeff]{32,}/g)) {
    const signs = [...new Set(run)].sort()
    if (signs.length !== 2) continue
    for (const one of [signs[1], signs[0]]) {
      const bytes = Array.from({ length: run.length >> 3 }, (_, k) =>
        [...run.slice(k * 8, k * 8 + 8)].reduce((byte, sign) => byte * 2 + (sign === one ? 1 : 0), 0)
      )
      const spelt = Buffer.from(bytes).toString('utf8')
      if (!readsAsWords(spelt)) continue
      runs.push({ from: index, to: index + run.length, text: spelt, kind: 'bits' })
      break
    }
  }
  return runs
}

/**
 * Every hidden text in place of what hid it.
 * @param apart set apart by spaces; else a word may begin in it and go on in letters that are shown
 */
export function hiddenEdits(text: string, apart: boolean): Edits {
  const edits = new Edits()
  const gap = apart ? ' ' : ''
  for (const run of hiddenRuns(text)) if (run.text !== '') edits.add(run.from, run.to, `${gap}${run.text}${gap}`)
  return edits
}

function isTag(point: number): boolean {
  return point >= 0xe0000 && point <= CANCEL_TAG
}

function tagRun(text: string, from: number): HiddenRun {
  const spelt: string[] = []
  let to = from
  for (; to < text.length; to += 2) {
    const point = text.codePointAt(to)!
    if (!isTag(point)) break
    if (point >= 0xe0020 && point < CANCEL_TAG) spelt.push(String.fromCharCode(point - 0xe0000))
  }
  return { from, to, text: spelt.join(''), kind: 'tags' }
}

function selectorByte(point: number): number {
  if (point >= 0xfe00 && point <= 0xfe0f) return point - 0xfe00
  if (point >= 0xe0100 && point <= 0xe01ef) return point - 0xe0100 + 16
  return -1
}

function selectorRun(text: string, from: number): { to: number; length: number; bytes: number[] } {
  const bytes: number[] = []
  let to = from
  while (to < text.length) {
    const point = text.codePointAt(to)!
    const byte = selectorByte(point)
    if (byte < 0) break
    bytes.push(byte)
    to += point > 0xffff ? 2 : 1
  }
  return { to, length: bytes.length, bytes }
}

function bytesToText(bytes: readonly number[]): string {
  const text = Buffer.from(bytes).toString('utf8')
  // Two selectors may instead stand for the bits of ASCII.
  return /[\p{L}\p{N}]/u.test(text) ? text : ''
}
