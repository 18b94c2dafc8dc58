/** Traces each reading of a text and its matches, clause by clause, for explanations. */
import type { ChatPart } from '../../base/chat.js'
import { round } from '../../base/decision.js'
import { Reading } from '../../text/reading.js'
import type { View } from '../../text/view.js'
import { readingsOf } from '../../text/views.js'
import type { Constitution } from '../constitution/parse.js'
import type { Rule } from '../constitution/rules.js'
import { historiesOf, spokenFrom } from '../evaluate/session.js'
import { type Found, type JudgeInput, promptsOf } from '../evaluate/verdict.js'
import type { Category } from '../evaluation.js'
import { type CompiledRule, compilePolicy, type Policy } from '../match/compile.js'
import { Findings } from '../match/findings.js'
import { joinTexts, separators } from '../match/joined.js'
import { Matcher } from '../match/match.js'
import { type Call, memberOf, partSink, turnSink } from '../match/sinks.js'

type Span = { start: number; end: number }

/** One place where one clause of one rule matched. */
export interface TracedMatch {
  rule: string
  category: Category
  /** Kind of the clause: a phrase, a row of groups, a pattern, a detector, guarded content. */
  by: Piece['by']
  /** Position of the pattern in the rule. */
  pattern?: number
  detector?: string
  kind?: string
  /** UTF-16 offsets into the original text. */
  span: Span
  /** The matched text in this reading, at most 80 units. Absent where turns are joined. */
  text?: string
  /** For `all`: the matched phrase of each group, in the order of the rule. */
  groups?: string[]
  weight: number
  /**
   * Why it does not count. `unless`: a nearby phrase cancelled it. `when`: a required rule does not match. `encoder`:
   * it only raised the text, and the encoder decides.
   */
  cancelled_by: 'unless' | 'when' | 'encoder' | null
}

export interface TracedView {
  layer: string
  /** UTF-16 units of this reading. */
  length: number
  /** The reading, at most 500 units; omitted for `plain`, which is the original text. */
  text?: string
  matches: TracedMatch[]
}

const maxReading = 500
const maxMatched = 80
/** Places shown of one clause in one view. */
const maxPlaces = 8

/** Traces the readings of the new turn, then the matches that only earlier turns complete. */
export function trace(policy: Policy, input: JudgeInput, { matches, alone }: Found): TracedView[] {
  const apart = takeApart(policy)
  const { parts, direction } = input
  const guarded = policy.guard?.read(promptsOf(input))
  const call: Call = { parts, direction, guarded, findings: new Findings(parts.length) }
  const seen = new Set<CompiledRule>()
  const counts = (rule: number, part: number) =>
    matches.some((match) => match.rule.index === rule && match.part === part)
  const decided = (rule: number, part: number) =>
    alone.some((match) => match.isNominated && match.rule.index === rule && match.part === part)
  const whyNot = (rule: number, part: number) =>
    counts(rule, part) ? null : decided(rule, part) ? 'encoder' : ('when' as const)
  const tracing = { policy, apart, call, seen, whyNot }
  const views = input.parts.flatMap((part, index) => traceUpon(tracing, part, index))
  return [...views, ...traceTurns(policy, apart, input, seen)]
}

interface Tracing {
  policy: Policy
  apart: Apart
  call: Call
  /** Collects the pieces that matched. */
  seen: Set<CompiledRule>
  /** Why a rule of the policy does not count in a part. */
  whyNot(rule: number, part: number): 'when' | 'encoder' | null
}

function traceUpon({ policy, apart, call, seen, whyNot }: Tracing, { text }: ChatPart, index: number): TracedView[] {
  const { constitution, words } = policy
  const { matcher, pieceOf } = apart
  return readingsOf(text, words).views.map((view) => {
    const places = new Map<Piece, Span[]>()
    const weights = new Map<Span, number>()
    const sink = partSink(call, index)
    // Without its trace, a reading reports places in itself, so that its words can be shown.
    matcher.match([new Reading(view.layer, view.text)], {
      ...sink,
      record(rule, _layer, start, end, weight) {
        const piece = pieceOf(rule)
        const spans = places.get(piece) ?? []
        if (
          spans.length < maxPlaces &&
          end > start &&
          !spans.some((span) => span.start === start && span.end === end)
        ) {
          const span = { start, end }
          spans.push(span)
          weights.set(span, weight)
        }
        places.set(piece, spans)
        if (piece.role === 'whole') seen.add(rule)
        return true
      }
    })
    const matches: TracedMatch[] = []
    for (const [piece, spans] of places) {
      if (piece.role === 'group') continue
      const counted = piece.role === 'whole' ? [] : countedBeside(piece, places)
      for (const span of spans) {
        if (counted.some((other) => overlap(other, span))) continue
        const rule = constitution.rules[piece.rule]!
        matches.push({
          ...describe(rule, piece),
          span: view.textSpan(span.start, span.end),
          text: view.text.slice(span.start, Math.min(span.end, span.start + maxMatched)),
          ...(piece.by === 'all' ? { groups: groupsWithin(piece.rule, span, places, view) } : {}),
          weight: round(weights.get(span)!),
          cancelled_by: piece.role === 'bare' ? 'unless' : whyNot(piece.rule, index)
        })
      }
    }
    matches.sort((a, b) => a.span.start - b.span.start || b.weight - a.weight)
    const shown = view.layer === 'plain' ? {} : { text: view.text.slice(0, maxReading) }
    return { layer: view.layer, length: view.text.length, ...shown, matches }
  })
}

/** Matches that begin in earlier turns and end in the present one. */
function traceTurns(policy: Policy, apart: Apart, input: JudgeInput, seen: ReadonlySet<CompiledRule>): TracedView[] {
  const { session, parts } = input
  if (session === undefined || session.tail.length === 0) return []
  const findings = new Findings(parts.length)
  const call: Call = { parts, direction: input.direction, findings }
  const { tail, turn, by } = session
  let length = 0
  for (const history of historiesOf(tail)) {
    const members = [...history.map(memberOf), ...spokenFrom(parts, turn, { by })]
    for (const joined of separators.flatMap((separator) => joinTexts(members, separator))) {
      length = Math.max(length, joined.text.length)
      const sink = turnSink(call, joined)
      if (sink !== undefined) apart.matcher.match(readingsOf(joined.text, policy.words).views, sink)
    }
  }
  const matches = findings.all().flatMap(({ rule, start, end, confidence }): TracedMatch[] => {
    const piece = apart.pieceOf(rule)
    if (piece.role !== 'whole' || seen.has(rule)) return []
    const span = { start, end }
    const own = policy.constitution.rules[piece.rule]!
    return [{ ...describe(own, piece), span, weight: round(confidence), cancelled_by: null }]
  })
  return [{ layer: 'joined', length, matches }]
}

function describe(rule: Policy['constitution']['rules'][number], piece: Piece) {
  return {
    rule: rule.name,
    category: rule.category,
    by: piece.by,
    ...(piece.by === 'pattern' ? { pattern: piece.index } : {}),
    ...(piece.by === 'guarded' ? { kind: piece.kind! } : {}),
    ...(piece.by === 'detector' ? { detector: rule.detector!.id, kind: piece.kind! } : {})
  }
}

/** Whether the same clause counts at this place when `unless` is applied. */
function countedBeside(bare: Piece, places: ReadonlyMap<Piece, readonly Span[]>): readonly Span[] {
  for (const [piece, spans] of places) {
    const isSame =
      piece.rule === bare.rule && piece.by === bare.by && piece.index === bare.index && piece.kind === bare.kind
    if (isSame && piece.role === 'whole') return spans
  }
  return []
}

function groupsWithin(rule: number, span: Span, places: ReadonlyMap<Piece, readonly Span[]>, view: View): string[] {
  const groups: string[] = []
  for (const [piece, spans] of places) {
    if (piece.rule !== rule || piece.role !== 'group') continue
    const within = spans.find(({ start, end }) => start >= span.start && end <= span.end)
    if (within !== undefined)
      groups[piece.index] = view.text.slice(within.start, Math.min(within.end, within.start + maxMatched))
  }
  return Array.from(groups, (group) => group ?? '')
}

function overlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end
}

interface Piece {
  /** Index of its rule. */
  rule: number
  by: 'any' | 'all' | 'pattern' | 'detector' | 'guarded'
  /** Position among the rule's patterns, or, for a phrase group of `all`, among its groups. */
  index: number
  /** Kind of a detector's finding, or of guarded content. */
  kind?: string
  /** `whole`: the clause that counts. `bare`: the same without `unless`. `group`: one group of `all` by itself. */
  role: 'whole' | 'bare' | 'group'
}

interface Apart {
  matcher: Matcher
  pieceOf(rule: CompiledRule): Piece
}

const known = new WeakMap<Constitution, Apart>()

/**
 * Splits a policy for explanations: every clause of every rule becomes a rule of its own, so that the ordinary matcher
 * tells which clause, group of phrases or detector kind matched. A second copy without `unless` shows cancelled
 * matches. The hot path does not use this. It is compiled on first use and kept with the policy, and costs about twice
 * the policy's own time and memory.
 */
function takeApart({ constitution, detectors }: Policy): Apart {
  let apart = known.get(constitution)
  if (apart === undefined) {
    const kindsOf = new Map(detectors.map(({ detector }) => [detector.id, detector.kinds]))
    const pieces = constitution.rules.flatMap((rule, index) => piecesOf(rule, index, kindsOf))
    const rules = pieces.map(({ rule }) => rule)
    const matcher = new Matcher(compilePolicy({ ...constitution, rules }))
    apart = { matcher, pieceOf: ({ index }) => pieces[index]!.piece }
    known.set(constitution, apart)
  }
  return apart
}

interface PieceRule {
  piece: Piece
  rule: Rule
}

function piecesOf(rule: Rule, index: number, kindsOf: ReadonlyMap<string, readonly string[]>): PieceRule[] {
  const nothing = { ...rule, any: [], all: [], patterns: [], detector: undefined, guarded: undefined, when: undefined }
  const uncancelled = { unless: [], unlessTrusted: [] }
  const pieces: PieceRule[] = []
  const add = (by: Piece['by'], clause: Partial<Rule>, more: { index?: number; kind?: string } = {}) => {
    const piece = { rule: index, by, index: 0, ...more }
    pieces.push({ piece: { ...piece, role: 'whole' }, rule: { ...nothing, ...clause } })
    if (rule.unless.length === 0 && rule.unlessTrusted.length === 0) return
    pieces.push({ piece: { ...piece, role: 'bare' }, rule: { ...nothing, ...clause, ...uncancelled } })
  }
  if (rule.any.length > 0) add('any', { any: rule.any })
  if (rule.all.length > 0) add('all', { all: rule.all })
  for (const [i, group] of rule.all.entries()) {
    const piece: Piece = { rule: index, by: 'all', index: i, role: 'group' }
    pieces.push({ piece, rule: { ...nothing, any: group, ...uncancelled } })
  }
  for (const [i, pattern] of rule.patterns.entries()) add('pattern', { patterns: [pattern] }, { index: i })
  for (const kind of rule.guarded ?? []) add('guarded', { guarded: new Set([kind]) }, { kind })
  if (rule.detector !== undefined) {
    const { detector } = rule
    for (const kind of detector.kinds ?? kindsOf.get(detector.id) ?? []) {
      add('detector', { detector: { ...detector, kinds: new Set([kind]) } }, { kind })
    }
  }
  return pieces
}
