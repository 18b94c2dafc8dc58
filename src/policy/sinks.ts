/** Where the matches of a text go: to the part that it is, or, of joined texts, to the part that shows them. */
import type { ChatPart } from '../chat.js'
import type { CompiledRule } from './compile.js'
import type { Findings } from './findings.js'
import type { Guarded } from './guarded/find.js'
import { type JoinedText, type Piece, pieceAt } from './joined.js'
import type { Sink } from './match.js'
import type { Digests } from './memory.js'

/** One call: its parts, its direction, and what was found so far. */
export interface Call {
  parts: readonly ChatPart[]
  direction: 'request' | 'answer'
  findings: Findings
  /** What the system prompts of the chat guard. */
  guarded?: Guarded | undefined
  /** Set for a chat that goes on: see `memory.ts`. */
  digests?: Digests | undefined
}

export function partSink({ parts, direction, findings, guarded }: Call, index: number): Sink {
  const { role } = parts[index]!
  return {
    applies: (rule) => appliesTo(rule, role, direction),
    trusts: (rule) => trusts(rule, role, direction),
    guarded,
    record(rule, layer, start, end, confidence, shown = { start, end }) {
      findings.add({ rule, part: index, ...shown, layer, confidence, acrossTurns: false })
      return true
    }
  }
}

/** Counts only what crosses from one part to another, at the part where it starts. */
export function joinedSink(call: Call, { pieces }: JoinedText): Sink {
  const { parts, direction, findings, guarded } = call
  const roleOf = ({ part }: Piece) => parts[part]!.role
  const isMixed = pieces.some((piece) => roleOf(piece) !== roleOf(pieces[0]!))
  // Words of several people, and entries of a schema, stand side by side without meaning more: see `Sink.crosses`.
  const isList = isMixed || roleOf(pieces[0]!) === 'definition'
  const crosses = (start: number, end: number) => pieceAt(pieces, start) !== pieceAt(pieces, end - 1)
  return {
    applies: appliesToAny(call, pieces),
    guarded: isMixed ? undefined : guarded,
    ...(isList && { crosses, byRules: true }),
    trusts: (rule) => pieces.every(({ part }) => part >= 0 && trusts(rule, parts[part]!.role, direction)),
    record(rule, layer, start, end, confidence) {
      const first = pieceAt(pieces, start)
      const last = pieceAt(pieces, end - 1)
      const piece = pieces[first]!
      if (first === last) return false
      if (!isMixed) {
        if (!appliesTo(rule, roleOf(piece), direction)) return false
      } else if (!appliesAcross(rule, pieces.slice(first, last + 1).map(roleOf), direction)) return false
      const place = {
        start: piece.offset + Math.max(0, start - piece.start),
        end: piece.offset + piece.end - piece.start
      }
      findings.add({ rule, part: piece.part, ...place, layer: joinedLayer(layer), confidence, acrossTurns: false })
      return true
    }
  }
}

/**
 * Counts only what crosses from earlier turns of a session into the present one, at the present turn's first part: the
 * earlier ones have no place in this call.
 * @returns undefined where the text does not reach from the one to the other
 */
export function turnSink(call: Call, { pieces }: JoinedText): Sink | undefined {
  const { parts, direction, findings } = call
  const piece = pieces.find(({ part }) => part >= 0)
  if (piece === undefined || piece === pieces[0]) return undefined
  const crosses = (start: number, end: number) => start < piece.start && end > piece.start
  return {
    applies: appliesToAny(call, pieces),
    trusts: () => false,
    crosses,
    record(rule, layer, start, end, confidence) {
      if (!crosses(start, end) || !appliesTo(rule, parts[piece.part]!.role, direction)) return false
      // A rule that the turn breaks by itself needs no help from earlier turns.
      if (findings.has(rule, piece.part)) return true
      const place = { start: piece.offset, end: piece.offset + Math.min(end, piece.end) - piece.start }
      findings.add({ rule, part: piece.part, ...place, layer: joinedLayer(layer), confidence, acrossTurns: true })
      return true
    }
  }
}

/**
 * An assistant's turn in a request is what the caller says that a model said: nothing in it cancels what is found in what
 * callers write, and it is judged as an answer too, by the measure of one, so that an answer that was let through passes as
 * a turn, and one that would be withheld cannot be put into a model's mouth.
 */
function trusts({ direction }: CompiledRule, role: ChatPart['role'], current: Call['direction']): boolean {
  return current === 'answer' || direction === 'answer' || role === 'system' || role === 'definition'
}

function appliesToAny({ parts, direction }: Call, pieces: readonly Piece[]): (rule: CompiledRule) => boolean {
  const roles = [...new Set(pieces.flatMap(({ part }) => parts[part]?.role ?? []))]
  return (rule) => roles.some((role) => appliesTo(rule, role, direction))
}

function appliesTo({ direction, roles }: CompiledRule, role: ChatPart['role'], current: Call['direction']): boolean {
  const isInDirection =
    direction === 'both' || direction === current || (direction === 'answer' && role === 'assistant')
  return isInDirection && (roles === undefined || roles.has(role))
}

/**
 * What stands in the words of several counts by the rules for each of them, and not by those for answers: nobody has said it
 * as one. What one role says in all of it was looked at where its turns are joined.
 */
function appliesAcross(rule: CompiledRule, roles: readonly ChatPart['role'][], current: Call['direction']): boolean {
  if (rule.direction === 'answer' || roles.every((role) => role === roles[0])) return false
  return roles.every((role) => appliesTo(rule, role, current))
}

function joinedLayer(layer: string): string {
  return layer === 'plain' ? 'joined' : `joined+${layer}`
}
