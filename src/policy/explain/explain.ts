/**
 * Explains a verdict: its readings, matches, scores and bands, context and session, and the changes that would flip it.
 */
import type { Role } from '../../base/chat.js'
import { round } from '../../base/decision.js'
import type { Stretch } from '../../encoder/index.js'
import type { Constitution } from '../constitution/parse.js'
import type { ReaderMode } from '../constitution/values.js'
import type { CategoryVerdict } from '../decide/decide.js'
import { doubtsOf } from '../escalate/doubts.js'
import type { RuleEngine } from '../evaluate/rule-engine.js'
import type { Found, JudgeInput } from '../evaluate/verdict.js'
import type { Category, Decision } from '../evaluation.js'
import type { ContextOutcome, NextBand } from '../explanation.js'
import type { Policy } from '../match/compile.js'
import { type Flips, flipsOf } from './flips.js'
import { type TracedView, trace } from './trace.js'

export interface ExplainedCategory {
  category: Category
  score: number
  /** The score without the session's addition. */
  own_score: number
  decision: Decision
  /** The policy's decision in each band of this category. */
  bands: { below_middle: 'permit'; from_middle: string; from_high: string }
  to_milder: NextBand
  to_stricter: NextBand
  rules: string[]
  missing_context: string[]
}

export interface ExplainedRule {
  rule: string
  category: Category
  /** The most confident match, before the context. */
  weight: number
  /** Its score: 0 where the context settles it. */
  score: number
  context: ContextOutcome
  /** The keys that could settle it. */
  context_keys: string[]
  /** Only the session's earlier turns complete it. */
  across_turns: boolean
}

/**
 * A reading of a text that the encoder was asked about, with the answer. Spans are offsets into the text where the
 * reading is a part of it as written, else into the reading. What a user quotes has the role of a tool.
 */
export interface ExplainedReading {
  /** The part that shows it; empty where there is only one. */
  pointer: string
  layer: string
  role: Role
  /** The rules that raised it; none where the constitution has everything read. */
  raised_by: string[]
  /** The raised stretches; null: all of it. */
  raised: Stretch[] | null
  findings: { kind: string; confidence: number; span: Stretch }[]
  /** Raised stretches that exceeded the encoder's limit: there the rules that raised them count. */
  unread: Stretch[]
}

export interface ExplainedEncoder {
  readers: ReaderMode
  read: ExplainedReading[]
  /** The decision of the first reader alone. */
  without: { decision: Decision; risk_score: number }
}

export interface Explanation {
  summary: string[]
  decision: Decision
  risk_score: number
  policy: string
  thresholds: { middle: number; high: number }
  views: TracedView[]
  /** Null where no encoder decides: then nominations count like other matches. */
  encoder: ExplainedEncoder | null
  rules: ExplainedRule[]
  categories: ExplainedCategory[]
  /** `assumed`: the constitution's default context, where the call has none. */
  context: { given: string[]; assumed: Record<string, string>; missing: string[] }
  /** Null where the call belongs to no session. `risk` is added to categories with a signal of their own. */
  session: { risk: number; remembered_turns: number } | null
  /** Judges that would be asked before this decision is final; an explanation asks none. */
  would_ask: { judge: string; categories: Category[] }[]
  flips: Flips
}

export function explain(engine: RuleEngine, input: JudgeInput): Explanation {
  const { policy } = engine
  const { constitution } = policy
  const found = engine.find(input)
  const { matches } = found
  const { rules: scored, judgement } = engine.weigh(matches, input)
  const rules = scored.map(({ rule, score, effect }): ExplainedRule => {
    const own = matches.filter((match) => match.rule === rule)
    return {
      rule: rule.name,
      category: rule.category,
      weight: round(Math.max(...own.map(({ confidence }) => confidence))),
      score: round(score),
      context: effect,
      context_keys: [...new Set(rule.context.permit.map(({ key }) => key))],
      across_turns: own.every(({ acrossTurns }) => acrossTurns)
    }
  })
  const explanation: Explanation = {
    summary: [],
    decision: judgement.decision,
    risk_score: judgement.riskScore,
    policy: policy.label,
    thresholds: { ...constitution.bands },
    views: trace(policy, input, found),
    encoder: explainEncoder(engine, input, found),
    rules: rules.sort((a, b) => b.score - a.score || b.weight - a.weight),
    categories: judgement.categories.map((verdict) => explainCategory(constitution, verdict)),
    context: {
      given: Object.keys(input.context ?? {}),
      assumed: { ...constitution.assume },
      missing: judgement.missingContext
    },
    session:
      input.session === undefined
        ? null
        : { risk: round(input.session.risk), remembered_turns: input.session.tail.length },
    would_ask: wouldAsk(policy, engine, input),
    flips: flipsOf(engine, input, found)
  }
  explanation.summary = summarise(explanation)
  return explanation
}

function explainEncoder(engine: RuleEngine, input: JudgeInput, { answered }: Found): ExplainedEncoder | null {
  const { readers } = engine.policy.constitution
  if (input.readings === undefined || readers === 'fast' || engine.policy.readers.length === 0) return null
  const { decision, riskScore } = engine.judge({ ...input, readings: undefined })
  const read = answered.map(({ question, reading }): ExplainedReading => {
    const { part, layer, role, start, spans, rules } = question
    // Where texts meet, a reading stands in no part.
    const isInPart = layer === 'plain' && input.parts[part]!.text.startsWith(question.text, start)
    const from = isInPart ? start : 0
    const placed = (span: Stretch): Stretch => ({ start: from + span.start, end: from + span.end })
    return {
      pointer: input.parts[part]!.pointer,
      layer,
      role,
      raised_by: [...rules],
      raised: spans === undefined ? null : spans.map(placed),
      findings: reading.findings.map(({ kind, confidence, start, end }) => ({
        kind,
        confidence: round(confidence),
        span: placed({ start, end })
      })),
      unread: reading.unread.map(placed)
    }
  })
  return { readers, read, without: { decision, risk_score: riskScore } }
}

function explainCategory(constitution: Constitution, verdict: CategoryVerdict): ExplainedCategory {
  const { category, score, own, decision, rules, missing } = verdict
  const { middle, high } = constitution.categories[category]
  return {
    category,
    score,
    own_score: own,
    decision,
    bands: { below_middle: 'permit', from_middle: middle, from_high: high },
    ...nextBands(constitution, verdict),
    rules: rules.map(({ rule }) => rule.name),
    missing_context: [...new Set(missing)]
  }
}

/** The smallest step between two scores as they are shown. */
const step = 0.0001

export function nextBands(
  { bands, categories }: Constitution,
  { category, score, decision }: Pick<CategoryVerdict, 'category' | 'score' | 'decision'>
): Pick<ExplainedCategory, 'to_milder' | 'to_stricter'> {
  const policy = categories[category]
  const middle: Decision = policy.middle === 'ask' ? 'depends' : policy.middle
  const edges: { decision: Decision; from: number; below: number }[] = [
    { decision: 'permit', from: 0, below: bands.middle },
    // The context decides whether the middle band asks or diverts: within the band, the present decision stays.
    {
      decision: score >= bands.middle && score < bands.high ? decision : middle,
      from: bands.middle,
      below: bands.high
    },
    { decision: policy.high, from: bands.high, below: Number.POSITIVE_INFINITY }
  ]
  const lower = edges.findLast((edge) => edge.below <= score && edge.decision !== decision)
  const upper = edges.find((edge) => edge.from > score && edge.decision !== decision)
  return {
    to_milder: lower === undefined ? null : { decision: lower.decision, by: round(score - lower.below + step) },
    to_stricter: upper === undefined ? null : { decision: upper.decision, by: round(upper.from - score) }
  }
}

function wouldAsk({ constitution }: Policy, engine: RuleEngine, input: JudgeInput): Explanation['would_ask'] {
  if (constitution.escalate.length === 0) return []
  return doubtsOf(constitution, engine.judge(input), input.parts).map(({ escalation, categories }) => ({
    judge: escalation.judge,
    categories: [...categories]
  }))
}

/** Summarises an explanation in a few sentences, with names and numbers but no text. */
function summarise(explanation: Omit<Explanation, 'summary'>): string[] {
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
      lines.push(
        context_keys.length === 0
          ? `No context settles ${rule}.`
          : `${rule} could be settled by ${context_keys.join(' or ')}, which the context lacks.`
      )
    }
  }
  if (session !== null && session.risk > 0) {
    lines.push(`The session adds ${session.risk} to each category with a signal of its own.`)
  }
  lines.push(...whatWasRead(explanation))
  for (const { without, decision, risk_score } of flips.rules) {
    lines.push(`Without ${without.join(' and ')}: ${decision} at ${risk_score}.`)
  }
  for (const { key, values, any_other, decision } of flips.context) {
    const shown = values.slice(0, 5).map((value) => JSON.stringify(value))
    const more = values.length > shown.length ? ` or ${values.length - shown.length} more` : ''
    lines.push(`With ${key} ${any_other ? 'set to any other value' : shown.join(' or ') + more}: ${decision}.`)
  }
  for (const { context, decision } of flips.combined_context)
    lines.push(`With ${JSON.stringify(context)}: ${decision}.`)
  for (const { judge, categories } of explanation.would_ask) {
    lines.push(`${judge} would be asked about ${categories.join(', ')} before this is final.`)
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
    strongest === undefined ? 'No match counts' : `The highest score is ${strongest.category} at ${strongest.score}`
  const why = [...cancelled].map(([rule, by]) =>
    by === 'encoder' ? `the encoder decided over ${rule}` : `"${by}" cancelled ${rule}`
  )
  return `${[most, ...why].join('; ')}.`
}
