/**
 * Where the matches of a text go: to the part that it is, or, of joined texts, to the part that shows them; and the keys by
 * which texts and the places where they meet are remembered.
 */
import { hash } from 'node:crypto'
import type { ChatPart, Role } from '../../base/chat.js'
import type { Span } from '../../text/fold.js'
import type { View } from '../../text/view.js'
import { type Asking, Raised } from '../evaluate/asking.js'
import type { Said } from '../evaluation.js'
import { appliesTo, asksBeside, type CompiledRule } from './compile.js'
import type { Findings } from './findings.js'
import type { Beside } from './guarded/beside.js'
import type { Guarded } from './guarded/find.js'
import { type JoinedText, type Member, type Piece, pieceAt } from './joined.js'
import type { Sink } from './match.js'
import type { Digests } from './memory.js'

/** One call: its parts, its direction, and what was found so far. */
export interface Call {
  parts: readonly ChatPart[]
  direction: 'request' | 'answer'
  findings: Findings
  /** What the system prompts of the chat guard. */
  guarded?: Guarded | undefined
  /** Those prompts, for the encoder. */
  beside?: Beside | undefined
  /** Set for a chat that goes on: see `memory.ts`. */
  digests?: Digests | undefined
  /** Takes what is to be put to the encoder; undefined where none decides. */
  asking?: Asking | undefined
  /** The rules by which the encoder decides. */
  readers?: readonly CompiledRule[] | undefined
}

/** Earlier turns in joined texts, by who said them: they are no parts of the call. */
const earlier = { user: -1, assistant: -2 } as const

/** An earlier turn of the session, to be joined with the present one. */
export function memberOf({ role, text }: Said): Member {
  return { part: earlier[role], text }
}

/** @param as of a stretch of the part: whose words it is read as, and where it begins */
export function partSink(call: Call, index: number, as?: { role: Role; from: number }): Sink {
  const { parts, direction, findings, guarded, beside, asking, readers = [] } = call
  const part = parts[index]!
  const { role, from } = as ?? { role: part.role, from: 0 }
  const applies = (rule: CompiledRule) => appliesTo(rule, role, direction)
  const isReadAnyway = asking?.isThorough === true && hasWords(part) && readers.some(applies)
  const placed = ({ start, end }: Span): Span => ({ start: from + start, end: from + end })
  const placeOf = (view: View) => placed(view.textSpan(0, view.text.length))
  return {
    applies,
    trusts: (rule) => trusts(rule, role, direction),
    guarded,
    raised:
      asking &&
      new Raised(asking, {
        role,
        part: index,
        placeOf,
        counts: applies,
        isSeam: false,
        isReadAnyway,
        guard: guardOf(beside)
      }),
    record(rule, layer, start, end, confidence, shown = { start, end }, isNominated = false) {
      findings.add({ rule, part: index, ...placed(shown), layer, confidence, acrossTurns: false, isNominated })
      return true
    }
  }

  function guardOf(prompts: Beside | undefined): Beside | undefined {
    if (prompts === undefined) return undefined
    const isAsked = readers.some((rule) => asksBeside(rule) && applies(rule))
    return isAsked && hasWords(part) ? prompts : undefined
  }
}

/** Names of fields are read where something is raised in them, and never without: there are as many as there are values. */
function hasWords({ text, isKey }: ChatPart): boolean {
  return isKey !== true && /\p{L}/u.test(text)
}

/** Counts only what crosses from one part to another, at the part where it starts. */
export function joinedSink(call: Call, joined: JoinedText): Sink {
  const { pieces } = joined
  const { parts, direction, findings, guarded, asking } = call
  const roleOf = ({ part }: Piece) => parts[part]!.role
  const isMixed = pieces.some((piece) => roleOf(piece) !== roleOf(pieces[0]!))
  // Words of several people, and entries of a schema, stand side by side without meaning more: see `Sink.crosses`.
  const isList = isMixed || roleOf(pieces[0]!) === 'definition'
  const crosses = (start: number, end: number) => pieceAt(pieces, start) !== pieceAt(pieces, end - 1)
  const counts = (rule: CompiledRule, start: number, end: number) => {
    const first = pieceAt(pieces, start)
    const last = pieceAt(pieces, end - 1)
    if (first === last) return false
    if (!isMixed) return appliesTo(rule, roleOf(pieces[first]!), direction)
    return appliesAcross(rule, pieces.slice(first, last + 1).map(roleOf), direction)
  }
  return {
    applies: appliesToAny(call, pieces),
    isSeam: true,
    raised: asking && raisedAcross(asking, { role: speakerOf(pieces.map(roleOf)), piece: pieces[0]!, counts }),
    guarded: isMixed ? undefined : guarded,
    ...(isList && { crosses, detects: isMixed && goesOn(joined, pieces.map(roleOf), direction) }),
    trusts: trustsAll(call, pieces),
    record(rule, layer, start, end, confidence, _shown, isNominated = false) {
      if (!counts(rule, start, end)) return false
      const first = pieceAt(pieces, start)
      const piece = pieces[first]!
      const over = pieces.slice(first, pieceAt(pieces, end - 1) + 1).map(({ part }) => part)
      const place = {
        start: piece.offset + Math.max(0, start - piece.start),
        end: piece.offset + piece.end - piece.start
      }
      const found = { rule, part: piece.part, ...place, layer: joinedLayer(layer), confidence }
      findings.add({ ...found, over, acrossTurns: false, isNominated })
      return true
    }
  }
}

/**
 * Counts only what crosses from earlier turns of a session into the present one, at the present turn's first part: the
 * earlier ones have no place in this call. What a person says counts by the rules for people, whatever was called before
 * it. What is called counts by the rules for a model's words where it goes on from other calls; where it goes on from what a
 * person said, by the rules for either, but not by those for answers: nobody has said it as one.
 * @param broken rules that earlier turns break by themselves: see `earlierSink`
 * @returns undefined where the text does not reach from the one to the other
 */
export function turnSink(
  call: Call,
  { pieces }: JoinedText,
  broken: ReadonlySet<CompiledRule> = new Set()
): Sink | undefined {
  const { parts, direction, findings, asking } = call
  const piece = pieces.find(({ part }) => part >= 0)
  if (piece === undefined || piece === pieces[0]) return undefined
  const crosses = (start: number, end: number) => start < piece.start && end > piece.start
  const { role } = parts[piece.part]!
  // The piece before it is the last that was said, and what reaches a person's words reaches over all between.
  const person = role === 'user' ? piece : pieces.findLast(({ part }) => part === earlier.user)
  const ofEither = (rule: CompiledRule) =>
    appliesTo(rule, 'user', direction) || (rule.direction !== 'answer' && appliesTo(rule, role, direction))
  const ofSpeaker = (rule: CompiledRule) => appliesTo(rule, role, direction)
  const counts = (rule: CompiledRule, start: number, end: number) =>
    !broken.has(rule) &&
    crosses(start, end) &&
    (role !== 'user' && person !== undefined && start < person.end ? ofEither : ofSpeaker)(rule)
  return {
    applies: (rule) => ofSpeaker(rule) || (person !== undefined && ofEither(rule)),
    raised: asking && raisedAcross(asking, { role: person === undefined ? role : 'user', piece, counts }),
    trusts: () => false,
    isSeam: true,
    crosses,
    record(rule, layer, start, end, confidence, _shown, isNominated = false) {
      if (!counts(rule, start, end)) return false
      // A rule that the turn breaks by itself needs no help from earlier turns.
      if (findings.has(rule, piece.part)) return true
      const place = { start: piece.offset, end: piece.offset + Math.min(end, piece.end) - piece.start }
      const found = { rule, part: piece.part, ...place, layer: joinedLayer(layer), confidence }
      findings.add({ ...found, over: [-1], acrossTurns: true, isNominated })
      return true
    }
  }
}

/**
 * Takes the rules that an earlier turn breaks by itself, of those that it was not judged by, since another has said it: a model
 * may call with words that a person may not say. They were let through, and must not taint what comes after them.
 * @param bars.middle the confidence from which a match would have been acted on; `broken` takes the rules
 * @param part where the encoder's questions are shown
 */
export function earlierSink(
  call: Call,
  part: number,
  { middle, broken }: { middle: number; broken: Set<CompiledRule> }
): Sink {
  const { direction, asking } = call
  const applies = (rule: CompiledRule) => appliesTo(rule, 'user', direction) || appliesTo(rule, 'assistant', direction)
  const place = { role: 'user', part, placeOf: () => ({ start: 0, end: 0 }), counts: applies } as const
  return {
    applies,
    trusts: () => false,
    raised: asking && new Raised(asking, { ...place, isSeam: true, isReadAnyway: false }),
    record(rule, _layer, _start, _end, confidence, _shown, isNominated = false) {
      if (!isNominated && confidence >= middle) broken.add(rule)
      return true
    }
  }
}

/** @param at.piece where the text is shown */
function raisedAcross(
  asking: Asking,
  {
    role,
    piece,
    counts
  }: { role: Role; piece: Piece; counts: (rule: CompiledRule, from: number, to: number) => boolean }
): Raised {
  const { part, offset, start, end } = piece
  const placeOf = () => ({ start: offset, end: offset + end - start })
  return new Raised(asking, { role, part, placeOf, counts, isSeam: true, isReadAnyway: false })
}

/**
 * Whose words the encoder takes a text for that several have a part in: a user's, where one has, since a user can bring
 * about what the others say and is read for the most; then a tool's, which is read for orders.
 */
function speakerOf(roles: readonly Role[]): Role {
  if (roles.includes('user')) return 'user'
  return roles.includes('tool') ? 'tool' : roles[0]!
}

/**
 * An assistant's turn in a request is what the caller says that a model said: nothing in it cancels what is found in what
 * callers write, and it is judged as an answer too, by the measure of one, so that an answer that was let through passes as
 * a turn, and one that would be withheld cannot be put into a model's mouth.
 */
function trusts({ direction }: CompiledRule, role: ChatPart['role'], current: Call['direction']): boolean {
  return current === 'answer' || direction === 'answer' || role === 'system' || role === 'definition'
}

/** The roles of the pieces, each once: what is asked of them is asked at every match, and a joined text may have thousands. */
function rolesOf(parts: readonly ChatPart[], pieces: readonly Piece[]): Role[] {
  const roles = new Set<Role>()
  for (const { part } of pieces) if (part >= 0) roles.add(parts[part]!.role)
  return [...roles]
}

function appliesToAny({ parts, direction }: Call, pieces: readonly Piece[]): (rule: CompiledRule) => boolean {
  const roles = rolesOf(parts, pieces)
  return (rule) => roles.some((role) => appliesTo(rule, role, direction))
}

/** Nothing of an earlier turn is trusted. */
function trustsAll({ parts, direction }: Call, pieces: readonly Piece[]): (rule: CompiledRule) => boolean {
  const roles = rolesOf(parts, pieces)
  const isPresent = pieces.every(({ part }) => part >= 0)
  return (rule) => isPresent && roles.every((role) => trusts(rule, role, direction))
}

/**
 * What stands in the words of several counts by the rules for each of them, and not by those for answers: nobody has said it
 * as one. An assistant's words in a request count by the rules for those beside them: whoever calls has put them there, and a
 * model reads on from the ones to the others. What one role says in all of it was looked at where its turns are joined.
 */
function appliesAcross(rule: CompiledRule, roles: readonly Role[], current: Call['direction']): boolean {
  if (rule.direction === 'answer' || roles.every((role) => role === roles[0])) return false
  return roles.every((role) => (current === 'request' && role === 'assistant') || appliesTo(rule, role, current))
}

/**
 * Where a sentence goes on from a user to an assistant or back, the two halves are read as one that a user said. Where one
 * has ended before the other, they are a question and its answer, whose topics a detector would put together.
 * @returns whether that is so between two places; false: nowhere
 */
function goesOn(
  { text, pieces }: JoinedText,
  roles: readonly Role[],
  current: Call['direction']
): false | ((start: number, end: number) => boolean) {
  if (current === 'answer' || roles.some((role) => role !== 'user' && role !== 'assistant')) return false
  const places: number[] = []
  for (let i = 1; i < pieces.length; i++) {
    if (roles[i] === roles[i - 1]) continue
    const { end } = pieces[i - 1]!
    const { start } = pieces[i]!
    const before = text.slice(Math.max(0, end - nearEnd), end)
    if (isGoneOn(before, text.slice(start, start + nearEnd), roles[i]!)) places.push(start)
  }
  return places.length > 0 && ((start, end) => places.some((place) => start < place && place < end))
}

/** People leave out the last mark, and begin in small letters, whatever they ask and answer; models do neither. */
function isGoneOn(before: string, after: string, speaker: Role): boolean {
  const begin = speaker === 'assistant' ? firstLetter.exec(after)?.[1] : undefined
  if (begin !== undefined && begin !== begin.toLowerCase()) return false
  return !sentenceEnd.test(before) || (begin !== undefined && begin !== begin.toUpperCase())
}

/** No letter or digit stands behind the mark that ends a sentence. */
const sentenceEnd = /[.!?…。！？؟।॥][^\p{L}\p{N}]*$/u
const firstLetter = /^[^\p{L}\p{N}]*(\p{L})/u
/** UTF-16 units that are looked at for either. */
const nearEnd = 16

function joinedLayer(layer: string): string {
  return layer === 'plain' ? 'joined' : `joined+${layer}`
}

/** Whether texts are of several roles; those of earlier turns of a session are of none. */
export function areMixed(parts: readonly ChatPart[], members: readonly { part: number }[]): boolean {
  const role = parts[members[0]!.part]?.role
  return members.some(({ part }) => parts[part] !== undefined && role !== undefined && parts[part].role !== role)
}

/** What is found depends on the direction, and on whether the encoder decides. */
export function modeOf({ direction, asking }: Pick<Call, 'direction' | 'asking'>): string {
  return asking === undefined ? direction : `${direction}?`
}

/** What the findings of a text depend on besides itself. */
export function kindOf(call: Pick<Call, 'direction' | 'asking' | 'guarded' | 'beside'>): string {
  const { guarded, beside } = call
  return `${modeOf(call)} ${guarded?.key ?? ''} ${beside?.key ?? ''}`
}

/** A stretch of many short texts has a long name, which would be kept for as long as what was found in it. */
const longestKey = 256

/** Names a stretch of joined texts by the texts, and by what of each is in it; undefined where earlier turns of a session are. */
export function seamKey(
  { digests }: Pick<Call, 'digests'>,
  { pieces }: JoinedText,
  separator: string
): string | undefined {
  if (digests === undefined) return undefined
  let key = separator
  for (const { part, offset, start, end } of pieces) {
    if (part < 0) return undefined
    key += `|${offset}+${end - start} ${digests.of(part)}`
  }
  return key.length <= longestKey ? key : hash('sha256', key, 'base64')
}
