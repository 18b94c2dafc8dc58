/** Matches as the interface shows them. */
import type { ChatPart } from '../../base/chat.js'
import { round } from '../decide/score.js'
import type { Detection } from '../evaluation.js'
import type { CompiledRule } from './compile.js'
import type { Match } from './findings.js'

/** Detections beyond this many are left out, weakest first; places that `redact` replaces are never left out. */
export const maxDetections = 100

/**
 * @param sharpened rules whose category only the session's risk made stricter: shown as `session_risk`
 * @param counted the matches that count; others are excepted, and shown so
 */
export function toDetections(
  matches: readonly Match[],
  parts: readonly ChatPart[],
  sharpened: ReadonlySet<CompiledRule>,
  counted: readonly Match[] = matches
): Detection[] {
  const kept = counted === matches ? undefined : new Set(counted)
  return strongest(matches)
    .sort((a, b) => a.part - b.part || a.start - b.start || a.rule.index - b.rule.index)
    .map((match) => {
      const detection = toDetection(match, parts[match.part]!.pointer, match.acrossTurns || sharpened.has(match.rule))
      return kept === undefined || kept.has(match) ? detection : { ...detection, suppressed: true }
    })
}

function toDetection({ rule, confidence, start, end, layer }: Match, pointer: string, bySession: boolean): Detection {
  const detection: Detection = {
    type: bySession ? 'session_risk' : rule.type,
    category: rule.category,
    confidence: round(confidence),
    rule: rule.name,
    span: { start, end },
    layer
  }
  return pointer === '' ? detection : { ...detection, pointer }
}

/** The strongest match of every rule comes first, so that no rule that bears on the decision loses its last detection. */
function strongest(matches: readonly Match[]): Match[] {
  if (matches.length <= maxDetections) return [...matches]
  const sorted = [...matches].sort((a, b) => b.confidence - a.confidence)
  const seen = new Set<CompiledRule>()
  const first = sorted.filter(({ rule }) => !seen.has(rule) && seen.add(rule))
  const chosen = new Set(first)
  for (const match of sorted) {
    if (match.rule.keepsEveryPlace || chosen.size < maxDetections) chosen.add(match)
  }
  return [...chosen]
}
