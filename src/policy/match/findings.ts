/** The matches of one call: the same rule at the same place in several readings is one finding. */
import type { CompiledRule } from './compile.js'

export interface Match {
  rule: CompiledRule
  /** Index into the parts. */
  part: number
  /** UTF-16 offsets into the part's text. */
  start: number
  end: number
  layer: string
  confidence: number
  /** Of texts that were looked at joined: the parts that it reaches over, -1 for earlier turns. Else it lies in `part`. */
  over?: readonly number[]
  /** True where only the earlier turns of the session complete the match. */
  acrossTurns: boolean
  /** True where the encoder decides instead: others may be conditional on it, and by itself it counts nothing. */
  isNominated: boolean
}

/** Places kept of one rule in one part. A rule counts once for the score; the places are for people to look at. */
const maxPlaces = 32

export class Findings {
  /** By rule and part, sorted by start, none overlapping another. */
  readonly #places = new Map<number, Match[]>()
  readonly #parts: number
  /** How often `add` was called. */
  added = 0

  /** @param parts number of parts of the call */
  constructor(parts: number) {
    this.#parts = parts
  }

  get isEmpty(): boolean {
    return this.#places.size === 0
  }

  /** Whether the rule counts in a part. */
  has(rule: CompiledRule, part: number): boolean {
    const places = this.#places.get(rule.index * this.#parts + part)
    return places?.some(({ isNominated }) => !isNominated) ?? false
  }

  /** Adds a match, or widens the one that it overlaps; of several readings the most confident, else the first, is named. */
  add(match: Match): void {
    this.added++
    const key = match.rule.index * this.#parts + match.part
    const places = this.#places.get(key)
    if (places === undefined) {
      this.#places.set(key, [match])
      return
    }
    let at = 0
    let high = places.length
    while (at < high) {
      const middle = (at + high) >> 1
      if (places[middle]!.end > match.start) high = middle
      else at = middle + 1
    }
    let after = at
    let merged = match
    while (after < places.length && places[after]!.start < match.end) {
      const other = places[after++]!
      const over = [...(merged.over ?? []), ...(other.over ?? [])]
      const strong = merged.confidence > other.confidence ? merged : other
      merged = {
        ...strong,
        start: Math.min(merged.start, other.start),
        end: Math.max(merged.end, other.end),
        acrossTurns: merged.acrossTurns && other.acrossTurns,
        isNominated: merged.isNominated && other.isNominated
      }
      if (over.length > 0) merged.over = [...new Set(over)]
    }
    if (after === at && places.length >= maxPlaces && !match.rule.keepsEveryPlace) {
      // One more place, of a confidence that may still raise the score.
      const first = places[0]!
      if (match.confidence > first.confidence || (first.isNominated && !match.isNominated)) {
        const confidence = Math.max(first.confidence, match.confidence)
        places[0] = { ...first, confidence, isNominated: first.isNominated && match.isNominated }
      }
      return
    }
    places.splice(at, after - at, merged)
  }

  all(): Match[] {
    return [...this.#places.values()].flat()
  }
}
