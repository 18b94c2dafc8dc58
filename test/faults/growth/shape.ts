/** What is sent and answered, in families: one shape each, at any size. */

/** One question and, where the dialect has one, what the upstream answers. */
export interface Traffic {
  path: string
  body?: Json
  /** In the place of a body: a form. */
  form?: { type: string; bytes: Buffer }
  headers?: Record<string, string>
  method?: 'GET' | 'POST'
  answer?: Answer
  /** Of a session: what each side sends, and what the server says first. The last of them comes back or arrives as it ends. */
  session?: { greeting?: string; client: string[]; server: string[] }
}

export interface Answer {
  type: string
  /** What is written together. */
  writes: readonly (string | Buffer)[]
}

export interface Shape {
  name: string
  /** About so many bytes of it. Texts of one seed are unlike those of another, so that nothing is remembered of them. */
  of(bytes: number, seed: number): Traffic
  /** UTF-16 units or bytes beyond which the interface takes none of it. Default: the limit of a body. */
  most?: number
  /** It was once found to cost more than its length: the short form has it too. */
  found?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: shapes of many APIs
export type Json = any

/** How the little texts of a family are made: the `i`th of a seed. */
export type Style = (i: number, seed: number) => string

const nouns =
  'harbour museum garden kettle lantern orchard pebble saddle thimble willow basket candle drawer feather glacier hammock island jacket ladder meadow napkin olive pillow quarry ribbon spoon table umbrella valley window yarn zebra'.split(
    ' '
  )
const verbs = 'opens rests waits shines folds grows leans turns'.split(' ')

/** A number that says nothing, the same for the same two. */
export function mixed(i: number, seed: number): number {
  let x = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(seed + 7, 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d)
  return (x ^ (x >>> 13)) >>> 0
}

export const word: Style = (i, seed) => nouns[mixed(i, seed) % nouns.length]!
/** Words in a row that are no two times the same, for some thirty thousand of them. */
export function name(i: number, seed: number): string {
  return (
    [seed >>> 5, seed, i >>> 10, i >>> 5, i].map((each) => nouns[each & 31]!).join('_') +
    (i < 32_768 ? '' : `_${i >>> 15}`)
  )
}
export const words: Style = (i, seed) => {
  const x = mixed(i, seed)
  return `the ${nouns[x % 32]} ${verbs[(x >>> 5) % 8]} by the ${nouns[(x >>> 8) % 32]}`
}
export const mail: Style = (i, seed) => `${name(i, seed).replaceAll('_', '.')}@example.org`
/** As many findings as fit, each unlike the others. */
export const brief: Style = (i, seed) => `${((seed % 1296) * 36 ** 4 + i).toString(36)}@b.co`
export const escaped: Style = (i, seed) => `the ${word(i, seed)} "${name(i, seed)}"`

export const styles: Readonly<Record<string, Style>> = { words, 'e-mail addresses': mail }

/** As many as fill so many bytes, with `around` bytes about each. */
export function many<T>(bytes: number, make: (i: number) => T): T[] {
  const out: T[] = []
  for (let size = 0; size < bytes; ) {
    const each = make(out.length)
    out.push(each)
    size += (typeof each === 'string' ? each.length + 2 : JSON.stringify(each).length) + 1
  }
  return out
}

/** One text of so many units. */
export function long(bytes: number, seed: number, style: Style = words, between = '. '): string {
  const pieces: string[] = []
  for (let size = 0; size < bytes; ) {
    const each = style(pieces.length, seed) + between
    pieces.push(each)
    size += each.length
  }
  return pieces.join('').slice(0, bytes)
}

export const object = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> => Object.fromEntries(entries)

/** Keys of one object, each made by a style. */
export function keyed<T>(bytes: number, seed: number, style: Style, value: T): Record<string, T> {
  const around = JSON.stringify(value).length
  const out: Record<string, T> = {}
  for (let size = 0, i = 0; size < bytes; i++) {
    const key = style(i, seed)
    size += key.length + around + 4
    out[key] = value
  }
  return out
}
