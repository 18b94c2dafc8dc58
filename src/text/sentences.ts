/** Cuts a text into its sentences, whatever language it is in. */

/** A stretch of a text that ends as a sentence does, or with its line. */
export interface Sentence {
  start: number
  end: number
  isQuestion: boolean
}

/** What has no end by then is taken in pieces, UTF-16 units. */
const longest = 600

export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = []
  const ends = /[.!?…]{1,4}["'”’»)\]]{0,2}(?=\s|$)|[。！？؟।॥]["'”’»」』）)\]]{0,2}|\n/gu
  let start = 0
  const add = (end: number, isQuestion: boolean) => {
    while (end - start > longest) {
      sentences.push({ start, end: start + longest, isQuestion })
      start += longest
    }
    if (text.slice(start, end).trim() !== '') sentences.push({ start, end, isQuestion })
    start = end
  }
  for (const { 0: mark, index } of text.matchAll(ends)) add(index + mark.length, /[?？؟]/.test(mark))
  add(text.length, false)
  return sentences
}
