/** Reads text, code, CSV and JSON in the declared charset, and JSON again with its escapes decoded. */
import { type FileInput, type Texts, Unread, wholeText } from '../file.js'

/**
 * @returns the text, a mark at its start included
 * @throws Unread `bad_encoding`
 */
export function decode({ bytes, charset }: Pick<FileInput, 'bytes' | 'charset'>): { text: string; isUtf8: boolean } {
  const mark = markOf(bytes)
  const label = mark ?? charset ?? 'utf-8'
  let text: string
  let encoding: string
  try {
    const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true })
    encoding = decoder.encoding
    // Mark and charset contradict: readers that trust one or the other would see two texts.
    if (mark !== undefined && charset !== undefined && new TextDecoder(charset).encoding !== encoding) {
      if (!/^utf-?16$/i.test(charset)) throw new Unread('bad_encoding')
    }
    text = decoder.decode(bytes)
  } catch {
    throw new Unread('bad_encoding')
  }
  // Control characters that text never has: the bytes are another format, or meant for a terminal.
  if (/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text)) throw new Unread('bad_encoding')
  return { text, isUtf8: encoding === 'utf-8' }
}

function markOf(bytes: Buffer): string | undefined {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

export function readText(input: FileInput, out: Texts): void {
  const { text, isUtf8 } = decode(input)
  refuseMedia(text)
  out.add(text, isUtf8 ? wholeText : 'part=content')
  if (!isUtf8) addUnnamed(input.bytes, out)
}

/** Adds the text that a reader without the charset sees. In UTF-16 western letters have a zero beside them. */
export function addUnnamed(bytes: Buffer, out: Texts): void {
  let zeros = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) zeros++
  if (zeros * 4 < bytes.length) out.add(bytes.toString(), 'part=bytes', 'source')
}

/** Adds the raw text, and where escapes hide words, also its decoded keys and texts. */
export function readJson(input: FileInput, out: Texts): void {
  readText(input, out)
  const { text } = decode(input)
  if (!text.includes('\\')) return
  // One value, or one in each line.
  const values = parsed(text) ?? text.split('\n').map((line) => parsed(line))
  const found: string[] = []
  for (const value of values) collect(value, found)
  out.add(found.join('\n'), 'part=values')
}

function parsed(text: string): unknown[] | undefined {
  try {
    return [JSON.parse(text)]
  } catch {
    return undefined
  }
}

/** Uses a list instead of recursion: a value may be nested deeper than the call stack. */
function collect(value: unknown, found: string[]): void {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') found.push(next)
    else if (Array.isArray(next)) for (let i = next.length - 1; i >= 0; i--) open.push(next[i])
    else if (typeof next === 'object' && next !== null) {
      const entries = Object.entries(next)
      for (let i = entries.length - 1; i >= 0; i--) open.push(entries[i]![1], entries[i]![0])
    }
  }
}

/** Refuses a text that contains an encoded picture or file. @throws Unread */
export function refuseMedia(text: string): void {
  if (/data:\s*(?:image|audio|video|font|application)\/[\w.+-]{1,100}[^,"')\s]{0,200},/i.test(text)) {
    throw new Unread('picture_unread')
  }
}
