/** Punycode (RFC 3492) in the labels of host names and, as a disguise, of words: `xn--kll-0pa`. */
import { domainToUnicode } from 'node:url'
import { Edits } from '../rewrite.js'

export const punycodePrefix = 'xn--'

/** A label of a host name has at most 63 characters. */
const label = /\bxn--[a-z0-9-]{1,59}/gi

export function punycodeEdits(text: string): Edits {
  const edits = new Edits()
  for (const { 0: word, index } of text.matchAll(label)) {
    const decoded = domainToUnicode(word)
    if (decoded !== '' && decoded !== word.toLowerCase()) edits.add(index, index + word.length, decoded)
  }
  return edits
}
