/**
 * A policy taken apart for explanations: every clause of every rule as a rule of its own, so that the same matcher that
 * decides tells which clause, which group of phrases or which kind of a detector it was; and once more without `unless`,
 * so that it tells what was cancelled. The engine on the hot path knows nothing of this.
 */

import type { Constitution } from '../constitution/parse.js'
import type { Rule } from '../constitution/rules.js'
import { type CompiledRule, compilePolicy, type Policy } from '../match/compile.js'
import { Matcher } from '../match/match.js'

export interface Piece {
  /** Index of the rule that it is a piece of. */
  rule: number
  by: 'any' | 'all' | 'pattern' | 'detector' | 'guarded'
  /** Position among the rule's patterns, or, for a phrase group of `all`, among its groups. */
  index: number
  /** Of a detector, or of what is guarded. */
  kind?: string
  /** `whole`: what counts. `bare`: the same without `unless`. `group`: one group of `all` by itself. */
  role: 'whole' | 'bare' | 'group'
}

export interface Apart {
  matcher: Matcher
  pieceOf(rule: CompiledRule): Piece
}

const known = new WeakMap<Constitution, Apart>()

/** Compiled on first use and kept as long as the policy: it takes about twice the policy's own time and memory. */
export function takeApart({ constitution, detectors }: Policy): Apart {
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
