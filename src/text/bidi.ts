/**
 * Reverses text under a right-to-left override (U+202E, UAX 9 section 2.2), which is shown from its end: people read
 * and copy another text than the written one.
 */
import { Edits } from './rewrite.js'

const overridden = /\u202e([^\u202c\n]*)\u202c?/g

export function bidiEdits(text: string): Edits {
  const edits = new Edits()
  if (!text.includes('\u202e')) return edits
  for (const { 0: whole, 1: inner, index } of text.matchAll(overridden)) {
    const shown = [...inner!].reverse().join('')
    edits.add(index, index + 1, '')
    edits.add(index + 1, index + 1 + inner!.length, shown, 'reversed')
    if (whole.length > inner!.length + 1) edits.add(index + 1 + inner!.length, index + whole.length, '')
  }
  return edits
}
