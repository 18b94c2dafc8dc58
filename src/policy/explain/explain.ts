/** How a verdict came about: readings, matches, scores against the bands, context, session, and what would flip it. */
import type { Role } from '../../base/chat.js'
import type { Stretch } from '../../encoder/index.js'
import type { Constitution } from '../constitution/parse.js'
import type { ReaderMode } from '../constitution/schema.js'
import type { CategoryVerdict } from '../decide/decide.js'
import { round } from '../decide/score.js'
import { doubtsOf } from '../escalate/doubts.js'
import type { Found, Judge, JudgeInput } from '../evaluate/judge.js'
import type { Category, Decision } from '../evaluation.js'
import type { Policy } from '../match/compile.js'
import { type Flips, flipsOf } from './flips.js'
import { summarise } from './summary.js'
import { type TracedView, trace } from './trace.js'

/** The next band in a direction, and how far the score is from it; null where no band there decides otherwise. */
export type NextBand = { decision: Decision; by: number } | null

export interface ExplainedCategory {
  category: Category
  score: number
  /** The score without what the session adds. */
  own_score: number
  decision: Decision
  /** What the policy decides in each band of this category. */
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
  /** What it counts: 0 where the context settles it. */
  score: number
  /** What the context did: nothing, settled it, sharpened it, or left it open for want of a key. */
  context: 'none' | 'permit' | 'forbid' | 'open'
  /** The keys that could settle it. */
  context_keys: string[]
  /** Only the session's earlier turns complete it. */
  across_turns: boolean
}

/** A reading of a text that the encoder was asked about, and what it said. Spans are offsets into that reading. */
export interface ExplainedReading {
  /** The part that shows it; empty where there is only one. */
  pointer: string
  layer: string
  role: Role
  /** The rules that raised it; none where the constitution has everything read. */
  raised_by: string[]
  /** What was raised; null: all of it. */
  raised: Stretch[] | null
  findings: { kind: string; confidence: number; span: Stretch }[]
  /** What was raised and not read, for there was too much: there the rules that raised it count. */
  unread: Stretch[]
}

export interface ExplainedEncoder {
  readers: ReaderMode
  read: ExplainedReading[]
  /** What the first reader would decide alone. */
  without: { decision: Decision; risk_score: number }
}

export interface Explanation {
  summary: string[]
  decision: Decision
  risk_score: number
  policy: string
  thresholds: { middle: number; high: number }
  views: TracedView[]
  /** Null where no encoder decides: then what is raised counts as any other match. */
  encoder: ExplainedEncoder | null
  rules: ExplainedRule[]
  categories: ExplainedCategory[]
  /** `assumed`: what the constitution takes for given where the call says nothing. */
  context: { given: string[]; assumed: Record<string, string>; missing: string[] }
  /** Null where the call belongs to no session. `risk` is added to categories with a signal of their own. */
  session: { risk: number; remembered_turns: number } | null
  /** Judges that would be asked before this decision stands; an explanation asks none. */
  would_ask: { judge: string; categories: Category[] }[]
  flips: Flips
}

export function explain(judge: Judge, input: JudgeInput): Explanation {
  const { policy } = judge
  const { constitution } = policy
  const found = judge.find(input)
  const { matches } = found
  const { rules: scored, judgement } = judge.weigh(matches, input)
  const rules = scored.map(({ rule, score, effect }): ExplainedRule => {
    const own = matches.filter((match) => match.rule === rule)
    return {
      rule: rule.name,
      category: rule.category,
      weight: round(Math.max(...own.map(({ confidence }) => confidence))),
      score: round(score),
      context: effect,
      context_keys: [...rule.context.keys],
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
    encoder: explainEncoder(judge, input, found),
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
    would_ask: wouldAsk(policy, judge, input),
    flips: flipsOf(judge, input, found)
  }
  explanation.summary = summarise(explanation)
  return explanation
}

function explainEncoder(judge: Judge, input: JudgeInput, { answered }: Found): ExplainedEncoder | null {
  const { readers } = judge.policy.constitution
  if (input.readings === undefined || readers === 'fast' || judge.policy.readers.length === 0) return null
  const { decision, riskScore } = judge.judge({ ...input, readings: undefined })
  const read = answered.map(({ question, reading }): ExplainedReading => {
    const { part, layer, role, spans, rules } = question
    return {
      pointer: input.parts[part]!.pointer,
      layer,
      role,
      raised_by: [...rules],
      raised: spans === undefined ? null : [...spans],
      findings: reading.findings.map(({ kind, confidence, start, end }) => ({
        kind,
        confidence: round(confidence),
        span: { start, end }
      })),
      unread: [...reading.unread]
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

function nextBands(
  { bands, categories }: Constitution,
  { category, score, decision }: CategoryVerdict
): Pick<ExplainedCategory, 'to_milder' | 'to_stricter'> {
  const policy = categories[category]
  const middle: Decision = policy.middle === 'ask' ? 'depends' : policy.middle
  const edges: { decision: Decision; from: number; below: number }[] = [
    { decision: 'permit', from: 0, below: bands.middle },
    // Whether the middle asks or diverts is the context's matter: within it, the decision is what it is now.
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

function wouldAsk({ constitution }: Policy, judge: Judge, input: JudgeInput): Explanation['would_ask'] {
  if (constitution.escalate.length === 0) return []
  return doubtsOf(constitution, judge.judge(input), input.parts).map(({ escalation, categories }) => ({
    judge: escalation.judge,
    categories: [...categories]
  }))
}
