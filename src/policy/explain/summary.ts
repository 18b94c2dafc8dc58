/** An explanation in a few sentences, for people. Names and numbers; no text. */
import type { Explanation } from './explain.js'

export function summarise(explanation: Omit<Explanation, 'summary'>): string[] {
  const { decision, risk_score: score, categories, thresholds, rules, flips, session } = explanation
  const lines = [`${decision} at ${score}.`]
  const deciding = categories.filter((category) => category.decision === decision && decision !== 'permit')
  for (const { category, score, own_score, bands, rules } of deciding) {
    const isHigh = score >= thresholds.high
    const band = isHigh
      ? `from ${thresholds.high} on, the outcome is ${bands.from_high}`
      : `from ${thresholds.middle} on, the outcome is ${bands.from_middle}`
    const lifted = own_score > 0 && own_score < score ? ` (${own_score} without the session)` : ''
    lines.push(`${category} scores ${score}${lifted} by ${rules.join(', ')}: ${band}.`)
  }
  if (decision === 'permit') lines.push(whyPermitted(explanation))
  const asking = new Set(categories.flatMap(({ decision, rules }) => (decision === 'depends' ? rules : [])))
  for (const { rule, context, context_keys } of rules) {
    if (context === 'permit') lines.push(`The context settles ${rule}: it counts nothing.`)
    if (context === 'forbid') lines.push(`The context sharpens ${rule}.`)
    if (context === 'open' && asking.has(rule)) {
      lines.push(`${rule} could be settled by ${context_keys.join(' or ')}, which was not given.`)
    }
  }
  if (session !== null && session.risk > 0) {
    lines.push(`The session adds ${session.risk} to whatever has a signal of its own.`)
  }
  lines.push(...whatWasRead(explanation))
  for (const { without, decision, risk_score } of flips.rules) {
    lines.push(`Without ${without.join(' and ')}: ${decision} at ${risk_score}.`)
  }
  for (const { key, values, any_other, decision } of flips.context) {
    const shown = values.slice(0, 5).map((value) => JSON.stringify(value))
    const more = values.length > shown.length ? ` or ${values.length - shown.length} more` : ''
    lines.push(`With ${key} ${any_other ? 'given as anything else' : shown.join(' or ') + more}: ${decision}.`)
  }
  for (const { context, decision } of flips.combined_context)
    lines.push(`With ${JSON.stringify(context)}: ${decision}.`)
  for (const { judge, categories } of explanation.would_ask) {
    lines.push(`${judge} would be asked about ${categories.join(', ')} before this stands.`)
  }
  return lines
}

function whatWasRead({ encoder, decision, risk_score: score }: Omit<Explanation, 'summary'>): string[] {
  if (encoder === null || encoder.read.length === 0) return []
  const lines = encoder.read.map(({ layer, raised_by, findings, unread }) => {
    const why = raised_by.length === 0 ? 'unasked' : `raised by ${raised_by.slice(0, 5).join(', ')}`
    const said = findings.map(({ kind, confidence }) => `${kind} ${confidence}`).join(', ')
    const rest = unread.length === 0 ? '' : ', and could not read all of it'
    return `The encoder read ${layer}, ${why}: it found ${said === '' ? 'nothing' : said}${rest}.`
  })
  const { without } = encoder
  if (without.decision !== decision || without.risk_score !== score)
    lines.push(`Without the encoder: ${without.decision} at ${without.risk_score}.`)
  return lines
}

function whyPermitted({ categories, rules, views }: Omit<Explanation, 'summary'>): string {
  const cancelled = new Map<string, string>()
  for (const { matches } of views) {
    for (const { rule, cancelled_by: by } of matches) if (by !== null) cancelled.set(rule, by)
  }
  if (rules.length === 0 && cancelled.size === 0) return 'No rule matches.'
  const strongest = [...categories].sort((a, b) => b.score - a.score)[0]
  const most =
    strongest === undefined
      ? 'Nothing that matched counts'
      : `The highest score is ${strongest.category} at ${strongest.score}`
  const why = [...cancelled].map(([rule, by]) =>
    by === 'encoder' ? `the encoder decided over ${rule}` : `"${by}" cancelled ${rule}`
  )
  return `${[most, ...why].join('; ')}.`
}
