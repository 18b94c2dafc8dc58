/** Letters that stand on their heads, in a row that is read from its end. */
import { Edits } from '../rewrite.js'

/** A letter of the Latin alphabet and what it looks like when turned, letter beneath letter. */
const upright = "abcdefghijklmnopqrstuvwxyzabcdefgijklmnrtwyABCDEFGHIJKLMNOPRTUVWY?!&.',"
const turned = 'ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎzɒqɔpəɟᵷıɾʞןɯuɹʇʍʎ∀ᗺƆᗡƎℲ⅁HIſꓘ⅂WNOԀᴚ⊥∩ΛMʎ¿¡⅋˙,‘'

const uprightOf = new Map<string, string>()
for (let i = 0; i < turned.length; i++) if (!uprightOf.has(turned[i]!)) uprightOf.set(turned[i]!, upright[i]!)

/** Letters that only turned text has. */
const sign = /[ɐɔǝɟƃɥɾʞɯɹʇʌʍʎᴉᵷ]/g
const anySign = new RegExp(sign.source)
const word = /\S+/g
const fewest = 3

/** @param reversed whether the stretches are also read from their ends */
export function upsideDownEdits(text: string, reversed: boolean): Edits {
  const edits = new Edits()
  if (!anySign.test(text)) return edits
  let from = -1
  let to = -1
  let signs = 0
  const close = () => {
    if (signs >= fewest) addStretch(text, from, to, reversed, edits)
    from = -1
    signs = 0
  }
  for (const { 0: letters, index } of text.matchAll(word)) {
    // Words of letters that look like others when turned (`no`, `do`) go with their neighbours.
    const count = letters.match(sign)?.length ?? 0
    const mayBeTurned = count > 0 || (letters.length < 8 && /^[qpludobsnxz.,'˙¿¡]+$/.test(letters))
    if (!mayBeTurned || (from >= 0 && text.slice(to, index).includes('\n'))) close()
    if (!mayBeTurned) continue
    if (from < 0) from = index
    to = index + letters.length
    signs += count
  }
  close()
  return edits
}

function addStretch(text: string, from: number, to: number, reversed: boolean, edits: Edits): void {
  const letters = [...text.slice(from, to)].map((letter) => uprightOf.get(letter) ?? letter)
  const read = (reversed ? letters.reverse() : letters).join('')
  if (read.length === to - from) edits.add(from, to, read, reversed ? 'reversed' : 'same')
  else edits.add(from, to, read)
}
