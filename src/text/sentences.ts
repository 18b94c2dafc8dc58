/** Cuts a text into its sentences, whatever language it is in. */

/** UTF-16 units. */
interface Stretch {
  start: number
  end: number
}

/** A stretch of a text that ends as a sentence does, or with its line. */
export interface Sentence extends Stretch {
  isQuestion: boolean
}

/** UTF-16 units after which a sentence without an end is cut. */
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

/** The passages around a stretch of a text. */
export interface PassagesAround {
  paragraphs: Stretch[]
  /** The touched sentences, where a paragraph has several. */
  sentences: Stretch[]
}

/** An empty line, or the end of a line that ends a sentence. */
const paragraphEnd = /\n[ \t\r]*\n|[.!?…。！？।۔؟]["'”’»)\]]{0,2}[ \t\r]*\n/gu

/** The paragraphs and the sentences that stretches touch, each once. Linear in the stretches. */
export function passagesAround(text: string, stretches: readonly Stretch[]): PassagesAround {
  const paragraphs = new Map<string, Stretch>()
  const sentences = new Map<string, Stretch>()
  const add = (to: Map<string, Stretch>, start: number, end: number) => to.set(`${start} ${end}`, { start, end })
  for (const { start, end } of stretches) {
    const from = Math.max(0, start - longest)
    const around = text.slice(from, end + longest)
    let [first, last] = [from, from + around.length]
    for (const { 0: mark, index } of around.matchAll(paragraphEnd)) {
      const after = from + index + mark.length
      if (after <= start) first = after
      else if (after >= end) {
        last = after
        break
      }
    }
    add(paragraphs, first, last)
    const touched = sentencesOf(around).filter((each) => from + each.start < end && from + each.end > start)
    if (touched.length > 0) add(sentences, from + touched[0]!.start, from + touched.at(-1)!.end)
  }
  return { paragraphs: [...paragraphs.values()], sentences: [...sentences.values()] }
}
