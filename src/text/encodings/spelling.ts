/** Letters spelt by words: the radiotelephony alphabet of ICAO and NATO (`kilo india lima lima`). */
import type { Stretches } from '../places.js'
import { Edits } from '../rewrite.js'

const names =
  `alpha alfa bravo charlie delta echo foxtrot golf hotel india juliett juliet kilo lima mike november oscar papa quebec
  romeo sierra tango uniform victor whiskey whisky xray yankee zulu`.split(/\s+/)

/** By first and last letter the lengths there are: most words are told apart without a look at the rest. */
const shapes = new Uint16Array(1 << 10)
for (const name of names) shapes[shapeOf(name.charCodeAt(0), name.charCodeAt(name.length - 1))]! |= 1 << name.length
const letterOf = new Map(names.map((name) => [name, name.charAt(0)]))

/** Fewer in a row are names. */
const fewest = 3
/** Between two words stands ` / ` or less. */
const longestGap = 4
/** Looked at before a stretch, in units. */
const before = 48

/** @param strange where they may stand */
export function spellingEdits(text: string, strange: Stretches): Edits {
  const edits = new Edits()
  let from: number[] = []
  let to: number[] = []
  let done = 0
  for (let s = 0; s < strange.length; s += 2) {
    const end = Math.min(strange[s + 1]!, text.length)
    // A row may begin before and go on beyond the stretch that shows it.
    for (let i = Math.max(strange[s]! - before, done); i < end || to.length > 0; i++) {
      if (i >= text.length) break
      if (!isLetter(text.charCodeAt(i))) continue
      const first = i
      while (i < text.length && isLetter(text.charCodeAt(i))) i++
      done = i
      // `x-ray`
      if (i - first === 1 && (text.charCodeAt(first) | 32) === 120 && /^[- ]ray\b/i.test(text.slice(i, i + 5))) i += 4
      const isPart = isName(text, first, i)
      if (to.length > 0 && (!isPart || first - to[to.length - 1]! > longestGap)) {
        if (to.length >= fewest) addRow(text, from, to, edits)
        from = []
        to = []
      }
      if (!isPart) continue
      from.push(first)
      to.push(i)
    }
  }
  if (to.length >= fewest) addRow(text, from, to, edits)
  return edits
}

/** The commonest gap is the one between letters; any other is one between words. */
function addRow(text: string, from: readonly number[], to: readonly number[], edits: Edits): void {
  const gaps = new Map<string, number>()
  for (let k = 1; k < from.length; k++) {
    const gap = text.slice(to[k - 1]!, from[k]!)
    gaps.set(gap, (gaps.get(gap) ?? 0) + 1)
  }
  let usual = ''
  for (const [gap, count] of gaps) if (count > (gaps.get(usual) ?? 0)) usual = gap
  for (let k = 0; k < from.length; k++) {
    if (k > 0) edits.add(to[k - 1]!, from[k]!, text.slice(to[k - 1]!, from[k]!) === usual ? '' : ' ')
    edits.add(from[k]!, to[k]!, text.charAt(from[k]!).toLowerCase())
  }
}

function isName(text: string, from: number, to: number): boolean {
  const size = to - from
  if (size > 8 || ((shapes[shapeOf(text.charCodeAt(from), text.charCodeAt(to - 1))]! >> size) & 1) === 0) {
    return size === 5 && /^x[- ]ray$/i.test(text.slice(from, to))
  }
  return letterOf.has(text.slice(from, to).toLowerCase())
}

function shapeOf(first: number, last: number): number {
  return ((first & 31) << 5) | (last & 31)
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122 && code < 128
}
