/**
 * Decodes tags to names: from the scores of each piece it finds the most probable valid sequence of tags. A name always
 * covers whole words, since a remaining part of a redacted name would reveal the person.
 */
import { type Name, type NameKind, nameKinds } from './index.js'
import type { Pieced } from './windows.js'

/** How far a name is taken on to the ends of its word, in UTF-16 units: longer words are no language's. */
const longestRest = 40
/** Placeholders of redaction, which are no names. */
const placeholder = /^[<[]?(?:PERSON|PLACE|ORGANISATION|PERSONAL_DATA|SECRETS)[>\]]?$/
/** Characters around a name that do not belong to it. */
const around = /[\s\u200b-\u200f\ufeff\p{Cc}]/u
/** Letters of scripts with spaces between words: there only whole words can belong to a name. */
const apart =
  /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Mn}\p{Mc}]/u

const outside = -1
/** Score of a tag that may not follow another. */
const never = Number.NEGATIVE_INFINITY

interface Tag {
  /** Index in `nameKinds`; `outside`. */
  kind: number
  isInside: boolean
}

export class Names {
  readonly #tags: readonly Tag[]

  /** @param tags the head's, in the order of its outputs */
  constructor(tags: readonly string[]) {
    this.#tags = tags.map((tag) => ({
      kind: nameKinds.indexOf(tag.slice(2) as NameKind),
      isInside: tag.startsWith('I-')
    }))
  }

  /** How many tags a piece has. */
  get count(): number {
    return this.#tags.length
  }

  /**
   * @param logits by piece, then by tag
   * @returns from left to right, none overlapping another. Linear in the pieces.
   */
  find(text: string, pieced: Pieced, logits: Float32Array): Name[] {
    const count = pieced.ids.length
    if (count === 0) return []
    const sure = this.#probabilities(logits, count)
    const path = this.#path(sure, count, (piece) => isWithinWord(text, pieced.starts[piece]!))
    const found: Name[] = []
    for (let from = 0; from < count; ) {
      const { kind } = this.#tags[path[from]!]!
      let to = from + 1
      if (kind === outside) {
        from = to
        continue
      }
      while (to < count && this.#tags[path[to]!]!.isInside) to++
      let confidence = 1
      for (let i = from; i < to; i++) confidence = Math.min(confidence, this.#ofKind(sure, i, kind))
      const place = placeOf(text, pieced, from, to)
      const before = found.at(-1)
      // Pieces of one character, or one word, are one place.
      if (before !== undefined && place.start < before.end) {
        before.end = Math.max(before.end, place.end)
      } else if (place.start < place.end && !placeholder.test(text.slice(place.start, place.end))) {
        found.push({ kind: nameKinds[kind]!, confidence, ...place })
      }
      from = to
    }
    return found
  }

  #probabilities(logits: Float32Array, count: number): Float32Array {
    const tags = this.count
    const sure = new Float32Array(count * tags)
    for (let at = 0; at < sure.length; at += tags) {
      let most = never
      for (let tag = 0; tag < tags; tag++) most = Math.max(most, logits[at + tag]!)
      let sum = 0
      for (let tag = 0; tag < tags; tag++) sum += sure[at + tag] = Math.exp(logits[at + tag]! - most)
      for (let tag = 0; tag < tags; tag++) sure[at + tag]! /= sum
    }
    return sure
  }

  /** The probability that a piece belongs to a name of the kind, as its beginning or not. */
  #ofKind(sure: Float32Array, piece: number, kind: number): number {
    let sum = 0
    for (let tag = 0; tag < this.count; tag++)
      if (this.#tags[tag]!.kind === kind) sum += sure[piece * this.count + tag]!
    return Math.min(1, sum)
  }

  /**
   * The most probable path (Viterbi) in which an inside tag follows only its own kind, and the rest of a word its
   * beginning.
   */
  #path(sure: Float32Array, count: number, isRest: (piece: number) => boolean): Uint8Array {
    const tags = this.#tags
    const from = new Uint8Array(count * tags.length)
    let best = tags.map(({ isInside }, tag) => (isInside ? never : Math.log(sure[tag]!)))
    for (let piece = 1; piece < count; piece++) {
      const at = piece * tags.length
      let any = 0
      for (let tag = 1; tag < best.length; tag++) if (best[tag]! > best[any]!) any = tag
      const rest = isRest(piece)
      best = tags.map(({ kind, isInside }, tag) => {
        if (rest && kind !== outside && !isInside) return never
        let before = any
        if (isInside || rest) {
          before = -1
          for (let other = 0; other < tags.length; other++) {
            if (tags[other]!.kind === kind && (before === -1 || best[other]! > best[before]!)) before = other
          }
        }
        from[at + tag] = before
        return best[before]! + Math.log(sure[at + tag]!)
      })
    }
    const path = new Uint8Array(count)
    let tag = 0
    for (let other = 1; other < best.length; other++) if (best[other]! > best[tag]!) tag = other
    for (let piece = count - 1; piece >= 0; piece--) {
      path[piece] = tag
      tag = from[piece * tags.length + tag]!
    }
    return path
  }
}

/** The place of pieces in the text, without surrounding space, extended to whole words. */
function placeOf(
  text: string,
  { starts, end: last }: Pieced,
  from: number,
  to: number
): { start: number; end: number } {
  let start = starts[from]!
  // Several pieces of what one character stands for begin at one place.
  let after = to
  while (after < starts.length && starts[after] === start) after++
  let end = after < starts.length ? starts[after]! : last
  // Half-width kana and their marks are one character, which the next piece may begin within.
  if (end + 1 < text.length && /[\uff9e\uff9f]/.test(text[end + 1]!)) end += 2
  while (end > start && around.test(text[end - 1]!)) end--
  while (start < end && around.test(text[start]!)) start++
  if (start === end) return { start, end }
  const least = Math.max(0, start - longestRest)
  const most = Math.min(text.length, end + longestRest)
  while (start > least && isWithinWord(text, start)) start--
  while (end < most && isWithinWord(text, end)) end++
  return { start, end }
}

/** Whether a place lies within a word. Marks belong to the letter before. */
function isWithinWord(text: string, place: number): boolean {
  return apart.test(text[place]!) && apart.test(text[place - 1]!)
}
