/**
 * Asks the judges about a verdict in doubt, and applies their answers: changes scores, decides anew, and reports each
 * answer.
 */
import { round } from '../../base/decision.js'
import type { Constitution } from '../constitution/parse.js'
import { typeOfCategory } from '../constitution/rules.js'
import { missingOf, withinBand } from '../decide/decide.js'
import type { Verdict } from '../evaluate/verdict.js'
import { type Category, type Decision, type Detection, type EvaluationInput, strictest } from '../evaluation.js'
import type { RuleFlip } from '../explanation.js'
import type { Policy } from '../match/compile.js'
import type { Doubt } from './doubts.js'
import type { Failure, Judges, Opinion } from './judges.js'
import { wordsOf } from './words.js'

/**
 * Turns a verdict in doubt into one that includes the judges' opinions. @throws the reason of `input.cancel`, where the
 * caller left meanwhile
 */
export async function consult(
  judges: Judges,
  policy: Pick<Policy, 'constitution' | 'label'>,
  verdict: Verdict,
  doubts: readonly Doubt[],
  { direction, cancel, seen }: Pick<EvaluationInput, 'direction' | 'cancel' | 'seen'>
): Promise<Verdict> {
  async function ask(doubt: Doubt): Promise<Ruling> {
    const { picture, categories } = doubt
    const question = {
      texts: doubt.texts.map(({ role, text }) => ({ role, text })),
      picture,
      direction,
      categories,
      policy: policy.label,
      wordsOf: (category: Category) => wordsOf(policy.constitution, category, direction),
      cancel
    }
    const answer = await judges.consult(doubt.escalation.judge, question)
    if (picture !== undefined && !('failure' in answer)) seen?.(picture)
    return { doubt, answer }
  }
  const rulings = await Promise.all(doubts.filter(({ picture }) => picture === undefined).map(ask))
  let ruled = applyRulings(policy.constitution, verdict, rulings)
  // One after the other: a request may hold as many pictures as a judge takes questions at once.
  for (const doubt of doubts) {
    if (doubt.picture === undefined) continue
    if (ruled.decision === 'forbid') break
    ruled = applyRulings(policy.constitution, ruled, [await ask(doubt)])
  }
  return ruled === verdict || verdict.flips === undefined ? ruled : { ...ruled, flips: flipsBy(ruled, verdict) }
}

/** Without its judges the verdict is the one in doubt; other flips are known only for that one. */
function flipsBy({ decision, rules }: Verdict, before: Verdict): RuleFlip[] {
  if (decision === before.decision) return before.flips ?? []
  const without = rules.slice(before.rules.length).map(({ rule }) => rule)
  return [{ without: [...new Set(without)], decision: before.decision, risk_score: before.riskScore }]
}

export interface Ruling {
  doubt: Doubt
  answer: Opinion | Failure
}

type CategoryVerdict = Verdict['categories'][number]
type Bands = Pick<Constitution, 'bands' | 'categories'>

/** The colon keeps judges apart from rules, whose names have none. */
const ruleOf = (judge: string) => `judge:${judge}`

export function applyRulings(policy: Bands, verdict: Verdict, rulings: readonly Ruling[]): Verdict {
  const changes = rulings.flatMap((ruling) => changesOf(policy, verdict, ruling))
  const changed = new Map(changes.map((change) => [change.category, change]))
  const kept = verdict.categories.filter(({ category }) => !changed.has(category))
  const categories: CategoryVerdict[] = [
    ...kept,
    ...changes.map(({ category, score, decision, missing }) => ({ category, score, decision, missing }))
  ]
  const decision = categories.reduce<Decision>((worst, entry) => strictest(worst, entry.decision), 'permit')
  const deciding = decision === 'permit' ? [] : categories.filter((entry) => entry.decision === decision)
  const named = deciding.flatMap(({ category }) => [...rulesOf(verdict, category), ...judgesOf(changed, category)])
  const scores = { ...verdict.scores }
  for (const { category, score } of changes) scores[category] = score
  return {
    ...verdict,
    decision,
    riskScore: categories.reduce((most, entry) => Math.max(most, withinBand(entry, policy.bands)), 0),
    scores,
    matchedRules: [...new Set(named)],
    missingContext: missingOf(deciding),
    categories,
    detections: [...verdict.detections, ...changes.map(({ detection }) => detection)],
    rules: [
      ...verdict.rules,
      ...changes.map(({ category, detection }) => ({
        rule: detection.rule,
        category,
        score: detection.confidence,
        effect: 'none' as const
      }))
    ],
    ownRisk: ownRiskOf(verdict, changes, categories, policy)
  }
}

interface Change extends CategoryVerdict {
  detection: Detection
  by: 'unsafe' | 'safe' | 'failure'
}

function changesOf({ bands, categories }: Bands, verdict: Verdict, { doubt, answer }: Ruling): Change[] {
  const { escalation } = doubt
  const stands = (category: Category): CategoryVerdict =>
    verdict.categories.find((entry) => entry.category === category) ?? {
      category,
      score: 0,
      decision: 'permit',
      missing: []
    }
  const shown = (category: Category, confidence: number, layer: string): Detection =>
    detectionOf({ category, confidence: round(confidence), rule: ruleOf(escalation.judge), layer }, verdict, doubt)

  if ('failure' in answer) {
    const { onFailure } = escalation
    if (onFailure === 'permit_local') return []
    // An unseen picture is reported once, not once per category.
    const doubtful = doubt.picture === undefined ? doubt.categories : doubt.categories.slice(0, 1)
    return doubtful.map((category): Change => {
      const local = stands(category)
      const decision = strictest(local.decision, onFailure)
      const score = withinBand({ score: local.score, decision }, bands)
      return {
        category,
        score,
        decision,
        missing: [],
        by: 'failure',
        detection: shown(category, local.score, 'judge_unavailable')
      }
    })
  }
  const changes: Change[] = []
  for (const [category, confidence] of Object.entries(answer.unsafe) as [Category, number][]) {
    if (!escalation.categories.includes(category)) continue
    const score = round(Math.max(stands(category).score, bands.high, confidence))
    const decision = categories[category].high
    changes.push({
      category,
      score,
      decision,
      missing: [],
      by: 'unsafe',
      detection: shown(category, confidence, 'judge')
    })
  }
  if (escalation.trust !== 'both') return changes
  for (const [category, confidence] of Object.entries(answer.safe) as [Category, number][]) {
    if (!doubt.clearable.has(category)) continue
    const local = stands(category)
    const score = withinBand({ score: Math.min(local.score, confidence), decision: 'permit' }, bands)
    changes.push({
      category,
      score,
      decision: 'permit',
      missing: [],
      by: 'safe',
      detection: shown(category, confidence, 'judge')
    })
  }
  return changes
}

/** Placed at the doubt; for a category without a finding, at the whole first text. */
function detectionOf(
  found: Pick<Detection, 'category' | 'confidence' | 'rule' | 'layer'>,
  { detections }: Verdict,
  { picture, texts: [text] }: Doubt
): Detection {
  const { category, confidence, rule, layer } = found
  const type = typeOfCategory(category)
  if (picture !== undefined) {
    const { pointer } = picture
    return { type, category, confidence, rule, span: { start: 0, end: 0 }, layer, reader: 'judge', pointer }
  }
  const local = detections
    .filter((detection) => detection.category === category)
    .reduce<Detection | undefined>(
      (best, next) => (best !== undefined && best.confidence >= next.confidence ? best : next),
      undefined
    )
  const pointer = local === undefined ? text?.pointer : local.pointer
  const span = local?.span ?? { start: 0, end: text?.text.length ?? 0 }
  const detection: Detection = {
    type,
    category,
    confidence,
    rule,
    span,
    layer,
    reader: 'judge'
  }
  return pointer === undefined || pointer === '' ? detection : { ...detection, pointer }
}

function rulesOf({ rules }: Verdict, category: Category): string[] {
  return rules
    .filter((entry) => entry.category === category && entry.score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ rule }) => rule)
}

function judgesOf(changed: ReadonlyMap<Category, Change>, category: Category): string[] {
  const change = changed.get(category)
  return change === undefined || change.by === 'safe' ? [] : [change.detection.rule]
}

/** The session's risk follows the judge, up and down; a missing opinion adds no risk. */
function ownRiskOf(
  { ownRisk }: Verdict,
  changes: readonly Change[],
  categories: readonly CategoryVerdict[],
  policy: Bands
): number {
  const unsafe = changes.filter(({ by }) => by === 'unsafe').map(({ score }) => score)
  if (unsafe.length > 0) return Math.max(ownRisk, ...unsafe)
  const counted = categories.filter(({ category }) => policy.categories[category].high !== 'permit')
  return Math.min(ownRisk, Math.max(0, ...counted.map(({ score }) => score)))
}
