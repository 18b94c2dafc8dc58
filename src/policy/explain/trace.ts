/** What each reading of a text shows, and what matched in it: for explanations, by the clauses of `apart.ts`. */
import type { ChatPart } from '../../base/chat.js'
import { Reading } from '../../text/reading.js'
import type { View } from '../../text/view.js'
import { readingsOf } from '../../text/views.js'
import { round } from '../decide/score.js'
import { type Found, type JudgeInput, promptsOf } from '../evaluate/judge.js'
import { spokenFrom } from '../evaluate/session.js'
import type { Category } from '../evaluation.js'
import type { CompiledRule, Policy } from '../match/compile.js'
import { Findings } from '../match/findings.js'
import { joinTexts, separators } from '../match/joined.js'
import { type Call, partSink, turnSink } from '../match/sinks.js'
import { type Apart, type Piece, takeApart } from './apart.js'

type Span = { start: number; end: number }

/** One place where one clause of one rule matched. */
export interface TracedMatch {
  rule: string
  category: Category
  /** The clause: a phrase, a row of groups, a pattern, a detector, what the system prompt guards. */
  by: Piece['by']
  /** Position of the pattern in the rule. */
  pattern?: number
  detector?: string
  kind?: string
  /** UTF-16 offsets into the text as it was given. */
  span: Span
  /** What stands there in this reading, at most 80 units. Absent where turns are joined. */
  text?: string
  /** For `all`: what matched of each group, in the order of the rule. */
  groups?: string[]
  weight: number
  /**
   * `unless`: a phrase beside it cancelled it. `when`: what must match beside it does not. `encoder`: it has only raised
   * the text, and the encoder decides. Then it counts nothing.
   */
  cancelled_by: 'unless' | 'when' | 'encoder' | null
}

export interface TracedView {
  layer: string
  /** UTF-16 units of this reading. */
  length: number
  /** The reading, at most 500 units; left out for `plain`, which is the text as it was given. */
  text?: string
  matches: TracedMatch[]
}

const maxReading = 500
const maxMatched = 80
/** Places shown of one clause in one view. */
const maxPlaces = 8

/** The readings of the text that was said just now, then what only the turns before complete. */
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
  /** Is told which pieces matched. */
  seen: Set<CompiledRule>
  /** What keeps a rule of the policy from counting in a part. */
  whyNot(rule: number, part: number): 'when' | 'encoder' | null
}

function traceUpon({ policy, apart, call, seen, whyNot }: Tracing, { text }: ChatPart, index: number): TracedView[] {
  const { constitution, words } = policy
  const { matcher, pieceOf } = apart
  return readingsOf(text, words).views.map((view) => {
    const places = new Map<Piece, Span[]>()
    const weights = new Map<Span, number>()
    const sink = partSink(call, index)
    // Without its trace, a reading tells places in itself, where its words can be shown.
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

/** What the present turn completes of the turns before it. */
function traceTurns(policy: Policy, apart: Apart, input: JudgeInput, seen: ReadonlySet<CompiledRule>): TracedView[] {
  const { session, parts } = input
  if (session === undefined || session.tail.length === 0) return []
  const findings = new Findings(parts.length)
  const call: Call = { parts, direction: input.direction, findings }
  const members = [...session.tail.map((text) => ({ part: -1, text })), ...spokenFrom(parts, session.turn)]
  let length = 0
  for (const separator of separators) {
    for (const joined of joinTexts(members, separator)) {
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

/** Where the same clause counts, `unless` regarded. */
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
