/** From scores to a decision: bands per category, then the strictest category. */
import type { Constitution } from '../constitution/parse.js'
import { type Category, categories, type Decision, type Scores, strictest } from '../evaluation.js'
import { noisyOr, type RuleScore, round, signsOf } from './score.js'

export interface CategoryVerdict {
  category: Category
  score: number
  /** The score of what was said just now, without what the session adds. */
  own: number
  decision: Decision
  /** The rules that matched and that the context did not settle. */
  rules: readonly RuleScore[]
  /** For `depends`: the context keys that could settle it. */
  missing: readonly string[]
}

export interface Judgement {
  decision: Decision
  /** The highest score, each held within the band of what its category decides. */
  riskScore: number
  scores: Scores
  matchedRules: string[]
  missingContext: string[]
  /** Categories in which anything counted. */
  categories: CategoryVerdict[]
}

/** Every category, none with a signal. */
export const noScores: Readonly<Scores> = Object.freeze(
  Object.fromEntries(categories.map((category) => [category, 0])) as Scores
)

type Bands = Constitution['bands']

/** The smallest step between a score and a band's edge. */
const step = 0.0001

/** @param risk what the session adds to each category that has a signal of its own, 0..1 */
export function decide(constitution: Constitution, scored: readonly RuleScore[], risk: number): Judgement {
  const verdicts = groupByCategory(scored).map((rules) => decideCategory(constitution, rules, risk))
  const decision = verdicts.reduce<Decision>((worst, verdict) => strictest(worst, verdict.decision), 'permit')
  const deciding = decision === 'permit' ? [] : verdicts.filter((verdict) => verdict.decision === decision)
  const scores = { ...noScores }
  let riskScore = 0
  for (const verdict of verdicts) {
    scores[verdict.category] = verdict.score
    riskScore = Math.max(riskScore, withinBand(verdict, constitution.bands))
  }
  return {
    decision,
    riskScore,
    scores,
    matchedRules: deciding.flatMap(({ rules }) => byScore(rules).map(({ rule }) => rule.name)),
    missingContext: [...new Set(deciding.flatMap(({ missing }) => missing))].sort(),
    categories: verdicts
  }
}

function groupByCategory(scored: readonly RuleScore[]): RuleScore[][] {
  const groups = new Map<Category, RuleScore[]>()
  for (const entry of scored) {
    if (entry.score === 0) continue
    const group = groups.get(entry.rule.category)
    if (group === undefined) groups.set(entry.rule.category, [entry])
    else group.push(entry)
  }
  return [...groups.values()]
}

function decideCategory(
  { bands, categories }: Constitution,
  rules: readonly RuleScore[],
  sessionRisk: number
): CategoryVerdict {
  const category = rules[0]!.rule.category
  const policy = categories[category]
  // What a policy lets pass at any score is no sign of bad intent; and history must not count once more each turn.
  const fresh = policy.high === 'permit' ? [] : rules.filter((entry) => entry.fresh)
  const risk = fresh.length === 0 ? 0 : sessionRisk
  const total = (some: readonly RuleScore[]) => (some.length === 0 ? 0 : noisyOr([risk, ...signsOf(some)]))
  const score = total(rules)
  const own = noisyOr(signsOf(fresh))
  const verdict = { category, score, own, rules, missing: [] }
  if (score < bands.middle) return { ...verdict, decision: 'permit' }
  if (score >= bands.high) return { ...verdict, decision: policy.high }
  if (policy.middle !== 'ask') return { ...verdict, decision: policy.middle }
  // Asking helps where the rules that an answer can no longer settle would not reach the band by themselves.
  const open = rules.filter(({ effect }) => effect === 'open')
  const exhausted = rules.flatMap((entry) => {
    if (entry.effect !== 'open') return entry
    return entry.exhausted === undefined ? [] : { ...entry, score: entry.exhausted }
  })
  if (total(exhausted) >= bands.middle) return { ...verdict, decision: 'divert' }
  return { ...verdict, decision: 'depends', missing: open.flatMap(({ rule }) => rule.context.keys) }
}

/** The score of a category, held within the band of its decision. */
export function withinBand(
  { score, decision }: Pick<CategoryVerdict, 'score' | 'decision'>,
  { middle, high }: Bands
): number {
  switch (decision) {
    case 'permit':
      return Math.min(score, round(middle - step))
    case 'depends':
    case 'divert':
      return Math.max(middle, Math.min(score, round(high - step)))
    case 'forbid':
      return Math.max(high, score)
    default:
      return decision satisfies never
  }
}

function byScore(rules: readonly RuleScore[]): RuleScore[] {
  return [...rules].sort((a, b) => b.score - a.score || a.rule.index - b.rule.index)
}
