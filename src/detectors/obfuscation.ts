/**
 * Signs of hidden text: text in invisible characters, controls that change the reading order, invisible characters
 * inside words, words with letters from several scripts. The hidden text itself is judged in its readings
 * (`text/views.ts`). Many languages and emoji need some of these characters, so confidences differ.
 */
import { lookAlike } from '../text/confusables.js'
import { hiddenRuns } from '../text/hidden.js'
import { lastWord } from '../text/sentence.js'
import type { Detector, Finding } from './detector.js'
import { withoutOverlaps } from './span.js'

export const obfuscation: Detector = {
  id: 'obfuscation',
  kinds: ['hidden_text', 'bidi_control', 'invisible_run', 'mixed_script_word'],
  // Hiding characters form one run without white space.
  growsFrom: lastWord,
  find(text) {
    if (!/[^\x00-\x7f]/.test(text)) return []
    const found: Finding[] = []
    for (const { from, to, text: spelt } of hiddenRuns(text)) {
      found.push({ kind: 'hidden_text', confidence: spelt === '' ? 0.5 : 0.95, start: from, end: to })
    }
    findBidi(text, found)
    findInvisible(text, found)
    findMixedWords(text, found)
    return withoutOverlaps(found)
  }
}

const bidi = /[\u202a-\u202e\u2066-\u2069]+/g
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** Overrides (UAX 9, section 2) show text in another order than it is read in; embeddings and isolates serve mixed text. */
function findBidi(text: string, found: Finding[]): void {
  if (!/[\u202a-\u202e\u2066-\u2069]/.test(text)) return
  const isMixed = rightToLeft.test(text)
  for (const { 0: run, index } of text.matchAll(bidi)) {
    const confidence = /[\u202d\u202e]/.test(run) ? 0.7 : isMixed ? 0.15 : 0.45
    found.push({ kind: 'bidi_control', confidence, start: index, end: index + run.length })
  }
}

/** Default-ignorable characters except those of emoji sequences and hidden text, which are checked separately. */
const invisible =
  /(?:\u034f|\u17b4|\u17b5|\u180b|\u180c|\u180d|[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb])+/g
const alphabetic = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d]/u

function findInvisible(text: string, found: Finding[]): void {
  for (const { 0: run, index } of text.matchAll(invisible)) {
    const end = index + run.length
    // A byte order mark, and the controls that end a word in Persian or join emoji, stand elsewhere than between letters.
    const inWord = index > 0 && end < text.length && alphabetic.test(text[index - 1]!) && alphabetic.test(text[end]!)
    if (!inWord && run.length < 4) continue
    const isHyphen = run === '\u00ad'
    const confidence = run.length >= 4 ? 0.7 : isHyphen ? 0.2 : 0.5
    found.push({ kind: 'invisible_run', confidence, start: index, end })
  }
}

const foreign = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
const latin = /\p{Script=Latin}/u
const words = /\p{L}{3,64}/gu

/** Latin words with single letters of another script that look the same: no language writes so. */
function findMixedWords(text: string, found: Finding[]): void {
  if (!/[\u0370-\u058f\u13a0-\u13ff]/.test(text)) return
  for (const { 0: word, index } of text.matchAll(words)) {
    let latins = 0
    let alike = 0
    let others = 0
    let inside = false
    let previous = 0
    for (const character of word) {
      if (latin.test(character)) {
        latins++
        if (previous === 2) inside = true
        previous = 1
      } else if (foreign.test(character)) {
        if (lookAlike(character.codePointAt(0)!) === undefined) others++
        else alike++
        previous = 2
      }
    }
    if (latins < 2 || alike === 0 || others > 0) continue
    // `SMSка`: a foreign ending on a Latin name is ordinary; Latin after it is not.
    found.push({ kind: 'mixed_script_word', confidence: inside ? 0.6 : 0.3, start: index, end: index + word.length })
  }
}
