/** The policy decision point as a pure function: texts, context and session state in, verdict out. Runs in any thread. */
import { LRUCache } from 'lru-cache'
import type { ChatPart, JsonObject } from '../chat.js'
import { readingsOf } from '../text/views.js'
import type { CompiledRule, Policy } from './compile.js'
import { type ContextEffect, GivenContext } from './context.js'
import { decide, type Judgement } from './decide.js'
import { toDetections } from './detections.js'
import type { Category, Decision, Detection } from './evaluation.js'
import { Findings } from './findings.js'
import { type JoinedText, joinTexts, type Member, pieceAt, separators } from './joined.js'
import { Matcher, type Sink } from './match.js'
import { type RuleScore, scoreRules } from './score.js'

export interface JudgeInput {
  parts: readonly ChatPart[]
  joined: readonly (readonly number[])[]
  context: JsonObject | undefined
  direction: 'request' | 'answer'
  /** What earlier turns of the session left behind; `turn` is the part that continues them. */
  session?: { tail: readonly string[]; turn: number; risk: number } | undefined
}

/** Plain data, so that it can come from another thread. */
export interface Verdict extends Omit<Judgement, 'categories'> {
  detections: Detection[]
  categories: { category: Category; score: number; decision: Decision }[]
  /** Every rule that matched, those that the context settled included. */
  rules: { rule: string; category: Category; score: number; effect: ContextEffect }[]
  /** The strongest score of the call by itself, of categories that are ever acted on: what a session remembers. */
  ownRisk: number
  /** UTF-16 units of the parts, and how many of them were looked at: a verdict holds only where both are equal. */
  charsTotal: number
  charsCovered: number
}

/**
 * Keys, role names and model names come with every request: up to this length they are remembered when nothing is in
 * them. What people write is not.
 */
const maxRemembered = 64

/** One per policy and thread. */
export class Judge {
  readonly policy: Policy
  readonly #matcher: Matcher
  /** Recurring texts in which no reading holds any phrase or finding. Bounded: 4,000 × 64 characters. */
  readonly #blank = new LRUCache<string, true>({ max: 4000 })

  constructor(policy: Policy) {
    this.policy = policy
    this.#matcher = new Matcher(policy)
  }

  judge(input: JudgeInput): Verdict {
    const { parts, joined, direction, session } = input
    const findings = new Findings(parts.length)
    let charsTotal = 0
    let charsCovered = 0
    for (const [i, part] of parts.entries()) {
      charsTotal += part.text.length
      charsCovered += this.#judgePart(part, i, direction, findings)
    }
    for (const run of joined) {
      if (run.length < 2) continue
      const members = run.map((part) => ({ part, text: parts[part]!.text }))
      if (!this.#judgeJoined(members, parts, direction, findings)) charsCovered = 0
    }
    if (session !== undefined && session.tail.length > 0 && parts[session.turn] !== undefined) {
      const earlier = session.tail.map((text) => ({ part: -1, text }))
      const members = [...earlier, { part: session.turn, text: parts[session.turn]!.text }]
      if (!this.#judgeJoined(members, parts, direction, findings)) charsCovered = 0
    }
    const { constitution } = this.policy
    const matches = findings.isEmpty ? [] : findings.all()
    const rules = scoreRules(matches, new GivenContext(input.context), constitution.bands.high)
    const judgement = decide(constitution, rules, session?.risk ?? 0)
    const detections = toDetections(matches, parts, sharpened(constitution, rules, judgement, session?.risk ?? 0))
    const acted = judgement.categories.filter(({ category }) => constitution.categories[category].high !== 'permit')
    return {
      ...judgement,
      categories: judgement.categories.map(({ category, score, decision }) => ({ category, score, decision })),
      detections,
      rules: rules.map(({ rule, score, effect }) => ({ rule: rule.name, category: rule.category, score, effect })),
      ownRisk: acted.reduce((most, { own }) => Math.max(most, own), 0),
      charsTotal,
      charsCovered
    }
  }

  /** @returns the number of characters looked at. */
  #judgePart(part: ChatPart, index: number, direction: JudgeInput['direction'], findings: Findings): number {
    const { text, role } = part
    if (text === '') return 0
    const recurs = text.length <= maxRemembered && (role === 'parameter' || part.isKey === true)
    if (recurs && this.#blank.has(text)) return text.length
    const { views, complete } = readingsOf(text)
    const found = this.#matcher.match(views, {
      applies: (rule) => appliesTo(rule, role, direction),
      record(rule, layer, start, end, confidence) {
        findings.add({ rule, part: index, start, end, layer, confidence, acrossTurns: false })
        return true
      }
    })
    if (recurs && complete && !found) this.#blank.set(text, true)
    // A text of which a reading had to be left out counts as not looked at.
    return complete ? (views[0]?.text.length ?? 0) : 0
  }

  /** @returns false where a reading had to be left out. */
  #judgeJoined(
    members: readonly Member[],
    parts: readonly ChatPart[],
    direction: JudgeInput['direction'],
    findings: Findings
  ): boolean {
    let all = true
    for (const separator of separators) {
      for (const joinedText of joinTexts(members, separator)) {
        // Of a session's texts only the stretch that ends in the present turn can reach into it.
        if (joinedText.pieces[joinedText.pieces.length - 1]!.part < 0) continue
        const { views, complete } = readingsOf(joinedText.text)
        if (!complete) all = false
        this.#matcher.match(views, joinedSink(joinedText, parts, direction, findings))
      }
    }
    return all
  }
}

function appliesTo(rule: CompiledRule, role: ChatPart['role'], direction: JudgeInput['direction']): boolean {
  return (
    (rule.direction === 'both' || rule.direction === direction) && (rule.roles === undefined || rule.roles.has(role))
  )
}

/**
 * Counts only what crosses from one part to another, at the part where it starts; across turns, at the turn now judged,
 * which is the last piece, because an earlier one has no place in this call.
 */
function joinedSink(
  { pieces }: JoinedText,
  parts: readonly ChatPart[],
  direction: JudgeInput['direction'],
  findings: Findings
): Sink {
  const last = pieces[pieces.length - 1]!
  const acrossTurns = pieces[0]!.part < 0
  const crosses = (start: number, end: number) => {
    const to = pieceAt(pieces, end - 1)
    return acrossTurns ? start < last.start && end > last.start : pieceAt(pieces, start) !== to
  }
  const roles = [...new Set(pieces.filter(({ part }) => part >= 0).map(({ part }) => parts[part]!.role))]
  const sink: Sink = {
    applies: (rule) => roles.some((role) => appliesTo(rule, role, direction)),
    record(rule, layer, start, end, confidence) {
      if (!crosses(start, end)) return false
      const piece = acrossTurns ? last : pieces[pieceAt(pieces, start)]!
      if (!appliesTo(rule, parts[piece.part]!.role, direction)) return false
      const from = piece.offset + Math.max(0, start - piece.start)
      const to = piece.offset + Math.min(end, piece.end) - piece.start
      const name = layer === 'plain' ? 'joined' : `joined+${layer}`
      // A rule that the turn breaks by itself needs no help from earlier turns.
      if (acrossTurns && findings.has(rule, piece.part)) return true
      findings.add({
        rule,
        part: piece.part,
        start: from,
        end: Math.max(from, to),
        layer: name,
        confidence,
        acrossTurns
      })
      return true
    }
  }
  return acrossTurns ? { ...sink, crosses } : sink
}

/** The rules of categories that only the session's risk made stricter than the turn itself is. */
function sharpened(
  constitution: Policy['constitution'],
  rules: readonly RuleScore[],
  judgement: Judgement,
  risk: number
): ReadonlySet<CompiledRule> {
  const names = new Set<CompiledRule>()
  if (risk === 0) return names
  const alone = new Map(
    decide(constitution, rules, 0).categories.map((verdict) => [verdict.category, verdict.decision])
  )
  for (const { category, decision, rules: counted } of judgement.categories) {
    if (alone.get(category) !== decision) for (const { rule } of counted) names.add(rule)
  }
  return names
}
