/** An explanation as a page for people: what `evaluate --explain` shows on a terminal. */
import type { Explanation } from '../policy/explain/explain.js'
import type { TracedMatch } from '../policy/explain/trace.js'

export function page({ summary, views, encoder, categories, rules, thresholds, policy }: Explanation): string {
  const lines = [...summary, '', `policy      ${policy}, bands from ${thresholds.middle} and from ${thresholds.high}`]
  for (const { category, score, decision, to_milder, to_stricter } of categories) {
    const next = [
      to_milder === null ? '' : `${to_milder.decision} below by ${to_milder.by}`,
      to_stricter === null ? '' : `${to_stricter.decision} above by ${to_stricter.by}`
    ].filter((text) => text !== '')
    lines.push(`category    ${category} ${score}: ${decision}${next.length === 0 ? '' : ` (${next.join(', ')})`}`)
  }
  for (const { rule, weight, score, context, context_keys } of rules) {
    const keys = context_keys.length === 0 ? '' : ` (asks for ${context_keys.join(', ')})`
    lines.push(`rule        ${rule} counts ${score} of ${weight}; context: ${context}${keys}`)
  }
  for (const { layer, length, text, matches } of views) {
    lines.push(`reading     ${layer}, ${length} characters${text === undefined ? '' : `: ${JSON.stringify(text)}`}`)
    for (const match of matches) lines.push(`  match     ${placeOf(match)}`)
  }
  for (const { layer, role, raised_by, findings, unread } of encoder?.read ?? []) {
    const why = raised_by.length === 0 ? 'unasked' : raised_by.join(', ')
    lines.push(`encoder     ${layer}, as ${role}, raised by: ${why}`)
    for (const { kind, confidence, span } of findings)
      lines.push(`  finding   ${kind} ${confidence} at ${span.start} to ${span.end}`)
    for (const { start, end } of unread) lines.push(`  unread    ${start} to ${end}`)
  }
  return `${lines.join('\n')}\n`
}

function outcomeOf(by: TracedMatch['cancelled_by'], weight: number): string {
  if (by === null) return String(weight)
  return by === 'encoder' ? 'left to the encoder' : `cancelled by "${by}"`
}

function placeOf({ rule, by, kind, groups, text, span, weight, cancelled_by }: TracedMatch): string {
  const what =
    groups === undefined ? JSON.stringify(text ?? '') : groups.map((group) => JSON.stringify(group)).join(' + ')
  const how = kind === undefined ? by : `${by} ${kind}`
  return `${rule} (${how}) ${what} at ${span.start} to ${span.end}, ${outcomeOf(cancelled_by, weight)}`
}
