/** International Morse code (ITU-R M.1677-1), with the signs that stand for dots and dashes in Unicode text. */
import { Edits } from '../rewrite.js'

const table = `a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-. s... t- u..- v...- w.--
  x-..- y-.-- z--.. 0----- 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... 8---.. 9----. ,--..-- ?..--.. '.----. !-.-.--
  /-..-. (-.--. )-.--.- :---... ;-.-.-. =-...- +.-.-. --....- ".-..-. @.--.-.`
const letters = new Map(table.split(/\s+/).map((entry) => [entry.slice(1), entry.charAt(0)]))
letters.set('.-.-.-', '.')

const dots = '.•·∙⋅●・‧˙․'
const dashes = '-–—−―‒‐‑_ー﹣－▬━─'
const longest = 6
/** Between two words: `/`, ` | `, spaces, a new line. */
const longestGap = 5
const fewest = 4

/** @param starts where rows of signs begin */
export function morseEdits(text: string, starts: readonly number[]): Edits {
  const edits = new Edits()
  let done = 0
  for (const start of starts) {
    for (let i = Math.max(start, done); i < text.length && !isWord(text.charCodeAt(i)); ) {
      i = signOf(text, i) === '' ? i + 1 : readRow(text, i, edits)
      done = i
    }
  }
  return edits
}

/** @returns where the row that begins at `start` ends, a letter further at least */
function readRow(text: string, start: number, edits: Edits): number {
  const from: number[] = []
  const to: number[] = []
  const spelt: string[] = []
  let i = start
  let end = start
  while (i < text.length) {
    let code = ''
    const first = i
    for (let sign = signOf(text, i); sign !== '' && code.length <= longest; sign = signOf(text, i)) {
      code += sign
      i++
    }
    const letter = letters.get(code)
    // A full stop or a hyphen beside a word belongs to the word.
    const isPunctuation = first > 0 && isWord(text.charCodeAt(first - 1))
    if (letter === undefined && !isPunctuation) {
      i = Math.max(i, first + 1)
      break
    }
    if (letter !== undefined && !isPunctuation && !isWord(text.charCodeAt(i))) {
      from.push(first)
      to.push(i)
      spelt.push(letter)
    }
    end = i
    while (i < text.length && i - end < longestGap && isGap(text.charCodeAt(i))) i++
    if (i === end || signOf(text, i) === '') break
  }
  addRow(text, from, to, spelt, edits)
  return i
}

/** The commonest gap is the one between letters; any other is one between words. */
function addRow(text: string, from: number[], to: number[], spelt: string[], edits: Edits): void {
  if (spelt.length < fewest || new Set(spelt).size < 3) return
  const gaps = new Map<string, number>()
  for (let k = 1; k < from.length; k++) {
    const gap = text.slice(to[k - 1]!, from[k]!)
    gaps.set(gap, (gaps.get(gap) ?? 0) + 1)
  }
  let usual = ' '
  for (const [gap, count] of gaps) if (count > (gaps.get(usual) ?? 0)) usual = gap
  for (let k = 0; k < from.length; k++) {
    if (k > 0) edits.add(to[k - 1]!, from[k]!, text.slice(to[k - 1]!, from[k]!) === usual ? '' : ' ')
    edits.add(from[k]!, to[k]!, spelt[k]!)
  }
}

function signOf(text: string, i: number): string {
  const code = text.charCodeAt(i)
  if (code === 46) return '.'
  if (code === 45 || code === 95) return '-'
  if (!(code > 127)) return ''
  const sign = text.charAt(i)
  return dots.includes(sign) ? '.' : dashes.includes(sign) ? '-' : ''
}

function isGap(code: number): boolean {
  return (
    code === 32 || code === 47 || code === 124 || code === 92 || code === 10 || code === 13 || code === 9 || code === 44
  )
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}
