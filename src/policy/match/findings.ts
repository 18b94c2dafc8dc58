/**
 * Collects the matches of one call, where the same rule at the same place in several readings is one finding. Then
 * decides which ones count (`when`), and converts them to detections.
 */

import type { ChatPart } from '../../base/chat.js'
import { round } from '../../base/decision.js'
import { classifier } from '../../detectors/classifier.js'
import { encoderId } from '../../detectors/encoder.js'
import type { Detection, Reader } from '../evaluation.js'
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
  /** For a match in joined texts: the parts that it spans, below 0 for earlier turns. Otherwise it lies in `part`. */
  over?: readonly number[]
  /** True where only the earlier turns of the session complete the match. */
  acrossTurns: boolean
  /** True where the encoder decides instead: the match does not count, but may be a condition of other rules. */
  isNominated: boolean
}

/** Most places of one rule in one part. A rule scores once; people look at the places. */
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

  /** Adds a match, or widens one that it overlaps; the most confident reading is named, else the first. */
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
      // A place beyond the limit may still raise the score by its confidence.
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

/** The matches that count, without nominations, which served as conditions only. */
export function countedOf(conditional: readonly CompiledRule[], matches: readonly Match[]): readonly Match[] {
  const held = conditional.length === 0 ? matches : holdConditions(conditional, matches)
  return held.some(({ isNominated }) => isNominated) ? held.filter(({ isNominated }) => !isNominated) : held
}

/** @param conditional the rules with a condition, in the order of the constitution: each looks only at those before it */
function holdConditions(conditional: readonly CompiledRule[], matches: readonly Match[]): Match[] {
  const parts = new Map<number, Match[]>()
  for (const match of matches) {
    const list = parts.get(match.part)
    if (list === undefined) parts.set(match.part, [match])
    else list.push(match)
  }
  return [...parts.values()].flatMap((list) => conditional.reduce(holdCondition, list))
}

function holdCondition(matches: Match[], rule: CompiledRule): Match[] {
  const { all, any, none } = rule.when!
  const matched = (index: number) => matches.some((match) => match.rule.index === index)
  const holds = all.every(matched) && (any.length === 0 || any.some(matched)) && !none.some(matched)
  if (rule.matchesByItself) return holds ? matches : matches.filter((match) => match.rule !== rule)
  if (!holds) return matches
  // A rule without clauses of its own is shown at the match of the first rule that it names.
  const shown = [...all, ...any].find(matched)
  const places = matches.filter((match) => match.rule.index === shown)
  const isNominated = (place: Match) => rule.nominate && place.isNominated
  return [
    ...matches,
    ...places.map((place) => ({ ...place, rule, confidence: rule.weight, isNominated: isNominated(place) }))
  ]
}

/** Detections beyond this many are left out, weakest first; places that `redact` replaces are never left out. */
export const maxDetections = 100

/**
 * @param shown the matches to show: see `strongest`
 * @param sharpened rules whose category only the session's risk made stricter: shown as `session_risk`
 * @param counted the matches that count; others are excepted, and marked so. Undefined: all count
 */
export function toDetections(
  shown: readonly Match[],
  parts: readonly ChatPart[],
  sharpened: ReadonlySet<CompiledRule>,
  counted?: readonly Match[]
): Detection[] {
  const kept = counted && new Set(counted)
  return [...shown]
    .sort((a, b) => a.part - b.part || a.start - b.start || a.rule.index - b.rule.index)
    .map((match) => {
      const detection = toDetection(match, parts[match.part]!.pointer, match.acrossTurns || sharpened.has(match.rule))
      return kept === undefined || kept.has(match) ? detection : { ...detection, suppressed: true }
    })
}

function readerOf({ detector }: CompiledRule): Reader {
  switch (detector?.id) {
    case undefined:
      return 'rule'
    case classifier.id:
      return 'screen'
    case encoderId:
      return 'encoder'
    default:
      return 'detector'
  }
}

function toDetection({ rule, confidence, start, end, layer }: Match, pointer: string, bySession: boolean): Detection {
  const detection: Detection = {
    type: bySession ? 'session_risk' : rule.type,
    category: rule.category,
    confidence: round(confidence),
    rule: rule.name,
    span: { start, end },
    layer,
    reader: readerOf(rule)
  }
  return pointer === '' ? detection : { ...detection, pointer }
}

/** The matches to show. The strongest of every rule comes first, so that every deciding rule keeps a detection. */
export function strongest(matches: readonly Match[]): readonly Match[] {
  if (matches.length <= maxDetections) return matches
  const sorted = [...matches].sort((a, b) => b.confidence - a.confidence)
  const seen = new Set<CompiledRule>()
  const first = sorted.filter(({ rule }) => !seen.has(rule) && seen.add(rule))
  const chosen = new Set(first)
  for (const match of sorted) {
    if (match.rule.keepsEveryPlace || chosen.size < maxDetections) chosen.add(match)
  }
  return [...chosen]
}
