/** Braille in its first grade: the letters of the Unicode block, each for itself. */
import { Edits } from '../rewrite.js'

const letters = '⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠭⠽⠵⠺'
const latin = 'abcdefghijklmnopqrstuvxyzw'
const punctuation: ReadonlyMap<string, string> = new Map([
  ['⠀', ' '],
  ['⠂', ','],
  ['⠲', '.'],
  ['⠦', '?'],
  ['⠖', '!'],
  ['⠄', "'"],
  ['⠤', '-']
])

/** Runs of three cells and more. Signs that say how to read what follows (capital, number, italic) are dropped. */
export function brailleEdits(text: string): Edits {
  const edits = new Edits()
  for (const { 0: run, index } of text.matchAll(/[\u2801-\u28ff](?:[ \u2800]?[\u2800-\u28ff]){2,}/g)) {
    for (const [i, cell] of [...run].entries()) {
      const letter = letters.indexOf(cell)
      const read = letter >= 0 ? latin.charAt(letter) : cell === ' ' ? ' ' : (punctuation.get(cell) ?? '')
      if (read !== cell) edits.add(index + i, index + i + 1, read)
    }
  }
  return edits
}
