/** A JSON array whose elements come one by one, as `streamGenerateContent` sends it without `alt=sse`. */
import type { Readable } from 'node:stream'
import type { WireEvent } from '../../dialects/reply-stream.js'
import { maxEventLength, readText, unreadableStream } from './text-chunks.js'

const whitespace = /[ \t\r\n]/

/**
 * Cuts the array at the commas between its elements; what an element holds is the business of the strict reader.
 * @throws Fault `upstream_error` for anything that is no array, or ends before its bracket, and as `readText`
 */
export async function* readArray(body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
  const cutter = new ArrayCutter()
  for await (const text of readText(body)) {
    const events = cutter.feed(text).map((data) => ({ data }))
    if (events.length > 0) yield events
  }
  if (!cutter.isComplete) throw unreadableStream('the array has no end')
}

class ArrayCutter {
  #state: 'before' | 'inside' | 'after' = 'before'
  #depth = 0
  #inString = false
  #escaped = false
  #element: string[] = []
  #length = 0

  get isComplete(): boolean {
    return this.#state === 'after'
  }

  /** @returns the elements that this text completes */
  feed(text: string): string[] {
    const out: string[] = []
    let start = 0
    for (let i = 0; i < text.length; i++) {
      const character = text[i]!
      if (this.#inString) {
        this.#readString(character)
      } else if (this.#state !== 'inside') {
        this.#readOutside(character)
        start = i + 1
      } else if (character === '"') {
        this.#inString = true
      } else if (character === '{' || character === '[') {
        this.#depth++
      } else if (this.#depth > 0) {
        if (character === '}' || character === ']') this.#depth--
      } else if (character === ',' || character === ']') {
        this.#keep(text.slice(start, i))
        start = i + 1
        this.#finish(out, character === ']')
      }
    }
    this.#keep(text.slice(start))
    return out
  }

  #readString(character: string): void {
    if (this.#escaped) this.#escaped = false
    else if (character === '\\') this.#escaped = true
    else if (character === '"') this.#inString = false
  }

  #readOutside(character: string): void {
    if (whitespace.test(character)) return
    if (this.#state === 'after' || character !== '[') throw unreadableStream('not an array')
    this.#state = 'inside'
  }

  #keep(text: string): void {
    if (text === '') return
    this.#element.push(text)
    this.#length += text.length
    if (this.#length > maxEventLength) throw unreadableStream('an element is too long')
  }

  #finish(out: string[], isLast: boolean): void {
    const element = this.#element.join('').trim()
    this.#element = []
    this.#length = 0
    if (isLast) this.#state = 'after'
    // An empty array has no element; an empty place between commas is no JSON, as the strict reader will say.
    if (element !== '' || !isLast) out.push(element)
  }
}
